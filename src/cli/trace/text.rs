//! How a trace writes single things: foreign words in one short line, moments by the clocks of this machine, spans.

use chrono::{DateTime, Duration, Utc};
use serde_json::Value;

use selkie_channel_core::shorten;
use selkie_domain::pairing;
use selkie_guard::visible::{harmless, one_line};
use selkie_schedule::zone::Zone;

/// The most characters of one text in a story.
const SHOWN: usize = 160;
/// The most characters of one text in JSON.
const MAX_LENGTH: usize = 4_000;

/// A value as a word; empty for none.
pub(super) fn word(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A list's values; none for what is no list.
pub(super) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The beginning of a text on one line, with nothing in it that steers a screen: others have written it.
pub(super) fn short(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut line = words.next().unwrap_or_default().to_owned();
    for word in words {
        if line.len() > 4 * SHOWN {
            break;
        }
        line.push(' ');
        line.push_str(word);
    }
    harmless(&one_line(&shorten(&line, SHOWN)))
}

/// The same in quotation marks.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", short(text))
}

/// Reads a moment that is written as RFC 3339.
pub(super) fn instant(at: &Value) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(at.as_str()?).ok().map(|at| at.to_utc())
}

/// The same by the clocks of a zone, which is named; empty for none.
pub(super) fn when(at: &Value, zone: Zone) -> String {
    match clock(at, zone) {
        none if none.is_empty() => none,
        clock => format!("{clock} {zone}"),
    }
}

/// The same without the zone's name: always to the second, so that times stand below one another.
pub(super) fn clock(at: &Value, zone: Zone) -> String {
    let local = instant(at).map(|at| zone.local(at).format("%Y-%m-%d %H:%M:%S").to_string());
    local.unwrap_or_default()
}

/// How long something took: `26 ms`, `3.2 s`, `5 min 3 s`, `2 h 5 min`.
pub(super) fn took(span: Duration) -> String {
    let millis = span.num_milliseconds().max(0);
    let seconds = millis / 1_000;
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{seconds}.{} s", millis % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

/// Cuts every text of a value that is longer than a program is likely to want.
pub(super) fn cut(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(MAX_LENGTH) {
                let all = text.chars().count();
                text.truncate(end);
                text.push_str(&format!("… (cut: {all} characters in all)"));
            }
        }
        Value::Array(list) => list.iter_mut().for_each(cut),
        Value::Object(fields) => fields.values_mut().for_each(cut),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Takes pairing codes out of every text of a value: whoever reads a story has no use for one.
pub(super) fn hide_codes(value: &mut Value) {
    match value {
        Value::String(text) => *text = pairing::hidden(text),
        Value::Array(list) => list.iter_mut().for_each(hide_codes),
        Value::Object(fields) => {
            // Of a command a message may hold the arguments alone.
            let is_pair = |of: Option<&Value>| of.is_some_and(|of| of["name"] == "pair");
            if is_pair(fields.get("command")) {
                hide_argument(fields.get_mut("text"));
            }
            if fields.get("name").is_some_and(|name| name == "pair") {
                hide_argument(fields.get_mut("args"));
            }
            fields.values_mut().for_each(hide_codes);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn hide_argument(text: Option<&mut Value>) {
    if let Some(Value::String(text)) = text {
        *text = pairing::hidden_in_arguments(text);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn foreign_words_are_one_short_line_and_steer_nothing() {
        assert_eq!(quoted("a\nTask 9: done\n\tb"), "\"a Task 9: done b\"");
        assert_eq!(short("\u{1b}[2J\u{202e}x\u{2028}y"), "⟨U+001B⟩[2J⟨U+202E⟩x y");
        let long = "ä".repeat(100_000);
        assert_eq!(short(&long).chars().count(), SHOWN + 1);
        assert!(short(&"ab ".repeat(100_000)).ends_with('…'));
    }

    #[test]
    fn moments_are_as_long_as_each_other() {
        let (zone, at) = (Zone::named("Europe/Berlin").unwrap(), json!("2026-11-23T07:00:00Z"));
        assert_eq!(when(&at, zone), "2026-11-23 08:00:00 Europe/Berlin");
        assert_eq!((clock(&at, zone).len(), when(&json!(null), zone)), (19, String::new()));
    }

    #[test]
    fn spans_are_said_as_people_say_them() {
        let said = [26, 3_250, 303_000, 7_500_000, -5].map(|ms| took(Duration::milliseconds(ms)));
        assert_eq!(said, ["26 ms", "3.2 s", "5 min 3 s", "2 h 5 min", "0 ms"]);
    }

    #[test]
    fn codes_are_hidden_wherever_they_stand() {
        let command = json!({ "name": "pair", "args": "ab3defgh" });
        let mut bare = json!({ "text": "ab3defgh", "command": command });
        hide_codes(&mut bare);
        assert_eq!(bare["text"], "(pairing code)");
        let mut value = json!([{ "text": "/pair ab3defgh", "command": command }, "ab3defgh"]);
        hide_codes(&mut value);
        let told = json!({ "name": "pair", "args": "(pairing code)" });
        assert_eq!(value, json!([{ "text": "/pair (pairing code)", "command": told }, "ab3defgh"]));
    }

    #[test]
    fn long_texts_are_cut_wherever_they_stand() {
        let mut value = json!({ "a": [{ "b": "é".repeat(5_000) }], "c": "short", "n": 7 });
        cut(&mut value);
        let text = value["a"][0]["b"].as_str().unwrap();
        assert!(text.ends_with("é… (cut: 5000 characters in all)"), "{text}");
        assert_eq!((text.matches('é').count(), &value["c"]), (MAX_LENGTH, &json!("short")));
    }
}
