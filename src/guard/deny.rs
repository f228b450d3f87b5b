//! What a command may not name: paths, words, and what only a person may allow.

use std::path::{Component, Path};

use crate::guard::command::Reading;

/// Words that no command of the bot's needs: they end the machine, or read other processes' secrets.
const TOKENS: [&str; 8] =
    ["halt", "mkfs", "poweroff", "reboot", "selkie.sock", "shutdown", "swapoff", "wipefs"];

/// Why a command is refused, in the words of the reference documents.
pub fn refusal(
    text: &str,
    reading: &Reading,
    paths: &[String],
    tokens: &[String],
) -> Option<String> {
    let words = || pieces(text).chain(reading.commands.iter().flatten().map(String::as_str));
    if let Some(word) = words().find(|w| is_secret(w) || names_path(w, paths)) {
        return Some(format!("command references denied path: {word}"));
    }
    let all = || TOKENS.into_iter().chain(tokens.iter().map(String::as_str));
    let names = |word: &str, token: &str| word == token || word.rsplit('/').next() == Some(token);
    if let Some(token) = all().find(|t| words().any(|w| names(w, t)) || stands_in(text, t)) {
        return Some(format!("command references denied token: {token}"));
    }
    words()
        .find(|w| w.starts_with("/proc/") && w.ends_with("/environ"))
        .map(|word| format!("command references denied path: {word}"))
}

/// Returns the first pattern that a command holds where a word begins (`rm ` is in `a; rm b`, not in
/// `farm b`).
pub fn approval<'a>(text: &str, patterns: &'a [String]) -> Option<&'a str> {
    let mut patterns = patterns.iter().map(String::as_str).filter(|p| !p.trim().is_empty());
    let padded = format!("{text} ");
    patterns.find(|pattern| begins_in(&padded, pattern))
}

fn begins_in(text: &str, pattern: &str) -> bool {
    text.match_indices(pattern).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| !is_word(c)) || !pattern.starts_with(is_word)
    })
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
    matches!(name.as_str(), "config.yaml" | "config.yml" | ".env")
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
        nc -U x/selkie.sock: command references denied token: selkie.sock
        sqlite3 selkie.db-wal: command references denied path: selkie.db-wal
        "#);
    }

    #[test]
    fn patterns_begin_where_a_word_begins() {
        let patterns = ["rm ".to_owned(), "chmod ".to_owned(), "selkie ".to_owned()];
        let asks = |text| approval(text, &patterns);
        assert_eq!(asks("cd x; rm -rf y"), Some("rm "));
        assert_eq!(asks("ls && /bin/rm y"), Some("rm "));
        assert_eq!(asks("selkie"), Some("selkie "));
        assert_eq!(asks("(chmod +x y)"), Some("chmod "));
        for harmless in ["farm x", "perform x", "echo rmdir", "docker-rm x", "cat rm.txt"] {
            assert_eq!(asks(harmless), None, "{harmless}");
        }
    }

    proptest! {
        /// A denied word is found wherever it stands between separators.
        #[test]
        fn a_token_is_found_between_any_separators(
            before in "[a-z]{0,5}[ ;|&(\"'`]", after in "[ ;|&)\"'`][a-z]{0,5}",
        ) {
            prop_assert_eq!(says(&format!("{before}curl{after}")), "command references denied token: curl");
            let longer = format!("{before}xcurl{after}");
            prop_assert_eq!(says(&longer), "taken");
        }
    }
}
