//! The entities the server finds in plain text by itself: commands, mentions, links.

use serde_json::{Value, json};

/// Finds commands, mentions and links; offsets and lengths are UTF-16 units.
pub(crate) fn detect(text: &str) -> Vec<Value> {
    let mut found = vec![];
    let mut units = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end_matches(|c: char| c.is_whitespace() || ",.!?;:)".contains(c));
        if let Some(kind) = kind(word) {
            let length = word.encode_utf16().count();
            found.push(json!({ "type": kind, "offset": units, "length": length }));
        }
        units += piece.encode_utf16().count();
    }
    found
}

/// The part of the text an entity covers.
pub(crate) fn slice(text: &str, entity: &Value) -> String {
    let number = |name: &str| entity[name].as_u64().and_then(|n| usize::try_from(n).ok());
    let Some((offset, length)) = number("offset").zip(number("length")) else {
        return String::new();
    };
    let units: Vec<u16> = text.encode_utf16().skip(offset).take(length).collect();
    String::from_utf16_lossy(&units)
}

fn kind(word: &str) -> Option<&'static str> {
    if word.starts_with("https://") || word.starts_with("http://") {
        return Some("url");
    }
    let name = |text: &str| {
        text.len() <= 64
            && !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if let Some(command) = word.strip_prefix('/') {
        let fits = match command.split_once('@') {
            Some((command, bot)) => name(command) && name(bot),
            None => name(command),
        };
        return fits.then_some("bot_command");
    }
    let mention = word.strip_prefix('@')?;
    (mention.len() >= 4 && name(mention)).then_some("mention")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_commands_mentions_and_links_in_utf16_units() {
        let text = "😀 /ask@selkie_demo_bot hi @grace, see https://x.y/z. a/b @x";
        let found: Vec<_> = detect(text)
            .iter()
            .map(|e| (e["type"].as_str().unwrap().to_owned(), slice(text, e)))
            .collect();
        let expected = [
            ("bot_command", "/ask@selkie_demo_bot"),
            ("mention", "@grace"),
            ("url", "https://x.y/z"),
        ];
        assert_eq!(found, expected.map(|(kind, text)| (kind.to_owned(), text.to_owned())));
        assert_eq!(detect(text)[0]["offset"], 3);
    }
}
