//! The HTML of rich messages: its blocks as the platform tells them, and what a person reads in them. Stricter than the
//! platform: a block that is not emulated is refused, and so is text outside of any.

use serde_json::{Value, json};

use super::html;

const MAX_TEXT: usize = 32_768;
const MAX_BLOCKS: usize = 500;
const MAX_COLUMNS: usize = 20;

/// A rich message.
#[derive(Debug, Default)]
pub(crate) struct RichMessage {
    /// `RichBlock`s.
    pub(crate) blocks: Vec<Value>,
    /// What a person reads.
    pub(crate) text: String,
    /// Its styles, in UTF-16 units.
    pub(crate) entities: Vec<Value>,
    /// Blocks so far, the rows of tables included.
    count: usize,
}

/// Reads the HTML of a rich message.
///
/// # Errors
/// What is wrong, in words.
pub(crate) fn read(html: &str) -> Result<RichMessage, String> {
    let mut message = RichMessage::default();
    message.blocks = message.read_blocks(html)?;
    if message.text.trim().is_empty() {
        return Err("rich message is empty".to_owned());
    }
    if message.text.chars().count() > MAX_TEXT || message.count > MAX_BLOCKS {
        return Err("RICH_MESSAGE_TOO_LONG".to_owned());
    }
    Ok(message)
}

impl RichMessage {
    fn read_blocks(&mut self, html: &str) -> Result<Vec<Value>, String> {
        let mut blocks = Vec::new();
        let mut rest = html.trim();
        while !rest.is_empty() {
            let element = Element::first(rest)?;
            self.count += 1;
            blocks.push(self.block(&element)?);
            rest = element.rest.trim_start();
        }
        Ok(blocks)
    }

    fn block(&mut self, element: &Element<'_>) -> Result<Value, String> {
        let inner = element.inner;
        match element.name {
            "p" => Ok(json!({ "type": "paragraph", "text": self.words(inner)? })),
            "pre" => {
                Ok(json!({ "type": "pre", "text": self.words(&format!("<pre>{inner}</pre>"))? }))
            }
            "tg-math-block" => {
                Ok(json!({ "type": "mathematical_expression", "expression": self.words(inner)? }))
            }
            "blockquote" => Ok(json!({ "type": "blockquote", "blocks": self.read_blocks(inner)? })),
            "table" => self.table(inner),
            other => Err(format!("Unsupported start tag \"{other}\"")),
        }
    }

    fn table(&mut self, html: &str) -> Result<Value, String> {
        let mut rows: Vec<Vec<Value>> = Vec::new();
        let mut lines: Vec<String> = Vec::new();
        let mut rest = html;
        while !rest.is_empty() {
            let row = Element::named(rest, &["tr"])?;
            self.count += 1;
            let mut cells = Vec::new();
            let mut inner = row.inner;
            while !inner.is_empty() {
                let cell = Element::named(inner, &["th", "td"])?;
                let text = html::parse(cell.inner)?.text;
                cells.push(json!({ "text": text, "is_header": cell.name == "th" }));
                inner = cell.rest;
            }
            if cells.len() > MAX_COLUMNS {
                return Err("RICH_MESSAGE_TABLE_TOO_WIDE".to_owned());
            }
            let words = cells.iter().map(|cell| cell["text"].as_str().unwrap_or_default());
            lines.push(words.collect::<Vec<_>>().join(" | "));
            rows.push(cells);
            rest = row.rest;
        }
        let lines = lines.join("\n");
        let entity = json!({ "type": "pre", "offset": 0, "length": lines.encode_utf16().count() });
        self.push(&lines, vec![entity]);
        Ok(json!({ "type": "table", "is_bordered": true, "is_striped": true, "cells": rows }))
    }

    /// Reads words with their styles; gives them without.
    fn words(&mut self, html: &str) -> Result<String, String> {
        let plain = html::parse(html)?;
        self.push(&plain.text, plain.entities);
        Ok(plain.text)
    }

    /// Adds a line to what a person reads.
    fn push(&mut self, text: &str, entities: Vec<Value>) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let before = self.text.encode_utf16().count() as u64;
        self.text.push_str(text);
        self.entities.extend(entities.into_iter().map(|mut entity| {
            entity["offset"] = json!(entity["offset"].as_u64().unwrap_or_default() + before);
            entity
        }));
    }
}

/// One element and what follows it.
struct Element<'h> {
    name: &'h str,
    inner: &'h str,
    rest: &'h str,
}

impl<'h> Element<'h> {
    /// Reads the element that the HTML begins with. None of a name stands in another of that name.
    fn first(html: &'h str) -> Result<Self, String> {
        let outside = || format!("Text outside of a block: {html:.40}");
        let (tag, rest) =
            html.strip_prefix('<').and_then(|h| h.split_once('>')).ok_or_else(outside)?;
        let name = tag.split_ascii_whitespace().next().unwrap_or_default();
        let end = format!("</{name}>");
        let unclosed = || format!("Can't find end tag corresponding to start tag \"{name}\"");
        let (inner, rest) = rest.split_once(&end).ok_or_else(unclosed)?;
        Ok(Self { name, inner, rest })
    }

    fn named(html: &'h str, names: &[&str]) -> Result<Self, String> {
        let element = Self::first(html)?;
        match names.contains(&element.name) {
            true => Ok(element),
            false => Err(format!("Unsupported start tag \"{}\"", element.name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_told_and_read() {
        let html = "<p>see <b>this</b></p><blockquote><p>said</p></blockquote>\
            <table bordered striped><tr><th>a</th><th align=\"right\">b</th></tr>\
            <tr><td>&lt;1&gt;</td><td>2</td></tr></table><tg-math-block>x^2</tg-math-block><pre>x</pre>";
        let message = read(html).unwrap();
        assert_eq!(message.text, "see this\nsaid\na | b\n<1> | 2\nx^2\nx");
        assert_eq!(message.blocks.len(), 5);
        assert_eq!(message.entities[1]["offset"], 14, "{:?}", message.entities);
    }

    #[test]
    fn what_is_no_rich_html_is_refused() {
        for wrong in
            ["", "words", "<p>a", "<p></p>", "<br/>", "<p>a<br></p>", "<table><td>a</td></table>"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
