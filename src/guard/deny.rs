//! What a command may not name: paths, words, and what only a person may allow.

use std::path::{Component, Path};

use super::command::{read, starts};
use super::options::{self, is_option};
use super::reading::{Reading, Word};

/// Programs that no command of the bot's needs: they end the machine.
const TOKENS: [&str; 7] = ["halt", "mkfs", "poweroff", "reboot", "shutdown", "swapoff", "wipefs"];

/// Programs that give the one they start words from their input.
const FEEDS: [&str; 2] = ["parallel", "xargs"];

/// Why a shell command is refused, in the words of the reference documents.
pub fn refusal(
    text: &str,
    reading: &Reading,
    paths: &[String],
    tokens: &[String],
) -> Option<String> {
    let denied = denied_path(pieces(text).chain(reading.words()), paths);
    denied.or_else(|| {
        let all = TOKENS.into_iter().chain(tokens.iter().map(String::as_str));
        begun(reading, all).map(|token| format!("command references denied token: {token}"))
    })
}

/// Why a command of another language is refused: its words are looked for wherever they stand.
pub fn refusal_in_text(text: &str, paths: &[String], tokens: &[String]) -> Option<String> {
    denied_path(pieces(text), paths).or_else(|| {
        let mut all = TOKENS.into_iter().chain(tokens.iter().map(String::as_str));
        let found = all.find(|t| pieces(text).any(|w| is_called(w, t)) || stands_in(text, t));
        found.map(|token| format!("command references denied token: {token}"))
    })
}

/// Returns the first pattern with which a program of the command begins (`rm ` is in `a; rm b` and in
/// `sudo rm b`, not in `farm b` and not in `echo rm`).
pub fn approval<'a>(reading: &Reading, patterns: &'a [String]) -> Option<&'a str> {
    begun(reading, patterns.iter().map(String::as_str).filter(|p| !p.trim().is_empty()))
}

/// Returns the first of these beginnings that a program of the command has.
fn begun<'t>(reading: &Reading, all: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    let programs: Vec<_> = reading.commands.iter().flat_map(|words| with_fed(words)).collect();
    let mut all = all.map(|token| (token, read(token)));
    let found = all.find(|(token, wanted)| {
        // One that is no command as it stands is compared as one word.
        let plain = [Word::of(token.trim())];
        let wanted = match wanted.commands.as_slice() {
            [words] if wanted.unclear.is_none() => words.as_slice(),
            _ => plain.as_slice(),
        };
        programs.iter().any(|(program, fed)| begins(program, wanted, *fed))
    });
    found.map(|(token, _)| token)
}

/// The programs of a command, and whether each is given words that another one reads from its input (`xargs`).
fn with_fed(words: &[Word]) -> Vec<(&[Word], bool)> {
    let programs = starts(words);
    let feeds = |program: &&[Word]| {
        program.first().and_then(Word::name).is_some_and(|name| FEEDS.contains(&name))
    };
    let longest = programs.iter().filter(|p| feeds(p)).map(|p| p.len()).max().unwrap_or_default();
    programs.into_iter().map(|program| (program, program.len() < longest)).collect()
}

/// Whether a program begins with these words: its name, then the others in their order, with any options
/// in between; options wherever they stand and however they are written. One that is fed may be given any
/// option, but behind a `--`, and any word when it has none yet.
fn begins(program: &[Word], wanted: &[Word], fed: bool) -> bool {
    let [name, rest @ ..] = wanted else { return false };
    let Some((first, arguments)) = program.split_first() else { return false };
    if !is_called(&first.text, &name.text) {
        return false;
    }
    let (options, words): (Vec<_>, Vec<_>) =
        rest.iter().map(|word| word.text.as_str()).partition(|word| is_option(word));
    let any_option = fed && arguments.iter().all(|argument| argument.text != "--");
    let own = arguments.iter().map(|word| word.text.as_str()).find(|word| !word.starts_with('-'));
    let any_word = fed && own.is_none_or(|word| word.contains("{}"));
    let mut left = arguments.iter();
    (any_word || words.iter().all(|word| left.any(|argument| argument.text == **word)))
        && (any_option || options.iter().all(|o| options::has(&name.text, arguments, o)))
}

/// Whether a word is a program of this name, wherever it lies.
fn is_called(word: &str, name: &str) -> bool {
    word == name || word.rsplit('/').next() == Some(name)
}

fn denied_path<'w>(words: impl Iterator<Item = &'w str>, paths: &[String]) -> Option<String> {
    let environ = |word: &str| word.starts_with("/proc/") && word.ends_with("/environ");
    let mut words = words.filter(|w| is_secret(w) || names_path(w, paths) || environ(w));
    words.next().map(|word| format!("command references denied path: {word}"))
}

/// Whether a token of several words stands in the text, with ends of words around it.
fn stands_in(text: &str, token: &str) -> bool {
    token.contains(char::is_whitespace)
        && text.match_indices(token).any(|(at, found)| {
            let before = text[..at].chars().next_back();
            let after = text[at + found.len()..].chars().next();
            before.is_none_or(|c| !is_word(c)) && after.is_none_or(|c| !is_word(c))
        })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The text cut at everything that is no part of a path: words inside quotes and substitutions too.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || "._-/~+@%*?".contains(c)))
        .filter(|p| !p.is_empty())
}

/// Files that hold the bot's secrets, wherever they lie.
fn is_secret(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word).to_lowercase();
    let database =
        name.starts_with("selkie.") && name.split('.').skip(1).any(|p| p.starts_with("db"));
    matches!(name.as_str(), "config.yaml" | "config.yml" | ".env" | "selkie.sock")
        || name.starts_with(".env.")
        || (name.len() > 4 && name.ends_with(".env"))
        || database
}

/// Whether a word leads into a denied path: a name stands for every file or folder called so.
fn names_path(word: &str, denied: &[String]) -> bool {
    let parts = |path: &str| -> Vec<String> {
        let normal = Path::new(path).components().filter_map(|c| match c {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        });
        normal.collect()
    };
    let all = parts(word);
    denied.iter().map(|d| (d, parts(d))).filter(|(_, wanted)| !wanted.is_empty()).any(
        |(d, wanted)| {
            if d.starts_with('/') {
                word.starts_with('/') && all.starts_with(&wanted)
            } else {
                all.windows(wanted.len()).any(|part| part == wanted)
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::guard::command::read;

    fn says(text: &str) -> String {
        let paths = ["/srv/private".to_owned(), "secrets.txt".to_owned()];
        let tokens = ["curl".to_owned(), "git push".to_owned()];
        refusal(text, &read(text), &paths, &tokens).unwrap_or_else(|| "taken".to_owned())
    }

    #[test]
    fn denied_words_are_found_and_others_are_not() {
        let texts = [
            "cat config.yaml",
            "cat 'conf'ig.yaml",
            "sed p ../x/.env.local",
            "cat \"$(cat a.env)\"",
            "env | sort",
            "printenv",
            "cat /srv/private/a",
            "cat /srv/privateer",
            "cat a/secrets.txt/b",
            "cat my-secrets.txt",
            "curl x",
            "/usr/bin/curl x",
            "curlew",
            "git push origin",
            "git pushy",
            "sudo reboot",
            "cat /proc/1/environ",
            "nc -U x/selkie.sock",
            "sqlite3 selkie.db-wal",
        ];
        let said: Vec<_> = texts.iter().map(|t| format!("{t}: {}", says(t))).collect();
        insta::assert_snapshot!(said.join("\n"), @r#"
        cat config.yaml: command references denied path: config.yaml
        cat 'conf'ig.yaml: command references denied path: config.yaml
        sed p ../x/.env.local: command references denied path: ../x/.env.local
        cat "$(cat a.env)": command references denied path: a.env
        env | sort: taken
        printenv: taken
        cat /srv/private/a: command references denied path: /srv/private/a
        cat /srv/privateer: taken
        cat a/secrets.txt/b: command references denied path: a/secrets.txt/b
        cat my-secrets.txt: taken
        curl x: command references denied token: curl
        /usr/bin/curl x: command references denied token: curl
        curlew: taken
        git push origin: command references denied token: git push
        git pushy: taken
        sudo reboot: command references denied token: reboot
        cat /proc/1/environ: command references denied path: /proc/1/environ
        nc -U x/selkie.sock: command references denied path: x/selkie.sock
        sqlite3 selkie.db-wal: command references denied path: selkie.db-wal
        "#);
    }

    #[test]
    fn patterns_begin_where_a_program_begins() {
        let patterns = ["rm ", "chmod ", "selkie ", "git push --force"].map(str::to_owned);
        let asks = |text: &str| approval(&read(text), &patterns).map(str::to_owned);
        for text in [
            "cd x; rm -rf y",
            "ls && /bin/rm y",
            "rm\t-rf y",
            "'rm' -rf y",
            "r\\m y",
            "sudo rm y",
            "find . -exec rm {} +",
            "sh -c 'rm y'",
        ] {
            assert_eq!(asks(text).as_deref(), Some("rm "), "{text}");
        }
        assert_eq!(asks("selkie").as_deref(), Some("selkie "));
        assert_eq!(asks("(chmod +x y)").as_deref(), Some("chmod "));
        assert_eq!(asks("git -C x push -q --force").as_deref(), Some("git push --force"));
        for harmless in [
            "farm x",
            "perform x",
            "echo rmdir",
            "docker-rm x",
            "cat rm.txt",
            "echo rm x",
            "git commit -m 'rm x'",
            "git push",
        ] {
            assert_eq!(asks(harmless), None, "{harmless}");
        }
    }

    #[test]
    fn options_of_a_pattern_are_found_however_they_are_written() {
        let patterns = ["rm -rf", "git push --force", "find -delete"].map(str::to_owned);
        let asks = |text: &str| approval(&read(text), &patterns).map(str::to_owned);
        for text in [
            "rm -fr y",
            "rm y -r -f",
            "sudo rm --recursive --force y",
            "find . -exec rm -R -f {} +",
            "sh -c 'rm -f -r y'",
            "x=-rf; rm $x y",
            "rm {-r,-f} y",
            "f() { rm \"$@\"; }; f -rf y",
            "f() { rm \"${@}\"; }; f -rf y",
            "f() { rm \"${@:1}\"; }; f -rf y",
            "a=(-rf y); rm \"${a[@]}\"",
            "a=(-rf y); rm \"x${a[@]:0:2}\"",
            "sh -c 'rm \"$@\"' _ -rf y",
            "xargs sh -c 'rm \"$@\"' _",
            "echo -rf y | xargs rm",
            "echo -rf y | sudo xargs -n 1 nice rm -v",
            "parallel rm ::: -rf y",
            "env -iS '/bin/rm -rf y'",
            "env -S rm -rf y",
            "env -S rm $x",
            "time -p rm -rf y",
            "/usr/bin/time -v rm -rf y",
        ] {
            assert_eq!(asks(text).as_deref(), Some("rm -rf"), "{text}");
        }
        for text in [
            "git push -uf origin",
            "env -vS 'git push --force'",
            "echo --force | xargs git push",
            "echo push --force | xargs git",
            "xargs -I{} git {}",
            "git -c alias.p='push --force' p",
            "git -c alias.p=push p -f",
            "git -c ALIAS.p='!git push' p -f",
            "git config --global alias.p 'push --force'",
        ] {
            assert_eq!(asks(text).as_deref(), Some("git push --force"), "{text}");
        }
        assert_eq!(asks("find . -type f -delete").as_deref(), Some("find -delete"));
        for harmless in [
            "rm -r y",
            "rm -f y",
            "rm y",
            "git push -u origin",
            "echo rm -rf",
            "rm \"$x\" \"$*\" \"${x%@*}\" \"$(f \"$@\")\"",
            "ls | xargs rm --",
            "ls | xargs git add",
            "xargs echo < x && rm y",
            "env -u SHELL rm y",
            "git -c alias.p=push status",
            "git config --get alias.p",
            "git log alias.p push --force-with-lease",
        ] {
            assert_eq!(asks(harmless), None, "{harmless}");
        }
    }

    #[test]
    fn what_is_only_said_is_not_done() {
        for text in
            ["grep -rn shutdown", "git commit -m 'fix reboot loop'", "echo curl", "man reboot"]
        {
            assert_eq!(says(text), "taken", "{text}");
        }
        let elsewhere = |text: &str| refusal_in_text(text, &[], &["curl".to_owned()]).is_some();
        assert!(elsewhere("& 'curl' x") && !elsewhere("curlew"));
    }

    proptest! {
        /// A denied program is found wherever a command begins.
        #[test]
        fn a_token_is_found_wherever_a_command_begins(
            before in "([a-z]{1,5}( [a-z]{1,5}){0,2} ?(;|&&|\\|\\|?|\n) ?)?(\\(|A=1 |sudo |\"\"true;|! )?",
        ) {
            let closing = if before.contains('(') { ")" } else { "" };
            let reading = read(&before);
            prop_assume!(reading.unclear.is_none() || before.contains('('));
            prop_assert_eq!(
                says(&format!("{before}curl{closing}")),
                "command references denied token: curl"
            );
            prop_assert_eq!(says(&format!("{before}xcurl{closing}")), "taken");
        }
    }
}
