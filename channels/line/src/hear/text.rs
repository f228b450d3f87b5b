//! What a text says to the bot: a command, a mention, and the text that is left without them.
//!
//! LINE counts the places of mentions in UTF-16 units.

use std::ops::Range;

use selkie_channel_core::{Command, split};
use serde_json::Value;

use super::field;

/// What stands in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The text without the bot's mention or command name.
    pub text: String,
    /// A command.
    pub command: Option<Command>,
    /// The bot's name stands in the text.
    pub mentioned: bool,
}

/// Reads a text with its mentions; a command may stand behind the bot's name.
pub fn read(text: &str, mentionees: &[Value]) -> Words {
    let own: Vec<Range<usize>> = mentionees
        .iter()
        .filter(|m| field::is_true(m, "isSelf"))
        .filter_map(|m| range(text, m))
        .collect();
    let mentioned = mentionees.iter().any(|m| field::is_true(m, "isSelf"));
    let text = without(text, own);
    match command(&text) {
        Some(command) => Words { text: command.args.clone(), command: Some(command), mentioned },
        None => Words { text, command: None, mentioned },
    }
}

/// Reads `/name` at the very beginning; a path such as `/usr/bin` is no command.
pub fn command(text: &str) -> Option<Command> {
    let rest = text.trim().strip_prefix('/')?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, args) = rest.split_at(end);
    let word = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !word(name) || name.len() > 32 {
        return None;
    }
    Some(Command { name: name.to_ascii_lowercase(), args: args.trim().to_owned() })
}

/// Returns where a mention stands, in bytes; `None` when that is outside the text.
fn range(text: &str, mention: &Value) -> Option<Range<usize>> {
    let start = usize::try_from(field::number(mention, "index")?).ok()?;
    let units = usize::try_from(field::number(mention, "length")?).ok()?;
    let end = start.checked_add(units)?;
    if end > split::utf16_len(text) {
        return None;
    }
    Some(split::fitting(text, start)..split::fitting(text, end))
}

/// Cuts these places out, and the blanks they leave.
fn without(text: &str, mut cuts: Vec<Range<usize>>) -> String {
    cuts.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for cut in cuts {
        if cut.start < at {
            continue;
        }
        out.push_str(text[at..cut.start].trim_end_matches(' '));
        if !out.is_empty() && !out.ends_with('\n') {
            out.push(' ');
        }
        let rest = &text[cut.end..];
        at = cut.end + (rest.len() - rest.trim_start_matches(' ').len());
    }
    out.push_str(&text[at..]);
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_bots_name_and_its_commands_are_taken_out() {
        let own = |index, length| json!({ "index": index, "length": length, "isSelf": true });
        let words = read("@selkie what now", &[own(0, 7)]);
        assert_eq!((words.text.as_str(), words.mentioned), ("what now", true));
        let words = read("😀 hey @selkie, tea", &[own(7, 7)]);
        assert_eq!(words.text, "😀 hey , tea");
        let words = read("@selkie /Help me", &[own(0, 7)]);
        assert_eq!(words.command.unwrap(), Command { name: "help".into(), args: "me".into() });
        let words = read("@Ada hi", &[json!({ "index": 0, "length": 4, "userId": "U1" })]);
        assert_eq!((words.text.as_str(), words.mentioned), ("@Ada hi", false));
        assert_eq!(read("/usr/bin/env", &[]).command, None);
    }

    proptest! {
        #[test]
        fn hostile_places_do_no_harm(text in ".{0,20}", places in prop::collection::vec((-3i64..30, -3i64..30), 0..4)) {
            let mentions: Vec<Value> = places
                .iter()
                .map(|(index, length)| json!({ "index": index, "length": length, "isSelf": true }))
                .collect();
            let words = read(&text, &mentions);
            prop_assert_eq!(words.mentioned, !mentions.is_empty());
        }
    }
}
