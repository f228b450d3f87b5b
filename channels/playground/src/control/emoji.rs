//! What people may react with on the page, and how Slack calls it.

/// What the page offers in Telegram's chats: some of the platform's list.
pub(super) const TELEGRAM: &[&str] = &["👍", "❤", "🔥", "🎉", "👀", "🤔"];
/// The same in Slack's.
pub(super) const SLACK: &[&str] = &["👍", "❤", "🎉", "👀", "✅", "🍵"];

/// Characters and the names by which Slack tells of them.
const NAMES: &[(&str, &str)] = &[
    ("👍", "+1"),
    ("👍", "thumbsup"),
    ("❤", "heart"),
    ("🎉", "tada"),
    ("👀", "eyes"),
    ("✅", "white_check_mark"),
    ("🍵", "tea"),
];

/// How Slack calls what the page shows: a character, or `:name:` of what has none here.
pub(super) fn name(shown: &str) -> &str {
    let known = NAMES.iter().find(|(character, _)| *character == shown);
    known.map_or(shown.trim_matches(':'), |(_, name)| *name)
}

/// What the page shows for a name of Slack's.
pub(super) fn shown(name: &str) -> String {
    let known = NAMES.iter().find(|(_, known)| *known == name);
    known.map_or_else(|| format!(":{name}:"), |(character, _)| (*character).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_has_a_name_and_comes_back() {
        for offered in SLACK {
            assert_eq!(shown(name(offered)), *offered);
        }
        assert_eq!((name(":selkie:"), &*shown("selkie")), ("selkie", ":selkie:"));
    }
}
