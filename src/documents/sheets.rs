//! Spreadsheets: rows with what their cells hold, a page for some rows of a sheet. A cell costs what it holds, wherever it stands.

use std::io::Cursor;

use calamine::{
    Data, DataRef, ExcelDateTime, Reader as _, SheetType, Xls, XlsError, Xlsb, Xlsx, XlsxError,
};

use crate::archive::Archive;
use crate::bounds::{CELL, CELLS, GAP, PART, ROWS};
use crate::document::Document;
use crate::error::DocumentError;
use crate::kind::Kind;

const TOO_MANY: &str = "It holds more cells than are read: its end was not read.";

/// Reads a workbook of Excel.
pub(crate) fn read(bytes: &[u8], kind: Kind) -> Result<Document, DocumentError> {
    let mut document = Document::new(kind);
    match kind {
        Kind::OldExcel => old(bytes, &mut document)?,
        Kind::BinaryExcel => {
            Archive::open(bytes)?.check_claims("xl/worksheets/")?;
            binary(bytes, &mut document)?;
        }
        _ => {
            Archive::open(bytes)?.check_claims("xl/worksheets/")?;
            modern(bytes, &mut document)?;
        }
    }
    Ok(document)
}

fn modern(bytes: &[u8], document: &mut Document) -> Result<(), DocumentError> {
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(|error| match error {
        XlsxError::Password => DocumentError::Encrypted(Kind::Excel.name()),
        error => DocumentError::Damaged(Kind::Excel, error.to_string()),
    })?;
    let mut room = CELLS;
    for name in with_cells(book.sheets_metadata()) {
        match book.worksheet_cells_reader(&name) {
            Ok(mut reader) => sheet(document, &name, &mut room, || {
                let cell = reader.next_cell().map_err(|error| error.to_string())?;
                Ok(cell.map(|cell| (cell.get_position(), shown(cell.get_value()))))
            }),
            Err(error) => unread(document, &name, &error.to_string()),
        }
    }
    Ok(())
}

fn binary(bytes: &[u8], document: &mut Document) -> Result<(), DocumentError> {
    let damaged =
        |error: calamine::XlsbError| DocumentError::Damaged(Kind::BinaryExcel, error.to_string());
    let mut book = Xlsb::new(Cursor::new(bytes)).map_err(damaged)?;
    let mut room = CELLS;
    for name in with_cells(book.sheets_metadata()) {
        match book.worksheet_cells_reader(&name) {
            Ok(mut reader) => sheet(document, &name, &mut room, || {
                let cell = reader.next_cell().map_err(|error| error.to_string())?;
                Ok(cell.map(|cell| (cell.get_position(), shown(cell.get_value()))))
            }),
            Err(error) => unread(document, &name, &error.to_string()),
        }
    }
    Ok(())
}

/// Of before 2007 a sheet has 65,536 rows of 256 cells: as many as memory holds.
fn old(bytes: &[u8], document: &mut Document) -> Result<(), DocumentError> {
    let mut book = Xls::new(Cursor::new(bytes)).map_err(|error| match error {
        XlsError::Password => DocumentError::Encrypted(Kind::OldExcel.name()),
        error => DocumentError::Damaged(Kind::OldExcel, error.to_string()),
    })?;
    let mut room = CELLS;
    for name in with_cells(book.sheets_metadata()) {
        match book.worksheet_range(&name) {
            Ok(range) => {
                let start = range.start().unwrap_or_default();
                let at = |first: u32, cell: usize| {
                    first.saturating_add(u32::try_from(cell).unwrap_or(u32::MAX))
                };
                let mut cells = range.used_cells();
                sheet(document, &name, &mut room, || {
                    Ok(cells.next().map(|(row, column, value)| {
                        ((at(start.0, row), at(start.1, column)), shown(&borrowed(value)))
                    }))
                });
            }
            Err(error) => unread(document, &name, &error.to_string()),
        }
    }
    Ok(())
}

/// The sheets that hold cells: others are charts, dialogs and programs alone.
fn with_cells(sheets: &[calamine::Sheet]) -> Vec<String> {
    let all = sheets.iter();
    let with_cells =
        all.filter(|sheet| matches!(sheet.typ, SheetType::WorkSheet | SheetType::MacroSheet));
    with_cells.map(|sheet| sheet.name.clone()).collect()
}

/// A cell: its row and column from 0, and what it shows.
type ShownCell = ((u32, u32), String);

/// Reads one sheet as far as there is room for cells.
fn sheet(
    document: &mut Document,
    name: &str,
    room: &mut usize,
    mut next: impl FnMut() -> Result<Option<ShownCell>, String>,
) {
    if *room == 0 || document.is_full() {
        return;
    }
    let mut sheet = SheetWriter::new(name);
    let mut damage = None;
    while *room > 0 && !document.is_full() {
        match next() {
            Ok(Some(((row, column), text))) => {
                *room -= usize::from(!text.is_empty());
                sheet.cell(document, row, column, &text);
            }
            Ok(None) => break,
            Err(error) => {
                damage = Some(error);
                break;
            }
        }
    }
    sheet.finish(document);
    if let Some(error) = damage {
        document.warn(format!(
            "The sheet \"{name}\" is damaged ({error}): the rest of it was not read."
        ));
    }
    if *room == 0 {
        document.warn(TOO_MANY);
    }
}

fn unread(document: &mut Document, name: &str, error: &str) {
    document.warn(format!("The sheet \"{name}\" is damaged ({error}) and was not read."));
}

fn borrowed(data: &Data) -> DataRef<'_> {
    match data {
        Data::Int(value) => DataRef::Int(*value),
        Data::Float(value) => DataRef::Float(*value),
        Data::String(text) => DataRef::SharedString(text),
        Data::Bool(value) => DataRef::Bool(*value),
        Data::DateTime(value) => DataRef::DateTime(*value),
        Data::DateTimeIso(text) | Data::DurationIso(text) => DataRef::SharedString(text),
        Data::Error(error) => DataRef::Error(error.clone()),
        Data::Empty => DataRef::Empty,
    }
}

/// What a cell shows.
fn shown(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(value) => value.to_string(),
        DataRef::Float(value) => value.to_string(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text.clone()
        }
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(value) => value.to_string().to_uppercase(),
        DataRef::DateTime(value) => date(value),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

fn date(value: &ExcelDateTime) -> String {
    let days = value.as_f64();
    if value.is_duration() {
        let minutes = (days * 24.0 * 60.0).round();
        return format!("{}:{:02}", (minutes / 60.0).trunc(), (minutes % 60.0).abs());
    }
    let (year, month, day, hour, minute, second, _) = value.to_ymd_hms_milli();
    let time = format!("{hour:02}:{minute:02}");
    let time = if second == 0 { time } else { format!("{time}:{second:02}") };
    match days {
        _ if days < 1.0 => time,
        _ if days.fract() == 0.0 => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:04}-{month:02}-{day:02} {time}"),
    }
}

/// Writes the cells of one sheet as rows, and some rows as a page.
pub(crate) struct SheetWriter {
    /// How the labels of its pages begin.
    label: String,
    text: String,
    first: Option<u32>,
    row: u32,
    column: u32,
    rows: usize,
}

impl SheetWriter {
    /// Begins a sheet; a table that is none has no name.
    pub(crate) fn new(name: &str) -> Self {
        let label = if name.is_empty() { String::new() } else { format!("sheet \"{name}\", ") };
        Self { label, text: String::new(), first: None, row: 0, column: 0, rows: 0 }
    }

    /// Adds a cell; rows and columns count from 0, in the order of the file.
    pub(crate) fn cell(&mut self, document: &mut Document, row: u32, column: u32, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.first.is_none() || row != self.row {
            if self.rows == ROWS || self.text.len() > PART {
                self.page(document);
            }
            self.first.get_or_insert(row);
            self.text.push_str(&format!("\n{} | ", row.saturating_add(1)));
            (self.row, self.column) = (row, 0);
            self.rows += 1;
        } else {
            self.text.push_str(" | ");
            self.column = self.column.saturating_add(1);
        }
        let gap = usize::try_from(column.saturating_sub(self.column)).unwrap_or(usize::MAX);
        match gap {
            0..=GAP => self.text.push_str(&"| ".repeat(gap)),
            _ => self.text.push_str(&format!("{}{}: ", letters(column), row.saturating_add(1))),
        }
        self.column = column;
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = line.floor_char_boundary(CELL);
        self.text.push_str(&line[..end]);
        if end < line.len() {
            self.text.push('…');
        }
    }

    /// Ends the sheet.
    pub(crate) fn finish(mut self, document: &mut Document) {
        if self.first.is_none() {
            document.push(&format!("{}empty", self.label), "");
        }
        self.page(document);
    }

    fn page(&mut self, document: &mut Document) {
        let Some(first) = self.first.take() else { return };
        let rows = match first == self.row {
            true => format!("row {}", first.saturating_add(1)),
            false => format!("rows {}-{}", first.saturating_add(1), self.row.saturating_add(1)),
        };
        document.push(&format!("{}{rows}", self.label), self.text.trim_start());
        self.text.clear();
        self.rows = 0;
    }
}

/// A column by its letters.
fn letters(column: u32) -> String {
    let mut left = u64::from(column) + 1;
    let mut letters = Vec::new();
    while left > 0 {
        left -= 1;
        letters.push(char::from(b'A' + u8::try_from(left % 26).unwrap_or(0)));
        left /= 26;
    }
    letters.iter().rev().collect()
}
