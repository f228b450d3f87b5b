//! A Jupyter notebook as bytes with cells in them: read for people, changed by splicing, so that what is
//! not touched stays byte for byte.

use std::ops::Range;

use serde::Serialize;
use serde_json::{Map, Value, json};

/// Bytes of one step of indentation; a file that has longer ones is written without.
const MAX_INDENTED: usize = 16;

/// A notebook of format 4.
pub(super) struct Notebook<'a> {
    bytes: &'a [u8],
    /// Its cells, as values.
    pub(super) cells: Vec<Value>,
    /// Where each cell lies.
    spans: Vec<Range<usize>>,
    /// Between the brackets of `cells`.
    inside: Range<usize>,
    /// Cells have ids since 4.5.
    has_ids: bool,
}

/// Why bytes are no notebook that can be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotebookError {
    /// They are no JSON.
    #[error("not a notebook: {0}")]
    NotJson(#[from] serde_json::Error),
    /// They are JSON of something else.
    #[error("not a notebook: it has no cells")]
    NoCells,
    /// It is of another version.
    #[error("nbformat {0}: only notebooks of format 4 are supported")]
    Format(String),
}

impl<'a> Notebook<'a> {
    /// Reads a notebook.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, NotebookError> {
        let value: Value = serde_json::from_slice(bytes)?;
        let version = value.get("nbformat").and_then(Value::as_u64);
        if version != Some(4) {
            let version = version.map_or("none".to_owned(), |v| v.to_string());
            return Err(NotebookError::Format(version));
        }
        let minor = value.get("nbformat_minor").and_then(Value::as_u64).unwrap_or(0);
        let Some(cells) = value.get("cells").and_then(Value::as_array) else {
            return Err(NotebookError::NoCells);
        };
        let at = member(bytes, skip_space(bytes, 0), "cells").ok_or(NotebookError::NoCells)?;
        let spans = items(bytes, at);
        let inside = at + 1..end_of(bytes, at) - 1;
        Ok(Self { bytes, cells: cells.clone(), spans, inside, has_ids: minor >= 5 })
    }

    /// Finds a cell by its id.
    pub(super) fn by_id(&self, id: &str) -> Option<usize> {
        self.cells.iter().position(|c| c.get("id").is_some_and(|i| i == id))
    }

    /// Returns the notebook with another source, and maybe another type, in a cell.
    pub(super) fn replaced(&self, at: usize, source: &str, kind: Option<&str>) -> Vec<u8> {
        let span = &self.spans[at];
        let changes_kind =
            kind.is_some_and(|k| self.cells[at].get("cell_type").is_none_or(|t| t != k));
        if !changes_kind && let Some(place) = member(self.bytes, span.start, "source") {
            let style = self.cells[at].get("source").is_some_and(Value::is_string);
            let new = if style { json!(source) } else { lines_of(source) };
            // One step deeper than the cell.
            let text = self.written(&new, 3, span.clone());
            return self.spliced(place..end_of(self.bytes, place), text.as_bytes());
        }
        let mut cell = self.cells[at].as_object().cloned().unwrap_or_default();
        cell.insert("source".to_owned(), lines_of(source));
        if let Some(kind) = kind {
            set_kind(&mut cell, kind);
        }
        let text = self.written(&Value::Object(cell), 2, span.clone());
        self.spliced(span.clone(), text.as_bytes())
    }

    /// Returns the notebook with a new cell before the one at `at`, or behind the last.
    pub(super) fn inserted(&self, at: usize, source: &str, kind: &str, id: &str) -> Vec<u8> {
        let mut cell = Map::new();
        set_kind(&mut cell, kind);
        if self.has_ids {
            cell.insert("id".to_owned(), json!(id));
        }
        cell.insert("metadata".to_owned(), json!({}));
        cell.insert("source".to_owned(), lines_of(source));
        let text = self.written(&Value::Object(cell), 2, self.inside.clone());
        let (before, after) = self.around();
        match (self.spans.get(at), self.spans.last()) {
            (Some(next), _) => {
                self.spliced(next.start..next.start, format!("{text},{before}").as_bytes())
            }
            (None, Some(last)) => {
                self.spliced(last.end..last.end, format!(",{before}{text}").as_bytes())
            }
            (None, None) => {
                self.spliced(self.inside.clone(), format!("{before}{text}{after}").as_bytes())
            }
        }
    }

    /// Returns the notebook without a cell.
    pub(super) fn deleted(&self, at: usize) -> Vec<u8> {
        let span = &self.spans[at];
        let gone = match (self.spans.get(at + 1), at.checked_sub(1)) {
            (Some(next), _) => span.start..next.start,
            (None, Some(before)) => self.spans[before].end..span.end,
            (None, None) => self.inside.clone(),
        };
        self.spliced(gone, b"")
    }

    fn spliced(&self, place: Range<usize>, new: &[u8]) -> Vec<u8> {
        [&self.bytes[..place.start], new, &self.bytes[place.end..]].concat()
    }

    /// Writes a value as deep as it will stand, in the file's own way.
    fn written(&self, value: &Value, depth: usize, near: Range<usize>) -> String {
        let Some(unit) = self.unit().filter(|_| self.has_breaks(&near)) else {
            return value.to_string();
        };
        let format = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
        let mut bytes = Vec::new();
        let mut writer = serde_json::Serializer::with_formatter(&mut bytes, format);
        // A value of JSON is always written.
        if value.serialize(&mut writer).is_err() {
            return value.to_string();
        }
        String::from_utf8_lossy(&bytes).replace('\n', &format!("\n{}", unit.repeat(depth)))
    }

    fn has_breaks(&self, near: &Range<usize>) -> bool {
        self.bytes[near.clone()].contains(&b'\n') || self.spans.is_empty()
    }

    /// What stands before `"cells"` on its line: one step of the file's indentation.
    fn unit(&self) -> Option<String> {
        let first = self.bytes.iter().position(|b| *b == b'"')?;
        let line = self.bytes[..first].iter().rposition(|b| *b == b'\n')?;
        let unit = String::from_utf8_lossy(&self.bytes[line + 1..first]).into_owned();
        // It is written before every line: a long one would make gigabytes of a short source.
        (unit.len() <= MAX_INDENTED && unit.chars().all(char::is_whitespace)).then_some(unit)
    }

    /// The white space before a cell, and behind the last one.
    fn around(&self) -> (String, String) {
        match (self.spans.first(), self.unit()) {
            (Some(first), _) => {
                let before = &self.bytes[self.inside.start..first.start];
                (String::from_utf8_lossy(before).into_owned(), String::new())
            }
            (None, Some(unit)) => (format!("\n{}", unit.repeat(2)), format!("\n{unit}")),
            (None, None) => (String::new(), String::new()),
        }
    }
}

/// Returns the text of a source or an output: a string, or a list of its lines.
pub(super) fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn lines_of(source: &str) -> Value {
    source.split_inclusive('\n').collect()
}

/// Only code cells have outputs.
fn set_kind(cell: &mut Map<String, Value>, kind: &str) {
    cell.insert("cell_type".to_owned(), json!(kind));
    if kind == "code" {
        cell.entry("execution_count").or_insert(Value::Null);
        cell.entry("outputs").or_insert_with(|| json!([]));
    } else {
        cell.shift_remove("execution_count");
        cell.shift_remove("outputs");
    }
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The end of the value that begins here. The bytes are known to be JSON.
fn end_of(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut now = at;
    while let Some(byte) = bytes.get(now) {
        match byte {
            b'"' => {
                now = end_of_text(bytes, now);
                if depth == 0 {
                    return now;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return if depth == 0 { now } else { now + 1 },
            b'}' | b']' => depth -= 1,
            b',' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => return now,
            _ => {}
        }
        now += 1;
    }
    now
}

fn end_of_text(bytes: &[u8], at: usize) -> usize {
    let mut now = at + 1;
    while let Some(byte) = bytes.get(now) {
        match byte {
            b'\\' => now += 2,
            b'"' => return now + 1,
            _ => now += 1,
        }
    }
    now
}

/// Where the value of a key begins in the object that begins here; of two alike, the last counts.
fn member(bytes: &[u8], object: usize, key: &str) -> Option<usize> {
    let mut found = None;
    let mut at = skip_space(bytes, object + 1);
    while bytes.get(at) == Some(&b'"') {
        let end = end_of_text(bytes, at);
        let name: Option<String> = serde_json::from_slice(&bytes[at..end]).ok();
        let value = skip_space(bytes, skip_space(bytes, end) + 1);
        if name.as_deref() == Some(key) {
            found = Some(value);
        }
        at = skip_space(bytes, end_of(bytes, value));
        if bytes.get(at) != Some(&b',') {
            break;
        }
        at = skip_space(bytes, at + 1);
    }
    found
}

/// Where the items of the array that begins here lie.
fn items(bytes: &[u8], array: usize) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut at = skip_space(bytes, array + 1);
    while bytes.get(at).is_some_and(|b| *b != b']') {
        let end = end_of(bytes, at);
        all.push(at..end);
        at = skip_space(bytes, end);
        if bytes.get(at) == Some(&b',') {
            at = skip_space(bytes, at + 1);
        }
    }
    all
}

/// Shows a notebook to a reader: every cell with number, id, type, source and outputs.
///
/// # Errors
/// Why it is none.
pub(super) fn shown(bytes: &[u8]) -> Result<String, NotebookError> {
    let notebook = Notebook::read(bytes)?;
    let mut text = String::new();
    for (number, cell) in notebook.cells.iter().enumerate() {
        let word = |key: &str| cell.get(key).and_then(Value::as_str);
        text.push_str(&format!("[cell {number}] {}", word("cell_type").unwrap_or("unknown")));
        text.push_str(&word("id").map(|id| format!(" id={id}")).unwrap_or_default());
        text.push('\n');
        push(&mut text, &text_of(cell.get("source")));
        for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
            let kind = output.get("output_type").and_then(Value::as_str).unwrap_or("unknown");
            text.push_str(&format!("[output of cell {number}] {kind}\n"));
            push(&mut text, &output_text(output));
        }
    }
    Ok(text)
}

fn push(text: &mut String, more: &str) {
    text.push_str(more);
    if !more.is_empty() && !more.ends_with('\n') {
        text.push('\n');
    }
}

fn output_text(output: &Value) -> String {
    if let Some(name) = output.get("ename").and_then(Value::as_str) {
        return format!("{name}: {}", text_of(output.get("evalue")));
    }
    let Some(data) = output.get("data").and_then(Value::as_object) else {
        return text_of(output.get("text"));
    };
    let mut text = text_of(data.get("text/plain"));
    for (kind, value) in data.iter().filter(|(kind, _)| *kind != "text/plain") {
        push(&mut text, "");
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let size = text_of(Some(value)).len();
        text.push_str(&format!("[{kind}, {size} bytes, not shown]"));
    }
    text
}

#[cfg(test)]
mod tests;
