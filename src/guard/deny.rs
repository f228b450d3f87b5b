//! What a command may not name: programs, paths, and programs that wait for a person.
//!
//! It keeps a model from mistakes and is no barrier.

use std::path::{Component, Path};

use super::plain::PlainLine;
use super::programs::{begins_with, is_called};

/// Programs that no command of the bot's needs: they end the machine.
const TOKENS: [&str; 7] = ["halt", "mkfs", "poweroff", "reboot", "shutdown", "swapoff", "wipefs"];
/// Programs that wait for a person at a terminal.
const INTERACTIVE: [&str; 30] = [
    "atop", "btop", "emacs", "ftp", "gdb", "helix", "htop", "hx", "info", "lazygit", "less", "man",
    "mc", "more", "most", "nano", "ncdu", "nnn", "nvim", "pico", "ranger", "screen", "telnet",
    "tig", "tmux", "top", "vi", "view", "vim", "watch",
];
/// Arguments with which an interactive program works on its own.
const BATCH: [&str; 6] = ["-b", "-batch", "--batch", "--help", "--version", "-V"];

/// Why a shell command is refused, in the words of the reference documents.
pub fn refusal(
    text: &str,
    line: &PlainLine,
    paths: &[String],
    tokens: &[String],
) -> Option<String> {
    let words = line.words().map(|word| word.text.as_str());
    let denied = denied_path(pieces(text).chain(words), paths);
    denied.or_else(|| begins_with(line, all(tokens)).map(by_token))
}

/// Why a command of another language is refused: its words are looked for wherever they stand.
pub fn refusal_in_text(text: &str, paths: &[String], tokens: &[String]) -> Option<String> {
    denied_path(pieces(text), paths).or_else(|| {
        let is_there = |t: &&str| pieces(text).any(|w| is_called(w, t)) || stands_in(text, t);
        all(tokens).find(is_there).map(by_token)
    })
}

/// Returns the first program that waits for a person.
pub fn interactive(line: &PlainLine) -> Option<&'static str> {
    line.programs().find_map(|words| {
        let name = INTERACTIVE.into_iter().find(|name| is_called(&words[0].text, name))?;
        let works_alone = words[1..].iter().any(|word| BATCH.contains(&word.text.as_str()));
        (!works_alone).then_some(name)
    })
}

/// Returns the text cut at everything that is no part of a path: words inside quotes and substitutions too.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || "._-/~+@%*?".contains(c)))
        .filter(|piece| !piece.is_empty())
}

fn all(tokens: &[String]) -> impl Iterator<Item = &str> {
    TOKENS.into_iter().chain(tokens.iter().map(String::as_str))
}

fn by_token(token: &str) -> String {
    format!("command references denied token: {token}")
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
    use super::*;
    use crate::plain::read;

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
    fn programs_that_wait_are_found_where_they_stand() {
        let found = |text| interactive(&read(text));
        for text in ["vim x", "/usr/bin/vim x", "a && 'vim'", "sudo vim", "x=$(vim)", "a\nvim"] {
            assert_eq!(found(text), Some("vim"), "{text}");
        }
        for text in
            ["echo vim", "echo 'a; vim'", "top -b -n1", "cat <<E\nvim\nE", "git log # | less"]
        {
            assert_eq!(found(text), None, "{text}");
        }
        assert_eq!(found("git log | less"), Some("less"));
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
}
