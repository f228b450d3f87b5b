//! OpenDocument: texts, spreadsheets and presentations, which share one form.

use crate::archive::Archive;
use crate::bounds::{CELL, CELLS, PAGES, TEXT};
use crate::document::Document;
use crate::error::DocumentError;
use crate::kind::Kind;
use crate::office;
use crate::sheets::SheetWriter;
use crate::xml::{self, Element, Node};

/// Reads an OpenDocument file.
pub(crate) fn read(archive: &mut Archive<'_>) -> Result<Document, DocumentError> {
    let kind = archive.kind;
    let manifest = archive.text("META-INF/manifest.xml")?.unwrap_or_default();
    let mut is_encrypted = false;
    // A manifest that breaks off names what it names.
    let _ = xml::walk(&manifest, |node| {
        is_encrypted |= matches!(node, Node::Open(element) if element.name == "encryption-data");
        !is_encrypted
    });
    if is_encrypted {
        return Err(DocumentError::Encrypted(kind.name()));
    }
    let mut document = Document::new(kind);
    document.titled(&office::title(archive, "meta.xml"));
    let xml = archive.required("content.xml")?;
    let done = match kind {
        Kind::OpenSheets => sheets(&xml, &mut document),
        _ => text(&xml, kind, &mut document),
    };
    if let Err(why) = done {
        document.warn(format!("It is damaged ({why}): the rest was not read."));
    }
    Ok(document)
}

/// What is written so far.
#[derive(Default)]
struct TextWriter {
    text: String,
    /// Elements within each other: of text, of cells, and of what is not shown.
    shown: usize,
    cells: usize,
    silent: usize,
}

impl TextWriter {
    fn open(&mut self, element: &Element<'_>) {
        match element.name {
            // Text that was deleted is kept there.
            "tracked-changes" => self.silent += 1,
            "p" | "h" => {
                self.shown += 1;
                let level =
                    element.get("outline-level").and_then(|level| level.parse::<usize>().ok());
                if let Some(level) = level.filter(|level| element.name == "h" && *level > 0) {
                    self.push(&format!("{} ", &"######"[..level.min(6)]));
                }
            }
            "tab" => self.push("\t"),
            "line-break" => self.push("\n"),
            "s" => {
                let count =
                    element.get("c").and_then(|count| count.parse().ok()).unwrap_or(1_usize);
                self.push(&" ".repeat(count.min(80)));
            }
            "table-cell" => self.cells += 1,
            "list-item" => self.push("- "),
            "notes" => self.push("\nNotes: "),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "tracked-changes" => self.silent = self.silent.saturating_sub(1),
            "p" | "h" => {
                self.shown = self.shown.saturating_sub(1);
                self.push(if self.cells > 0 { " " } else { "\n" });
            }
            "table-cell" => {
                self.cells = self.cells.saturating_sub(1);
                self.push("| ");
            }
            "table-row" => {
                self.text.truncate(self.text.trim_end_matches([' ', '|']).len());
                self.push(if self.cells > 0 { " " } else { "\n" });
            }
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if self.silent == 0 {
            self.text.push_str(text);
        }
    }
}

fn text(xml: &str, kind: Kind, document: &mut Document) -> Result<(), String> {
    let mut writer = TextWriter::default();
    let done = xml::walk(xml, |node| {
        match node {
            Node::Open(element) => writer.open(element),
            Node::Text(text) if writer.shown > 0 => writer.push(text),
            Node::Text(_) => {}
            Node::Close("page") if kind == Kind::OpenSlides => {
                document.push("", writer.text.trim());
                writer.text.clear();
            }
            Node::Close(name) => writer.close(name),
        }
        writer.text.len() <= TEXT && document.pages.len() < PAGES && !document.is_full()
    });
    if kind != Kind::OpenSlides || document.pages.is_empty() {
        document.push_parts("", &writer.text);
    }
    done
}

/// Where in a spreadsheet the walk is.
#[derive(Default)]
struct SheetWalk {
    writer: Option<SheetWriter>,
    row: u32,
    column: u32,
    /// How often the row and the cell stand there, as they say.
    rows: u32,
    columns: u32,
    text: String,
    is_in_text: bool,
    cells: usize,
}

fn sheets(xml: &str, document: &mut Document) -> Result<(), String> {
    let mut at = SheetWalk::default();
    let done = xml::walk(xml, |node| {
        match node {
            Node::Open(element) => at.open(element),
            Node::Text(text) if at.is_in_text && at.text.len() < CELL => at.text.push_str(text),
            Node::Text(_) => {}
            Node::Close(name) => at.close(name, document),
        }
        at.cells < CELLS && !document.is_full()
    });
    if at.cells >= CELLS {
        document.warn("It holds more cells than are read: its end was not read.");
    }
    if let Some(writer) = at.writer {
        writer.finish(document);
    }
    done
}

impl SheetWalk {
    fn open(&mut self, element: &Element<'_>) {
        match element.name {
            "table" => {
                let writer = SheetWriter::new(&element.get("name").unwrap_or_default());
                *self = Self { writer: Some(writer), cells: self.cells, ..Self::default() };
            }
            "table-row" => {
                self.column = 0;
                self.rows = repeated(element, "number-rows-repeated");
            }
            "table-cell" | "covered-table-cell" => {
                self.columns = repeated(element, "number-columns-repeated");
                self.text.clear();
            }
            "p" => {
                self.is_in_text = true;
                if !self.text.is_empty() {
                    self.text.push(' ');
                }
            }
            "s" | "tab" => self.text.push(' '),
            _ => {}
        }
    }

    fn close(&mut self, name: &str, document: &mut Document) {
        match name {
            "p" => self.is_in_text = false,
            "table-cell" | "covered-table-cell" => {
                // One that stands there many times is told once: a style may fill a sheet to its end.
                let text = self.text.trim();
                if let Some(writer) = self.writer.as_mut().filter(|_| !text.is_empty()) {
                    writer.cell(document, self.row, self.column, text);
                    self.cells += 1;
                }
                self.column = self.column.saturating_add(self.columns);
                self.text.clear();
            }
            "table-row" => self.row = self.row.saturating_add(self.rows),
            "table" => {
                if let Some(writer) = self.writer.take() {
                    writer.finish(document);
                }
            }
            _ => {}
        }
    }
}

fn repeated(element: &Element<'_>, name: &str) -> u32 {
    element.get(name).and_then(|times| times.parse().ok()).unwrap_or(1)
}
