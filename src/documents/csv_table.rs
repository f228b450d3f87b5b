//! Tables of separated values: rows with their numbers, whatever separates them.

use crate::bounds::CELLS;
use crate::document::Document;
use crate::encoding::DecodedText;
use crate::kind::Kind;
use crate::sheets::SheetWriter;

/// What may stand between values.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Lines that tell which.
const LINES: usize = 20;

/// Reads a table.
pub(crate) fn read(decoded: &DecodedText) -> Document {
    let mut document = Document::new(Kind::Csv);
    let text = decoded.text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator(text))
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut rows = SheetWriter::new("");
    let mut record = csv::StringRecord::new();
    let mut cells = 0;
    let mut row = 0_u32;
    while let Ok(true) = reader.read_record(&mut record) {
        for (column, value) in (0_u32..).zip(&record) {
            rows.cell(&mut document, row, column, value);
            cells += usize::from(!value.is_empty());
        }
        row = row.saturating_add(1);
        if cells >= CELLS {
            document.warn("It holds more values than are read: its end was not read.");
            break;
        }
    }
    if row > 0 {
        rows.finish(&mut document);
    }
    document
}

/// The separator that stands in most of the first lines, as often in one as in the other.
fn separator(text: &str) -> u8 {
    let counts = |separator: u8| {
        let lines = text.lines().take(LINES).filter(|line| !line.is_empty());
        let counts: Vec<usize> =
            lines.map(|line| line.bytes().filter(|byte| *byte == separator).count()).collect();
        let least = counts.iter().min().copied().unwrap_or(0);
        (least, counts.iter().sum::<usize>())
    };
    SEPARATORS.into_iter().rev().max_by_key(|separator| counts(*separator)).unwrap_or(b',')
}
