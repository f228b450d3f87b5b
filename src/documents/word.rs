//! Word documents: paragraphs, headings, lists and tables, then notes, comments, headers and footers.

use crate::archive::Archive;
use crate::bounds::TEXT;
use crate::document::Document;
use crate::error::DocumentError;
use crate::kind::Kind;
use crate::office;
use crate::xml::{self, Element, Node};

/// Parts beside the text itself: how their names begin, and what they are called.
const BESIDE: [(&str, &str); 5] = [
    ("word/footnotes", "footnotes"),
    ("word/endnotes", "endnotes"),
    ("word/comments", "comments"),
    ("word/header", "header"),
    ("word/footer", "footer"),
];
/// So many headers and footers: each section may have its own.
const MAX_BESIDE: usize = 12;

/// Reads a Word document.
pub(crate) fn read(archive: &mut Archive<'_>) -> Result<Document, DocumentError> {
    let mut document = Document::new(Kind::Word);
    document.titled(&office::title(archive, "docProps/core.xml"));
    let main = text(&archive.required("word/document.xml")?);
    if let Some(why) = main.broken {
        document.warn(format!("Its text is damaged ({why}): the rest was not read."));
    }
    document.push_parts("", &main.text);
    for (begin, label) in BESIDE {
        let mut seen = Vec::new();
        for name in archive.names(begin, ".xml").into_iter().take(MAX_BESIDE) {
            let part = match archive.text(&name) {
                Ok(xml) => text(&xml.unwrap_or_default()),
                Err(error) => PartText { broken: Some(error.to_string()), ..PartText::default() },
            };
            if let Some(why) = part.broken {
                document.warn(format!(
                    "A part of it ({label}) is damaged ({why}): not all of that was read."
                ));
            }
            let text = part.text;
            if !text.trim().is_empty() && !seen.contains(&text) {
                document.push_parts(label, &text);
                seen.push(text);
            }
        }
    }
    Ok(document)
}

/// Text as far as it could be read.
#[derive(Default)]
struct PartText {
    text: String,
    broken: Option<String>,
    /// Elements of a kind that is shown, within each other.
    shown: usize,
    /// Elements that hold the same once more, within each other.
    twice: usize,
    /// Cells within each other: their paragraphs are no lines.
    cells: usize,
}

fn text(xml: &str) -> PartText {
    let mut part = PartText::default();
    let done = xml::walk(xml, |node| {
        match node {
            Node::Open(element) => part.open(element),
            Node::Close(name) => part.close(name),
            Node::Text(text) if part.shown > 0 && part.twice == 0 => part.text.push_str(text),
            Node::Text(_) => {}
        }
        part.text.len() <= TEXT
    });
    part.broken = done.err();
    part
}

impl PartText {
    fn open(&mut self, element: &Element<'_>) {
        match element.name {
            // Word writes a drawing for today's readers, and the same for those of before 2010.
            "Fallback" => self.twice += 1,
            _ if self.twice > 0 => {}
            "t" => self.shown += 1,
            "tab" if self.is_in_line() => self.text.push('\t'),
            "br" | "cr" => self.text.push('\n'),
            "noBreakHyphen" => self.text.push('-'),
            "tc" => self.cells += 1,
            "pStyle" => self.style(&element.get("val").unwrap_or_default()),
            "numPr" if self.begins_line() => self.text.push_str("- "),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "Fallback" => self.twice = self.twice.saturating_sub(1),
            _ if self.twice > 0 => {}
            "t" => self.shown = self.shown.saturating_sub(1),
            "p" if self.cells > 0 => self.text.push(' '),
            "p" => self.text.push('\n'),
            "tc" => {
                self.cells = self.cells.saturating_sub(1);
                self.text.truncate(self.text.trim_end_matches(' ').len());
                self.text.push_str(" | ");
            }
            "tr" => {
                self.text.truncate(self.text.trim_end_matches([' ', '|']).len());
                self.text.push(if self.cells > 0 { ' ' } else { '\n' });
            }
            _ => {}
        }
    }

    fn begins_line(&self) -> bool {
        self.text.is_empty() || self.text.ends_with('\n')
    }

    /// A stop of a ruler is told before the text, and is none in it.
    fn is_in_line(&self) -> bool {
        !self.begins_line()
    }

    fn style(&mut self, style: &str) {
        let level = style.strip_prefix("Heading").and_then(|level| level.parse::<usize>().ok());
        let level = level.or_else(|| (style == "Title").then_some(1));
        if style.starts_with("List") && self.begins_line() {
            self.text.push_str("- ");
        }
        if let Some(level) = level.filter(|level| (1..=6).contains(level) && self.begins_line()) {
            self.text.push_str(&"######"[..level]);
            self.text.push(' ');
        }
    }
}
