//! What a text says to the bot: whether it is named, a command, and the text as Markdown without the
//! bot's own name.

use selkie_channel_core::{Aside, Command};

use crate::ids::is_id;

/// What stands in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The text, Slack's references and escapes resolved, without the bot's mention.
    pub text: String,
    /// A command written as text, `/reset` behind the bot's name.
    pub command: Option<Command>,
    /// The bot's name stands in the text.
    pub mentioned: bool,
    /// What stands in it that is not said plainly.
    pub aside: Aside,
}

/// Reads a text; `me` is the bot's user id, empty while it is not known.
pub fn read(raw: &str, me: &str) -> Words {
    let mut text = String::with_capacity(raw.len());
    let mut mentioned = false;
    let mut rest = raw;
    while let Some(open) = rest.find('<') {
        text.push_str(&unescape(&rest[..open]));
        let inner = &rest[open + 1..];
        let Some(close) = inner.find('>') else {
            rest = &rest[open..];
            break;
        };
        rest = &inner[close + 1..];
        if is_mention(&inner[..close], me) {
            mentioned = true;
            rest = seam(&text, rest);
        } else {
            text.push_str(&reference(&inner[..close]));
        }
    }
    text.push_str(&unescape(rest));
    let text = text.trim().to_owned();
    let command = text.strip_prefix('/').and_then(command);
    let aside = aside(&text);
    let text = command.as_ref().map_or(text, |command| command.args.clone());
    Words { text, command, mentioned, aside }
}

/// Slack marks quotes by `>` at a line's beginning, what is struck out by `~`, a block of code by three backticks.
fn aside(text: &str) -> Aside {
    if text.lines().any(|line| line.trim_start().starts_with('>')) || has_struck(text) {
        return Aside::Words;
    }
    if text.contains("```") { Aside::Code } else { Aside::Nothing }
}

/// Whether `~words~` stand in a text; `~/a and ~/b` are paths.
fn has_struck(text: &str) -> bool {
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut opened = false;
    for (at, _) in text.match_indices('~') {
        let before = text[..at].chars().next_back();
        let after = text[at + 1..].chars().next();
        let closes = before.is_some_and(|c| !c.is_whitespace()) && !word(after);
        if opened && closes {
            return true;
        }
        opened |= !word(before) && after.is_some_and(|c| !c.is_whitespace());
    }
    false
}

/// Returns a text as people read it.
pub fn as_read(raw: &str) -> String {
    read(raw, "").text
}

/// Reads `name args`; a path such as `usr/bin` is no command.
pub fn command(text: &str) -> Option<Command> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (name, args) = text.split_at(end);
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let named = !name.is_empty() && name.len() <= 32 && name.bytes().all(word);
    let args = args.trim().to_owned();
    named.then(|| Command { name: name.to_ascii_lowercase(), args })
}

/// Resolves `&amp;`, `&lt;`, `&gt;`: the only three that Slack writes.
pub fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Returns whom a text names: the one person it names, or the one it begins with.
pub fn first_mention(raw: &str) -> Option<&str> {
    let mut named = raw.split('<').skip(1).filter_map(|rest| {
        let inner = rest.split_once('>')?.0.strip_prefix('@')?;
        inner.split('|').next().filter(|user| !user.is_empty())
    });
    let first = named.next()?;
    (named.all(|user| user == first) || raw.trim_start().starts_with("<@")).then_some(first)
}

fn is_mention(inner: &str, me: &str) -> bool {
    let user = inner.strip_prefix('@').map(|user| user.split('|').next().unwrap_or(user));
    !me.is_empty() && user == Some(me)
}

/// Closes the gap that a mention leaves, with the blank or comma that belonged to it.
fn seam<'a>(text: &str, rest: &'a str) -> &'a str {
    if text.trim().is_empty() {
        return rest.trim_start_matches([' ', ',', ':']);
    }
    if text.ends_with(' ') && rest.starts_with(' ') {
        return &rest[1..];
    }
    rest
}

/// Writes what stands between `<` and `>` as Markdown.
fn reference(inner: &str) -> String {
    let (target, label) = match inner.split_once('|') {
        Some((target, label)) => (target, Some(label).filter(|label| !label.is_empty())),
        None => (inner, None),
    };
    let target = unescape(target);
    let label = label.map(unescape);
    let mut chars = target.chars();
    match chars.next() {
        // Whoever only has an id is named later, see `names`.
        Some('@' | '#') if label.is_none() && is_id(chars.as_str(), b"UWBCGD") => {
            format!("<{target}>")
        }
        Some('@') => format!("@{}", label.as_deref().unwrap_or(chars.as_str())),
        Some('#') => format!("#{}", label.as_deref().unwrap_or(chars.as_str())),
        Some('!') => special(chars.as_str(), label),
        _ => match label {
            Some(label) if !target.ends_with(label.as_str()) => format!("[{label}]({target})"),
            _ => target,
        },
    }
}

/// `<!here>`, `<!subteam^S1|@tea>`, `<!date^…|yesterday>`.
fn special(name: &str, label: Option<String>) -> String {
    match (label, name.strip_prefix("subteam^")) {
        (Some(label), _) => label,
        (None, Some(group)) if is_id(group, b"S") => format!("<!{name}>"),
        (None, _) => format!("@{}", name.split('^').next().unwrap_or(name)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn references_become_markdown() {
        let rows = [
            ("hi &amp; <@U2> in <#C1|>", "hi & <@U2> in <#C1>"),
            ("<@U2|grace> in <#C1|tea-room>", "@grace in #tea-room"),
            ("<https://x.org/?a=1&amp;b=2|the list>", "[the list](https://x.org/?a=1&b=2)"),
            ("<https://x.org>", "https://x.org"),
            ("<http://x.org|x.org>", "http://x.org"),
            ("<!here> <!subteam^S1|@tea> <!subteam^S1>", "@here @tea <!subteam^S1>"),
            ("1 &lt; 2, <broken", "1 < 2, <broken"),
            ("&amp;lt;", "&lt;"),
        ];
        for (raw, wanted) in rows {
            assert_eq!(read(raw, "U9").text, wanted, "{raw}");
        }
    }

    #[test]
    fn the_bots_own_name_is_taken_out_and_counts() {
        let words = read("<@U9>, what now?", "U9");
        assert_eq!((words.text.as_str(), words.mentioned), ("what now?", true));
        assert_eq!(read("ask <@U9|selkie> now", "U9").text, "ask now");
        assert!(!read("<@U99> hi", "U9").mentioned);
        assert!(!read("<@> hi", "").mentioned);
        assert!(!read("&lt;@U9&gt;", "U9").mentioned);
    }

    #[test]
    fn a_command_may_stand_behind_the_name() {
        let words = read("<@U9> /Ask what\nnow", "U9");
        assert_eq!(words.command, Some(Command { name: "ask".into(), args: "what\nnow".into() }));
        assert_eq!(words.text, "what\nnow");
        assert_eq!(read("/usr/bin is a path", "U9").command, None);
    }

    #[test]
    fn what_is_not_said_plainly_is_told() {
        for (raw, aside) in [
            ("approve 3fa9c1", Aside::Nothing),
            ("approve `3fa9c1`", Aside::Nothing),
            ("so\n&gt; approve 3fa9c1", Aside::Words),
            ("<@U9> &gt; /reset", Aside::Words),
            ("~approve 3fa9c1~", Aside::Words),
            ("approve ```3fa9c1```", Aside::Code),
            ("cp ~/a ~/b", Aside::Nothing),
            ("about ~3 or ~4 of them", Aside::Nothing),
        ] {
            assert_eq!(read(raw, "U9").aside, aside, "{raw}");
        }
        assert_eq!(read("<@U9> &gt; /reset", "U9").command, None);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "(\\PC|<|>|\\||@|&amp;|<@U9>){0,40}") {
            let words = read(&text, "U9");
            prop_assert_eq!(words.mentioned, text.contains("<@U9>") && words.mentioned);
        }

        #[test]
        fn escapes_of_slack_come_back_as_written(text in "[^\u{0}-\u{1f}]{0,60}") {
            let escaped = crate::mrkdwn::escape(&text);
            prop_assert_eq!(unescape(&escaped), text);
        }
    }
}
