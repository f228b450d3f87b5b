//! Reads JSON of platforms. Strict, but for one thing that JSON allows and text cannot hold: half of a UTF-16
//! pair (a client that cuts a text in the middle of an emoji sends it). It becomes U+FFFD, as do bytes that
//! are no UTF-8: one of them must not cost a message, nor everything that came with it.

use serde::de::DeserializeOwned;

/// Reads a text.
///
/// # Errors
/// When it is no JSON, or of another shape.
pub fn read<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&mended(text)))
}

/// Reads bytes.
///
/// # Errors
/// When they are no JSON, or of another shape.
pub fn read_bytes<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    match std::str::from_utf8(bytes) {
        Ok(text) => read(text),
        Err(_) => read(&String::from_utf8_lossy(bytes)),
    }
}

/// Replaces `\uD800`-like escapes that stand alone.
fn mended(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (taken, sound) = escape(rest);
        out.push_str(if sound { &rest[..taken] } else { "\\ufffd" });
        rest = &rest[taken..];
    }
    out + rest
}

/// Returns an escape's length and whether text can hold it.
fn escape(rest: &str) -> (usize, bool) {
    let unit = |text: &str| text.strip_prefix("\\u").and_then(|hex| hex.get(..4)).and_then(hex4);
    match unit(rest) {
        Some(0xd800..=0xdbff) => match rest.get(6..).and_then(unit) {
            Some(0xdc00..=0xdfff) => (12, true),
            _ => (6, false),
        },
        Some(0xdc00..=0xdfff) => (6, false),
        Some(_) => (6, true),
        // Another escape: the backslash and the character behind it.
        None => (1 + rest[1..].chars().next().map_or(0, char::len_utf8), true),
    }
}

fn hex4(hex: &str) -> Option<u16> {
    u16::from_str_radix(hex, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_half_costs_one_character_and_nothing_else() {
        let read = |text: &str| read::<Value>(text).unwrap();
        assert_eq!(read(r#"["a\ud83d", "\ude00b"]"#), json!(["a\u{fffd}", "\u{fffd}b"]));
        assert_eq!(read(r#""\ud83d\ude00 \\ud83d""#), json!("😀 \\ud83d"));
        let raw = b"{\"a\":\"\xff\\ud83d\"}";
        assert_eq!(read_bytes::<Value>(raw).unwrap(), json!({ "a": "\u{fffd}\u{fffd}" }));
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "(\\\\u(d8|dc|D9|\\+)[0-9a-f]{2}|\"|\\\\|u|é|\\PC){0,12}") {
            read::<Value>(&text).ok();
            read_bytes::<Value>(text.as_bytes()).ok();
        }
    }
}
