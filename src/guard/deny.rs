//! What a command may not name: paths, words, and what only a person may allow.

use std::path::{Component, Path};

use super::command::{FEEDS, read, starts};
use super::expanded::Variables;
use super::options::{self, is_option};
use super::reading::{CommandReading, Word};
use super::runs::OF_GIT;
use super::{evaluated, handed};

/// Programs that no command of the bot's needs: they end the machine.
const TOKENS: [&str; 7] = ["halt", "mkfs", "poweroff", "reboot", "shutdown", "swapoff", "wipefs"];

/// Programs whose first word says what they do, and their options before it that take the next word.
const WITH_VERBS: [(&str, &[&str]); 4] = [
    ("docker", &["-H", "--host", "-c", "--context", "-l", "--log-level"]),
    ("git", &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"]),
    ("kubectl", &["-n", "--namespace", "--context", "--cluster", "-s", "--server"]),
    ("podman", &["-c", "--connection", "--url", "--log-level"]),
];

/// Why a shell command is refused, in the words of the reference documents.
pub fn refusal(
    text: &str,
    reading: &CommandReading,
    paths: &[String],
    tokens: &[String],
) -> Option<String> {
    let denied = denied_path(pieces(text).chain(reading.words()), paths);
    denied.or_else(|| {
        let all = TOKENS.into_iter().chain(tokens.iter().map(String::as_str));
        let found = begun(reading, all, begins);
        found.map(|token| format!("command references denied token: {token}"))
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
/// `sudo rm b`, not in `farm b` and not in `echo rm`), or may begin: what it expands can be any option or word, and what `git`
/// does not know by itself can be any alias. A quoted word may be text that bash itself evaluates.
pub fn approval<'a>(reading: &CommandReading, patterns: &'a [String]) -> Option<&'a str> {
    asking(reading, patterns).or_else(|| asking(&evaluated::with_substitutions(reading)?, patterns))
}

fn asking<'a>(reading: &CommandReading, patterns: &'a [String]) -> Option<&'a str> {
    let patterns = patterns.iter().map(String::as_str).filter(|p| !p.trim().is_empty());
    let mut all = patterns.clone();
    let fits = |program: &Program<'_>, wanted: &[Word]| {
        begins(program, wanted) || may_be_alias(program, wanted)
    };
    begun(reading, patterns.clone(), fits)
        .or_else(|| all.next().filter(|_| handed::anything(reading)))
        .or_else(|| patterns.clone().find(|pattern| is_handed_on(reading, pattern)))
}

/// Whether a program that runs others is given words that begin with this pattern, as they stand or in one of them. A
/// pattern of one word is none of these: `docker rm` is not `rm`.
fn is_handed_on(reading: &CommandReading, pattern: &str) -> bool {
    let token = pattern.trim();
    let one = || std::iter::once(pattern);
    token.contains(char::is_whitespace)
        && (begun(&handed::as_they_stand(reading), one(), begins).is_some()
            || handed::in_one_word(reading)
                .any(|text| stands_in(text, token) || begun(&read(text), one(), begins).is_some()))
}

/// Whether a program of the command begins with this pattern whatever its words become when it runs.
pub fn is_certain(reading: &CommandReading, pattern: &str) -> bool {
    let found = begun(reading, std::iter::once(pattern), |program, wanted| {
        let known = program.arguments.iter().map(|word| Word { splits: false, ..word.clone() });
        begins(&Program { arguments: known.collect(), ..*program }, wanted)
    });
    found.is_some()
}

/// A program of a command, as it is compared.
struct Program<'p> {
    name: &'p str,
    arguments: Vec<Word>,
    /// Given words that another one reads from its input (`xargs`).
    is_fed: bool,
}

/// Returns the first of these beginnings that a program of the command has.
fn begun<'t>(
    reading: &CommandReading,
    all: impl Iterator<Item = &'t str>,
    fits: impl Fn(&Program<'_>, &[Word]) -> bool,
) -> Option<&'t str> {
    let variables = Variables::of(reading);
    let of_git: Vec<Vec<Word>> = reading.commands.iter().flat_map(|words| of_git(words)).collect();
    let all_words = reading.commands.iter().chain(&of_git);
    let programs: Vec<_> = all_words.flat_map(|words| with_fed(words)).collect();
    let mut all = all.map(|token| (token, read(token)));
    let found = all.find(|(token, wanted)| {
        // One that is no command as it stands is compared as one word.
        let plain = [Word::of(token.trim())];
        let wanted = match wanted.commands.as_slice() {
            [words] if wanted.unclear.is_none() => words.as_slice(),
            _ => plain.as_slice(),
        };
        let [name, rest @ ..] = wanted else { return false };
        programs.iter().any(|(program, is_fed)| {
            let Some((first, arguments)) = program.split_first() else { return false };
            let is_it = is_called(&first.text, &name.text);
            is_it
                && (rest.is_empty() || {
                    let arguments = variables.expanded(arguments);
                    let arguments = options::spelled(&name.text, &arguments).into_owned();
                    fits(&Program { name: &name.text, arguments, is_fed: *is_fed }, rest)
                })
        })
    });
    found.map(|(token, _)| token)
}

/// Programs of git's that are called by themselves (`git-push`), as `git` is given them.
fn of_git(words: &[Word]) -> Vec<Vec<Word>> {
    let spelled = |program: &[Word]| {
        let (first, arguments) = program.split_first()?;
        let verb = first.name()?.strip_prefix("git-").filter(|verb| OF_GIT.contains(verb))?;
        Some([&[Word::of("git"), Word::of(verb)][..], arguments].concat())
    };
    starts(words).into_iter().filter_map(spelled).collect()
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

/// Whether a program is given these words in their order, with any options in between; options wherever they stand and however
/// they are written. One that is fed may be given any option, but behind a `--`, and any word when it has none yet.
fn begins(program: &Program<'_>, wanted: &[Word]) -> bool {
    let Program { name, arguments, is_fed } = program;
    let (options, words): (Vec<_>, Vec<_>) = wanted
        .iter()
        .map(|word| word.text.as_str())
        .filter(|word| *word != "*")
        .partition(|word| is_option(word));
    let any_option = *is_fed && arguments.iter().all(|argument| argument.text != "--");
    let own = arguments.iter().map(|word| word.text.as_str()).find(|word| !word.starts_with('-'));
    let any_word = *is_fed && own.is_none_or(|word| word.contains("{}"));
    (any_word || has_words(program, &words))
        && (any_option || options.iter().all(|option| options::has(name, arguments, option)))
}

/// Whether these words stand there in their order. One that is made when the command runs may be any, unless a word before it
/// says already what the program does.
fn has_words(program: &Program<'_>, words: &[&str]) -> bool {
    let mut left = program.arguments.as_slice();
    words.iter().all(|word| {
        let exact = left.iter().position(|argument| argument.text == **word);
        let found = exact.or_else(|| verb(program.name, left).filter(|at| left[*at].splits));
        left = found.map_or(&left[..0], |at| &left[at + 1..]);
        found.is_some()
    })
}

/// Where the first word stands that is no option, nor one's value.
fn verb(program: &str, arguments: &[Word]) -> Option<usize> {
    let known = WITH_VERBS.iter().find(|(name, _)| *name == program);
    let is_valued = |word: &Word| known.is_some_and(|(_, valued)| valued.contains(&&*word.text));
    let mut valued = false;
    (0..arguments.len()).find(|at| {
        let word = &arguments[*at];
        let is_value = std::mem::replace(&mut valued, is_valued(word));
        !is_value && !word.text.starts_with('-')
    })
}

/// Whether `git` is to do what it does not know by itself: an alias, of which nobody knows here what it stands for.
fn may_be_alias(program: &Program<'_>, wanted: &[Word]) -> bool {
    let Program { name, arguments, .. } = program;
    let verb = || verb(name, arguments).map(|at| arguments[at].text.as_str());
    *name == "git" && !wanted.is_empty() && verb().is_some_and(|verb| !OF_GIT.contains(&verb))
}

/// Whether a word is a program of this name, wherever it lies.
fn is_called(word: &str, name: &str) -> bool {
    word == name || word.rsplit('/').next() == Some(name)
}

fn denied_path<'w>(words: impl Iterator<Item = &'w str>, paths: &[String]) -> Option<String> {
    let environ = |word: &str| word.starts_with("/proc/") && word.ends_with("/environ");
    let mut words = words.filter(|w| names_path(w, paths) || environ(w));
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
    use crate::command::read;

    fn says(text: &str) -> String {
        let paths = ["/srv/private".to_owned(), "secrets.txt".to_owned()];
        let tokens = ["curl".to_owned(), "git push".to_owned()];
        refusal(text, &read(text), &paths, &tokens).unwrap_or_else(|| "taken".to_owned())
    }

    #[test]
    fn denied_words_are_found_and_others_are_not() {
        let texts = [
            "cat config.yaml",
            "cat 'secr'ets.txt",
            "sed p ../x/.env.local",
            "cat \"$(cat secrets.txt)\"",
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
            "sqlite3 selkie.db-wal",
        ];
        let said: Vec<_> = texts.iter().map(|t| format!("{t}: {}", says(t))).collect();
        insta::assert_snapshot!(said.join("\n"), @r#"
        cat config.yaml: taken
        cat 'secr'ets.txt: command references denied path: secrets.txt
        sed p ../x/.env.local: taken
        cat "$(cat secrets.txt)": command references denied path: secrets.txt
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
        sqlite3 selkie.db-wal: taken
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
    fn what_a_program_hands_on_is_compared_too() {
        let patterns = ["rm -rf", "git push --force"].map(str::to_owned);
        let asks = |text: &str| approval(&read(text), &patterns).is_some();
        for text in [
            "echo rm -rf d | xargs env",
            "echo rm -rf d | xargs -I% sh -c %",
            "printf %s 'rm -rf d' | xargs -0 bash -c",
            "echo rm -rf d | xargs sudo",
            "setarch x86_64 rm -rf d",
            "linux64 rm -rf d",
            "choom -n 0 -- rm -rf d",
            "prlimit -n100 rm -rf d",
            "prlimit --nofile=100 rm -rf d",
            "dbus-run-session rm -rf d",
            "newprog --now rm -fr d",
            "newprog 'cd x; rm -r -f d'",
            "BASH_ALIASES[x]='rm -rf'; shopt -s expand_aliases; eval 'x d'",
            "BASH_ENV=/dev/stdin bash -c : <<<'rm -rf d'",
            "make --eval='$(shell rm -rf d)'",
            "/lib64/ld-linux-x86-64.so.2 /bin/rm -rf d",
            "runuser -c 'rm -rf d'",
            "compgen -C 'rm -rf d'",
            "script --com='rm -rf d' /dev/null",
            "split --filter='rm -rf d' x",
            "sed '1e rm -rf d' x",
            "sed '1erm -rf d' x",
            "sed -n --expr='$erm -rf d' x",
            "script -c'rm -rf d' /dev/null",
            "su -c'rm -rf d'",
            "PS4='$(rm -rf d)'; set -x; :",
            "GIT_PAGER='rm -rf d' git log",
            "export GIT_SSH_COMMAND='rm -rf d' && git fetch",
            "env PAGER='rm -rf d' man ls",
            "git -c core.pager='rm -rf d' log",
            "git -c core.sshCommand='rm -rf d' fetch",
            "MAKEFLAGS=--eval='$(shell rm -rf d)' make",
            "read 'BASH_ALIASES[z]' <<<'rm -rf d'; shopt -s expand_aliases; eval 'z'",
            "echo 'rm -rf d' | parallel",
            "ls | xargs -I{} bash -c 'eval {}'",
            "ls | xargs sh -c '\"$@\" x'",
            "git-push --force",
            "/usr/lib/git-core/git-push origin --force",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in [
            "docker rm x",
            "npm rm left-pad",
            "docker compose up -d",
            "make clean",
            "cargo test -- rm",
            "ls | xargs -n1 basename",
            "ls | xargs -I{} sh -c 'mv {} {}.bak'",
            "find . -name '*.rs' | xargs grep -l rm",
            "ls | xargs env FOO=1 wc -l",
            "PATH=$PATH:x make",
            "pytest -q",
            "psql -c 'select 1'",
            "git-lfs ls-files",
            "uname -m",
            "sed -n '1,5p' example.txt",
            "sed -e 's/one/the end/' -i.bak every.txt",
            "PAGER=cat git log",
            "GIT_EDITOR=true git rebase --continue",
            "ls | parallel gzip",
            "ls | xargs -I{} sh -c 'wc -l {} | tail -1'",
            "git -c core.pager=cat log",
            "ssh host uptime",
            "ssh -o rm h ls",
            "ssh -L 8080:localhost:80 -N host",
            "awk '{print \"rm x\"}' f",
            "awk -F'|' '{print $1 \" | \" $2 \" (it)\"}' f",
            "awk '{print | \"sort -n\"}' f",
            "echo 'rm -rf d'",
            "git log --grep='rm -rf'",
        ] {
            assert!(!asks(text), "{text}");
        }
    }

    #[test]
    fn text_that_bash_evaluates_itself_asks() {
        let patterns = ["rm ".to_owned()];
        let asks = |text: &str| approval(&read(text), &patterns).is_some();
        for text in [
            "[[ -v 'a[$(rm -v f)]' ]]",
            "x='$(rm -v f)'; echo ${x@P}",
            "x='`rm -v f`'; echo \"${x@P}\"",
            "test -v 'a[$(rm -v f)]'",
            "printf -v 'a[$(rm -v f)]' x",
            "let 'a[$(rm -v f)]'",
            "declare -i 'y=a[$(rm -v f)]'",
            "[[ 'a[$(rm -v f)]' -eq 0 ]]",
            "x='a[$(rm -v f)]'; echo $((x))",
            "unset 'a[$(rm -v f)]'",
            "read x <<< 'a[$(rm -v f)]'; echo $((x))",
            "x=\"a[\\$(rm -v f)]\"; echo $((x))",
            "x='a[$(true; sudo rm f)]'; echo $((x))",
            "x='a[$(sh -c \"rm f\")]'; echo $((x))",
            "x='a[$(echo \")\"; rm f)]'; echo $((x))",
            "x='a[$(case y in y) rm f;; esac)]'; echo $((x))",
            "x='$(rm -v '; y='f)'; z=$x$y; echo ${z@P}",
            "f=y; x=\"$f\"'$(rm -v f)'; echo ${x@P}",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in [
            "awk '{print $(NF-1)}' f",
            "awk '{print $1}' f; x='a[1]'; echo $((x))",
            "git commit -m 'Say that `foo` (and `bar(x|y`) is gone'",
            "git commit -m 'Run it with `bash` or eval'",
            "echo 'costs $(5'",
            "grep -n '`[a-z]*`' README.md",
            "sed 's/$(CC)/gcc/' Makefile",
        ] {
            assert_eq!(read(text).unclear, None, "{text}");
            assert!(!asks(text), "{text}");
        }
        let many = "$(a)".repeat(9_999);
        assert!(asks(&format!("x='{many}$(true; rm f)'")) && !asks(&format!("x='{many}'")));
    }

    #[test]
    fn more_programs_that_start_others_are_looked_through() {
        let patterns = ["rm ".to_owned()];
        for text in [
            "parallel 'rm {}' ::: x",
            "parallel -j 4 'true; rm {}' ::: x",
            "unbuffer -p rm x",
            "rlwrap -f y rm x",
            "faketime '2 days ago' rm x",
            "xvfb-run -a rm x",
            "xvfb-run -s '-screen 0 9x9x8' rm x",
            "fish -c 'rm x'",
            "ls | ifne rm x",
            "start-stop-daemon --start --exec /bin/rm -- x",
            "ssh-agent rm x",
            "valgrind -q rm x",
            "gosu root rm x",
            "sg root -c 'rm x'",
            "tini -- rm x",
            "npx -c 'rm x'",
            "uv run rm x",
            "awk 'BEGIN{system(\"rm x\")}'",
            "awk '{ print \"rm \" $1 | \"sh\" }' f",
            "gawk -v n=1 'BEGIN { while ((\"rm -v x\" | getline l) > 0) print l }'",
            "ssh h rm x",
            "ssh -p 22 -i key u@h 'cd y; rm x'",
            "ssh -vp22 h sudo rm x",
            "ssh h 'nohup rm x >/dev/null 2>&1 &'",
            "git grep -O'rm -f x' y",
            "git grep --open-files-in-pager='rm x' y",
            "git difftool --extcmd='rm -f x'",
            "sed 's#x#rm -f x#e' y",
            "make --eval='a:;rm x' a",
        ] {
            assert_eq!(approval(&read(text), &patterns), Some("rm "), "{text}");
        }
        for text in ["at now <<< 'rm x'", "echo 'rm x' | at now", "batch < f"] {
            assert!(read(text).unclear.is_some(), "{text}");
        }
        for text in ["at -l", "at -f job now", "parallel 'wc -l {} | tail -1' ::: rm x", "atq"] {
            let reading = read(text);
            assert_eq!((reading.unclear, approval(&reading, &patterns)), (None, None), "{text}");
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
            "x=-rf; rm \"$x\" y",
            "x=-rf; rm \"${x}\" y",
            "x=-r; z=-f; rm \"$x\" \"$z\" y",
            "x=rf; rm \"-$x\" y",
            "x=rf; rm -$x y",
            "x=rm; printf -v x %s -rf; rm \"$x\" y",
            "read -r x <<< -rf; rm \"$x\" y",
            "x=a; read -r x < f; rm \"$x\" y",
            "eval x=-rf; rm \"$x\" y",
            "for x in -rf; do rm \"$x\" y; done",
            "for x in \"$@\"; do rm \"$x\"; done",
            "export x=-rf && rm \"$x\" y",
            "x=a; declare -n z=x; z=-rf; rm \"$x\" y",
            "x=a; x+=b; rm \"$x\"",
            "x=(-rf); rm \"$x\" y",
            "x=a; . ./env; rm \"$x\"",
            "set -- -rf; rm \"$1\" y",
            "rm \"$(echo -rf)\" y",
            "rm $(echo -rf) y",
            "rm \"`echo -rf`\" y",
            "pwd() { echo -rf; }; rm \"$(pwd)\" y",
            "rm $'\\x2drf' y",
            "x=$'\\x2drf'; rm \"$x\" y",
            "rm \"$x\"",
            "rm \"${x%@*}\"",
            "rm -* y",
            "rm {a,-rf}",
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
            "git config alias.p push; git p --force",
            "git p --force",
            "git -C \"$d\" p -f",
            "v=push; git $v --force",
            "v=push; git \"$v\" -f origin",
            "git \"$v\" --force",
            "git push \"$(cat f)\"",
            "git push origin \"$b\"",
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
            "rm -- \"$x\" \"$*\" \"${x%@*}\" \"$(f \"$@\")\" $x",
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
    fn everyday_lines_ask_nobody() {
        let patterns = [
            "rm -rf",
            "git push --force",
            "git push -f",
            "find -delete",
            "docker system prune",
            "chmod -R",
        ];
        let patterns = patterns.map(str::to_owned);
        let lines = [
            "rm notes.txt",
            "rm -f \"$HOME/tmp/a.log\"",
            "rm -- \"$file\"",
            "rm \"./$file\"",
            "rm \"$dir/$file\"",
            "rm \"${name}.txt\" \"$name.bak\"",
            "f=notes.txt; rm \"$f\"",
            "f=notes.txt; rm $f",
            "for f in *.tmp; do rm \"$f\"; done",
            "for f in a b c; do rm \"$f.log\" $f; done",
            "for i in {1..5}; do rm \"$i\"; done",
            "t=$(mktemp); echo a > \"$t\"; rm -f \"/tmp/$t\"",
            "rm *.o && rm -r build/*",
            "rm {a,b}.txt",
            "rm \"$(pwd)/a\"",
            "while read -r f; do rm -- \"$f\"; done < list",
            "find . -name '*.orig' -print",
            "find \"$HOME/src\" -name '*.rs' -newer a",
            "git status && git diff --stat",
            "git commit -m \"$msg\"",
            "git add -A && git commit -m \"fix $x\" && git push",
            "git push origin main",
            "git push -u origin \"$(git branch --show-current)\"",
            "git -C \"$dir\" status",
            "git -C \"$dir\" log --oneline -n 5",
            "git checkout -b \"$branch\"",
            "git log --format=\"%h $x\"",
            "git config alias.st",
            "cd \"$(git rev-parse --show-toplevel)\" && ls",
            "docker run --rm \"$image\" ls",
            "docker ps -a",
            "chmod +x \"$dir/run.sh\"",
            "tar czf \"backup-$(date +%F).tgz\" src",
            "tar xf a.tar -C /tmp",
            "echo \"$x\" | sort | uniq -c",
            "x=$(cat f); echo \"$x\"",
            "n=5; head -n \"$n\" f; rm \"f$n\"",
            "cp \"$a\" \"$b\"; mv $c $d",
            "ls | xargs -n 1 echo rm",
            "make -j\"$(nproc)\" && rm \"a.$$\"",
        ];
        assert_eq!(lines.len(), 40);
        for line in lines {
            let reading = read(line);
            assert_eq!(reading.unclear, None, "{line}");
            assert_eq!(approval(&reading, &patterns), None, "{line}");
        }
    }

    #[test]
    fn what_may_be_is_told_from_what_is() {
        for (text, is) in [
            ("rm -rf y", true),
            ("x=-rf; rm \"$x\" y", true),
            ("rm \"$x\"", false),
            ("rm -r \"$x\"", false),
        ] {
            assert_eq!(is_certain(&read(text), "rm -rf"), is, "{text}");
        }
        assert!(!is_certain(&read("git p --force"), "git push --force"));
    }

    #[test]
    fn a_star_in_a_pattern_is_anything() {
        let patterns = ["git push *".to_owned()];
        assert!(approval(&read("git push origin"), &patterns).is_some());
        assert!(approval(&read("git pull origin"), &patterns).is_none());
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
