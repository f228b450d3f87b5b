//! What a document comes to: pages of text, and how they are handed on.

use serde::{Deserialize, Serialize};

use crate::bounds::{PAGES, PART, TEXT, TITLE, WARNINGS};
use crate::kind::Kind;

/// A document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What it is, by its bytes.
    pub kind: Kind,
    /// What it calls itself; empty when it does not.
    pub title: String,
    /// The encoding of its text, where that is not UTF-8; else empty.
    pub encoding: String,
    /// What was not read of it, each in a sentence.
    pub warnings: Vec<String>,
    /// Its pages: those of a PDF, slides, rows of a sheet, parts of a text.
    pub pages: Vec<Page>,
    /// Bytes of text that may still come.
    left: usize,
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// What it is beside its number: a sheet and its rows, a chapter; empty for a plain page.
    pub label: String,
    /// Its text.
    pub text: String,
}

/// What stands before the text of all pages.
#[derive(Serialize, Deserialize)]
struct Head {
    kind: Kind,
    title: String,
    encoding: String,
    warnings: Vec<String>,
    /// Of each page its label, and how many bytes its text has.
    pages: Vec<(String, usize)>,
}

impl Document {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            title: String::new(),
            encoding: String::new(),
            warnings: Vec::new(),
            pages: Vec::new(),
            left: TEXT,
        }
    }

    pub(crate) fn titled(&mut self, title: &str) {
        self.title = short(title);
    }

    pub(crate) fn warn(&mut self, warning: impl Into<String>) {
        if self.warnings.len() < WARNINGS {
            self.warnings.push(warning.into());
        }
    }

    /// Whether no more text is taken.
    pub(crate) fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Adds a page as it is.
    pub(crate) fn push(&mut self, label: &str, text: &str) {
        if self.is_full() {
            return;
        }
        let text = plain(text.trim_end());
        let end = text.floor_char_boundary(self.left);
        self.left -= end;
        if end < text.len() || self.pages.len() + 1 == PAGES {
            self.left = 0;
            self.warn("It is longer than what is read of a document: its end was not read.");
        }
        self.pages.push(Page { label: short(label), text: text[..end].to_owned() });
    }

    /// Adds text that has no pages of its own, in parts that end with a line where there are lines.
    pub(crate) fn push_parts(&mut self, label: &str, text: &str) {
        let mut rest = text.trim();
        while !rest.is_empty() && !self.is_full() {
            let most = rest.floor_char_boundary(PART);
            let end = match rest[..most].rfind('\n') {
                Some(line) if most < rest.len() && line > PART / 2 => line + 1,
                _ => most,
            };
            self.push(label, &rest[..end]);
            rest = &rest[end..];
        }
    }

    /// Returns it as bytes: a line that says what it is, and the text of its pages.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = Head {
            kind: self.kind,
            title: self.title.clone(),
            encoding: self.encoding.clone(),
            warnings: self.warnings.clone(),
            pages: self.pages.iter().map(|page| (page.label.clone(), page.text.len())).collect(),
        };
        let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
        bytes.push(b'\n');
        self.pages.iter().for_each(|page| bytes.extend_from_slice(page.text.as_bytes()));
        bytes
    }

    /// Reads what [`Document::to_bytes`] wrote; `None` when it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let Head { kind, title, encoding, warnings, pages: lengths } =
            serde_json::from_slice(&bytes[..end]).ok()?;
        let mut rest = std::str::from_utf8(&bytes[end + 1..]).ok()?;
        let mut pages = Vec::new();
        for (label, length) in lengths {
            let text = rest.get(..length)?.to_owned();
            rest = &rest[length..];
            pages.push(Page { label, text });
        }
        rest.is_empty().then_some(Self { kind, title, encoding, warnings, pages, left: 0 })
    }

    /// Says what it is in a line: `PDF, 12 pages, "Title"`.
    pub fn summary(&self) -> String {
        let mut line =
            self.kind.name().trim_start_matches("an ").trim_start_matches("a ").to_owned();
        let unit = self.kind.unit();
        match self.pages.len() {
            1 => line.push_str(&format!(", 1 {unit}")),
            many => line.push_str(&format!(", {many} {unit}s")),
        }
        if !self.encoding.is_empty() {
            line.push_str(&format!(", {}", self.encoding));
        }
        if !self.title.is_empty() {
            line.push_str(&format!(", \"{}\"", self.title));
        }
        line
    }

    /// Names a page, from 1: `page 3 of 12`, `part 2 of 7: sheet "Sales", rows 201-400`.
    pub fn name_of(&self, number: usize) -> String {
        let label = self.pages.get(number.wrapping_sub(1)).map_or("", |page| page.label.as_str());
        let colon = if label.is_empty() { "" } else { ": " };
        format!("{} {number} of {}{colon}{label}", self.kind.unit(), self.pages.len())
    }
}

/// One short line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    let end = line.floor_char_boundary(TITLE);
    let more = if end < line.len() { "…" } else { "" };
    format!("{}{more}", &line[..end])
}

/// Text without what no reader shows: other controls than line breaks and tabs.
fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
