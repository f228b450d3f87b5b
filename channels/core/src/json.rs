//! Reads JSON of platforms. Strict, but for one thing that JSON allows and text cannot hold: half of a UTF-16
//! pair (a client that cuts a text in the middle of an emoji sends it). It becomes U+FFFD, as do bytes that
//! are no UTF-8: one of them must not cost a message, nor everything that came with it.

use serde::de::DeserializeOwned;

/// Stands for a half whose other half is not there.
const LOST: char = char::REPLACEMENT_CHARACTER;

/// Reads a text.
///
/// # Errors
/// When it is no JSON, or of another shape.
pub fn read<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text).or_else(|error| {
        let mended = mended(text, |_| LOST).ok_or(error)?;
        serde_json::from_str(&mended)
    })
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

/// Returns the JSON with every escaped half that stands alone as `stand_in` says; `None` when there is none.
pub fn mended(text: &str, stand_in: impl Fn(u16) -> char) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|b| *b == b'\\')) {
        at += found;
        match escaped_half(bytes, at) {
            // Another escape, or a character: `\\` and `\"` are stepped over whole.
            None => at += 2,
            Some(half)
                if !is_second(half) && escaped_half(bytes, at + 6).is_some_and(is_second) =>
            {
                at += 12;
            }
            Some(half) => {
                out.push_str(&text[copied..at]);
                out.push(stand_in(half));
                at += 6;
                copied = at;
            }
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(out)
}

/// Reads `\ud800` to `\udfff` at a place.
fn escaped_half(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let all_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let number = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (all_hex && (0xd800..=0xdfff).contains(&number)).then_some(number)
}

/// Whether a half comes second in a pair.
pub fn is_second(half: u16) -> bool {
    half >= 0xdc00
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
