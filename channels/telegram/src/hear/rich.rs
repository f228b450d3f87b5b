//! A rich message in words: Markdown, as far as it has words (core.telegram.org/bots/api#richmessage, of 10.1).

use serde_json::Value;

use super::field;

/// The most that is read of one, in bytes.
const MAX_BYTES: usize = 64 * 1024;
/// No text and no block stands deeper.
const MAX_DEPTH: usize = 16;

/// Returns what a rich message says; `None` for another one, and for one without words.
pub fn text(message: &Value) -> Option<String> {
    let rich = field::object(message, "rich_message")?;
    let mut words = Words::default();
    words.blocks(field::list(rich, "blocks"), "", 0);
    let text = words.text.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// What is read so far.
#[derive(Default)]
struct Words {
    text: String,
}

impl Words {
    /// Reads blocks, a paragraph each; every line of them begins with `begin`.
    fn blocks(&mut self, blocks: &[Value], begin: &str, depth: usize) {
        for block in blocks {
            if depth > MAX_DEPTH || self.text.len() > MAX_BYTES {
                return self.paragraph(begin, "…");
            }
            self.block(block, begin, depth);
        }
    }

    fn block(&mut self, block: &Value, begin: &str, depth: usize) {
        let words = |key: &str| inline(block.get(key), depth);
        let kind = field::text(block, "type").unwrap_or_default();
        match kind {
            "heading" => {
                let size = field::number(block, "size").unwrap_or(1).clamp(1, 6);
                let marks = "#".repeat(usize::try_from(size).unwrap_or(1));
                self.paragraph(begin, &format!("{marks} {}", words("text")));
            }
            "pre" => {
                let language = field::text(block, "language").unwrap_or_default();
                self.paragraph(begin, &format!("```{language}\n{}\n```", words("text")));
            }
            "mathematical_expression" => {
                let formula = field::text(block, "expression").unwrap_or_default();
                self.paragraph(begin, &format!("$$ {formula} $$"));
            }
            "blockquote" => {
                self.blocks(field::list(block, "blocks"), &format!("{begin}> "), depth + 1);
            }
            "pullquote" => self.paragraph(&format!("{begin}> "), &words("text")),
            "details" => {
                self.paragraph(begin, &words("summary"));
                self.blocks(field::list(block, "blocks"), begin, depth + 1);
            }
            "list" => {
                for item in field::list(block, "items") {
                    self.item(item, begin, depth);
                }
            }
            "table" => {
                for row in field::list(block, "cells") {
                    let cells = row.as_array().map(Vec::as_slice).unwrap_or_default();
                    let cells = cells.iter().map(|cell| inline(cell.get("text"), depth));
                    let row = cells.collect::<Vec<_>>().join(" | ");
                    self.paragraph(begin, &format!("| {row} |"));
                }
            }
            "collage" | "slideshow" => {
                self.blocks(field::list(block, "blocks"), begin, depth + 1);
            }
            "divider" => self.paragraph(begin, "---"),
            "photo" | "video" | "animation" | "audio" | "voice_note" | "map" => {
                self.paragraph(begin, &format!("({})", kind.replace('_', " ")));
            }
            _ => self.paragraph(begin, &words("text")),
        }
        let caption = block.get("caption").map(|caption| caption.get("text").unwrap_or(caption));
        self.paragraph(begin, &inline(caption, depth));
    }

    fn item(&mut self, item: &Value, begin: &str, depth: usize) {
        let label = match (item.get("has_checkbox"), field::is_true(item, "is_checked")) {
            (Some(Value::Bool(true)), true) => "- [x]",
            (Some(Value::Bool(true)), false) => "- [ ]",
            _ => field::text(item, "label").filter(|label| !label.is_empty()).unwrap_or("-"),
        };
        let mut inner = Self::default();
        inner.blocks(field::list(item, "blocks"), "", depth + 1);
        let indented = inner.text.trim().replace('\n', &format!("\n{begin}  "));
        self.text.push_str(&format!("{begin}{label} {indented}\n"));
    }

    fn paragraph(&mut self, begin: &str, words: &str) {
        if !words.trim().is_empty() && self.text.len() <= MAX_BYTES {
            let lines = words.lines().map(|line| format!("{begin}{line}\n"));
            self.text.extend(lines);
        }
    }
}

/// Reads a rich text: a string, several of them, or one with a style around it.
fn inline(text: Option<&Value>, depth: usize) -> String {
    let mut words = String::new();
    add(text, depth, &mut words);
    words
}

fn add(text: Option<&Value>, depth: usize, words: &mut String) {
    let Some(text) = text.filter(|_| depth <= MAX_DEPTH && words.len() <= MAX_BYTES) else {
        return;
    };
    match text {
        Value::String(text) => words.push_str(text),
        Value::Array(all) => all.iter().for_each(|text| add(Some(text), depth + 1, words)),
        Value::Object(_) => styled(text, depth, words),
        _ => {}
    }
}

fn styled(text: &Value, depth: usize, words: &mut String) {
    let known = |key: &str| field::text(text, key).unwrap_or_default();
    let marks = match known("type") {
        "bold" => "**",
        "italic" => "*",
        "strikethrough" => "~~",
        "code" => "`",
        "mathematical_expression" => return words.push_str(&format!("${}$", known("expression"))),
        "custom_emoji" => return words.push_str(known("alternative_text")),
        _ => "",
    };
    words.push_str(marks);
    add(text.get("text"), depth + 1, words);
    words.push_str(marks);
    if known("type") == "url" {
        words.push_str(&format!(" ({})", known("url")));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(blocks: Value) -> Option<String> {
        text(&json!({ "rich_message": { "blocks": blocks } }))
    }

    #[test]
    fn every_block_with_words_is_read() {
        let read = read(json!([
            { "type": "heading", "size": 2, "text": "Tea" },
            { "type": "paragraph", "text": ["a ", { "type": "bold", "text": ["very ", "good"] }, " one at ",
                { "type": "url", "text": "the shop", "url": "https://tea.example" }] },
            { "type": "list", "items": [
                { "label": "1.", "blocks": [{ "type": "paragraph", "text": "boil" }] },
                { "label": "", "has_checkbox": true, "is_checked": true,
                  "blocks": [{ "type": "paragraph", "text": "pour" }, { "type": "paragraph", "text": "wait" }] },
            ] },
            { "type": "table", "cells": [[{ "text": "kind" }, { "text": "minutes" }], [{ "text": "green" }, { "text": "2" }]] },
            { "type": "blockquote", "blocks": [{ "type": "paragraph", "text": "no milk" }] },
            { "type": "pre", "language": "sh", "text": "kettle on" },
            { "type": "details", "summary": "More", "blocks": [{ "type": "mathematical_expression", "expression": "x^2" }] },
            { "type": "photo", "photo": [], "caption": { "text": "a cup" } },
            { "type": "hologram", "text": "what comes later has its words" },
        ]));
        insta::assert_snapshot!(read.unwrap(), @r"
        ## Tea
        a **very good** one at the shop (https://tea.example)
        1. boil
        - [x] pour
          wait
        | kind | minutes |
        | green | 2 |
        > no milk
        ```sh
        kettle on
        ```
        More
        $$ x^2 $$
        (photo)
        a cup
        what comes later has its words
        ");
        assert_eq!(text(&json!({ "text": "plain" })), None);
    }

    #[test]
    fn it_is_bounded() {
        let mut deep = json!("end");
        let mut nested = json!([]);
        for _ in 0..200 {
            deep = json!({ "type": "bold", "text": deep });
            nested = json!([{ "type": "blockquote", "blocks": nested },
                            { "type": "paragraph", "text": "x" }]);
        }
        assert!(!read(json!([{ "type": "paragraph", "text": deep }])).unwrap().contains("end"));
        assert!(read(nested).unwrap().len() < 2_000);
        let long = json!({ "type": "paragraph", "text": "x".repeat(1_000) });
        let length = read(json!(vec![long; 1_000])).unwrap().len();
        assert!(length < MAX_BYTES + 3_000, "{length}");
    }

    proptest! {
        #[test]
        fn no_shape_ends_it(kind in "[a-z_]{0,12}", key in "[a-z_]{0,8}", number: i64) {
            let block = json!({ "type": kind, key: number, "text": { "type": number }, "items": [number], "cells": [[number]] });
            read(json!([block]));
            text(&json!({ "rich_message": number }));
        }
    }
}
