//! Reads JSON of servers that cut text between the halves of a UTF-16 pair, and puts the halves together
//! again: strict JSON has no such strings, servers written in JavaScript send them daily.

use selkie_channel_core::json::{is_second, mended};
use serde_json::Value;

/// A half waits in a string as one of the last 2,048 characters of Unicode's last private plane, which
/// nobody uses: there are as many of them as there are halves.
const SHELF: u32 = 0x10_f800;
/// The first half of all.
const FIRST: u16 = 0xd800;
/// Stands for a half whose other half never came.
const LOST: char = char::REPLACEMENT_CHARACTER;

/// One event of a stream.
pub(super) struct Event {
    /// What it says.
    pub value: Value,
    /// There are halves in its strings, for [`PieceJoiner`].
    pub torn: bool,
}

/// Reads an event; halves wait in its strings.
///
/// # Errors
/// When it is no JSON.
pub(super) fn event(text: &str) -> serde_json::Result<Event> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(Event { value, torn: false }),
        Err(error) => {
            let shelved = mended(text, |half| {
                char::from_u32(SHELF + u32::from(half - FIRST)).unwrap_or(LOST)
            });
            let value = serde_json::from_str(&shelved.ok_or(error)?)?;
            Ok(Event { value, torn: true })
        }
    }
}

/// Returns a value that arrived in one piece, with its halves put together.
pub(super) fn whole(torn: &Value) -> Value {
    match torn {
        Value::String(text) => {
            let mut joined = PieceJoiner::default();
            joined.push(text, true);
            joined.finish().into()
        }
        Value::Array(items) => items.iter().map(whole).collect(),
        Value::Object(fields) => fields.iter().map(|(k, v)| (k.clone(), whole(v))).collect(),
        other => other.clone(),
    }
}

/// Text that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct PieceJoiner {
    text: String,
    half: Option<u16>,
}

impl PieceJoiner {
    /// Adds a piece. `torn`: see [`Event::torn`].
    pub fn push(&mut self, piece: &str, torn: bool) {
        if self.half.is_some() || torn {
            piece.chars().for_each(|c| self.add(c, torn));
        } else {
            self.text.push_str(piece);
        }
    }

    /// What is whole so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the whole text.
    pub fn finish(mut self) -> String {
        self.lose();
        self.text
    }

    fn add(&mut self, c: char, torn: bool) {
        let half = u32::from(c).checked_sub(SHELF).filter(|_| torn);
        let Some(half) = half.and_then(|h| u16::try_from(h).ok()).map(|h| h + FIRST) else {
            self.lose();
            return self.text.push(c);
        };
        match self.half.take() {
            Some(first) if is_second(half) => self.text.push(pair(first, half)),
            first => {
                self.half = first;
                self.lose();
                if is_second(half) { self.text.push(LOST) } else { self.half = Some(half) }
            }
        }
    }

    fn lose(&mut self) {
        if self.half.take().is_some() {
            self.text.push(LOST);
        }
    }
}

fn pair(first: u16, second: u16) -> char {
    char::decode_utf16([first, second]).next().and_then(Result::ok).unwrap_or(LOST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(events: &[&str]) -> String {
        let mut text = PieceJoiner::default();
        for said in events {
            let Event { value, torn } = event(said).unwrap();
            text.push(value.as_str().unwrap(), torn);
        }
        text.finish()
    }

    #[test]
    fn halves_meet_across_events() {
        assert_eq!(joined([r#""do \ud83d""#, r#""\ude00 NOT""#].as_slice()), "do 😀 NOT");
        assert_eq!(joined(&[r#""a\uD83D""#, r#""""#, r#""\uDE00\ud83d""#, r#""\ude01""#]), "a😀😁");
    }

    #[test]
    fn a_half_without_its_other_half_is_seen() {
        assert_eq!(joined(&[r#""a\ud83d""#, r#""b""#]), "a\u{fffd}b");
        assert_eq!(
            joined(&[r#""\ude00\ud83d\ud83d\ude00x\ud83d""#]),
            "\u{fffd}\u{fffd}😀x\u{fffd}"
        );
    }

    #[test]
    fn what_only_looks_like_a_half_stays() {
        assert_eq!(joined(&[r#""\\ud83d""#]), "\\ud83d");
        assert_eq!(joined(&["\"\u{10f83d}\"", "\"\u{10fe00}\""]), "\u{10f83d}\u{10fe00}");
        for no_json in [r#""\ud83"#, r#"{"a":"\ud83d"#, "\"\\u", "\\ud83d", "nothing"] {
            assert!(event(no_json).is_err(), "{no_json}");
        }
    }

    proptest! {
        #[test]
        fn text_cut_at_any_unit_is_whole_again(text in "\\PC{0,12}", cuts in proptest::collection::vec(0usize..24, 0..6)) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(units.len())).collect();
            cuts.extend([0, units.len()]);
            cuts.sort_unstable();
            let said: Vec<String> = cuts
                .windows(2)
                .map(|w| {
                    let escaped = units[w[0]..w[1]].iter().map(|u| format!("\\u{u:04x}"));
                    format!("\"{}\"", escaped.collect::<String>())
                })
                .collect();
            let said: Vec<&str> = said.iter().map(String::as_str).collect();
            prop_assert_eq!(joined(&said), text);
        }

        #[test]
        fn any_text_is_survived(text in "(\\\\u(d8|dc|D9)[0-9a-f]{2}|\"|\\\\|u|\\PC){0,12}") {
            drop(event(&text));
        }
    }
}
