//! A Markdown table as aligned fixed-width lines, for platforms that have no tables.

use pulldown_cmark::Alignment;
use unicode_width::UnicodeWidthStr;

/// The most that a table may take with its columns aligned, in columns of the screen: one long cell would fill every
/// other row with blanks, and the memory with them.
const MAX: usize = 64 * 1024;
/// A wider table is folded by a phone, and nothing stands below its head any more; columns of the screen.
const WIDE: usize = 48;

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
}

// An alignment is one of four words.
impl Eq for Table {}

impl Table {
    /// Begins a table whose columns are aligned so.
    pub fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    /// Begins a row; the first is the head.
    pub fn start_row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Begins a cell of the last row.
    pub fn start_cell(&mut self) {
        if let Some(row) = self.rows.last_mut() {
            row.push(String::new());
        }
    }

    /// Adds text to the last cell.
    pub fn text(&mut self, text: &str) {
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) {
            cell.push_str(&text.replace('\n', " "));
        }
    }

    /// Returns the cells row by row, the head first.
    pub fn cells(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Returns how many columns it has.
    pub fn columns(&self) -> usize {
        self.alignments.len()
    }

    /// Returns how a column is aligned: `left`, `center` or `right`; `None` where that is not said.
    pub fn alignment(&self, column: usize) -> Option<&'static str> {
        match self.alignments.get(column)? {
            Alignment::None => None,
            Alignment::Left => Some("left"),
            Alignment::Center => Some("center"),
            Alignment::Right => Some("right"),
        }
    }

    /// Returns the text of the last cell so far.
    pub fn cell(&self) -> &str {
        self.rows.last().and_then(|row| row.last()).map_or("", String::as_str)
    }

    /// Returns the table as a line for each row, nothing aligned. Rows without a word are left out.
    pub fn rows(&self) -> String {
        let rows = self.rows.iter().map(|row| row.join(" | "));
        rows.filter(|row| !row.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Whether its rows are lines that a phone would fold, and are read better a cell a line.
    pub fn is_wide(&self) -> bool {
        let widths = self.column_widths();
        let head: usize = self.rows.first().into_iter().flatten().map(String::len).sum();
        let gaps = 3 * widths.len().saturating_sub(1);
        widths.len() > 1
            && self.rows.len() > 1
            && widths.iter().sum::<usize>() + gaps > WIDE
            // The head is written again for each row.
            && head.saturating_mul(self.rows.len()) <= MAX
    }

    /// Returns each row below the head as its columns' names and its cells, those without a word left out.
    pub fn pairs(&self) -> impl Iterator<Item = impl Iterator<Item = (&str, &str)>> {
        let head = self.rows.first().map_or(&[][..], Vec::as_slice);
        self.rows.iter().skip(1).map(move |row| {
            let pairs = head.iter().zip(row).map(|(column, cell)| (column.trim(), cell.trim()));
            pairs.filter(|(_, cell)| !cell.is_empty())
        })
    }

    /// Returns the table as lines, a rule under the head. One that would be too large is not aligned.
    pub fn lines(&self) -> String {
        let widths = self.widths();
        let mut lines: Vec<String> = self.rows.iter().map(|row| self.line(row, &widths)).collect();
        if lines.len() > 1 {
            let rule = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>();
            lines.insert(1, rule.join("-+-"));
        }
        lines.join("\n")
    }

    fn column_widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.alignments.len()];
        for row in &self.rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = cell.width().max(*widest);
            }
        }
        widths
    }

    fn widths(&self) -> Vec<usize> {
        let widths = self.column_widths();
        let aligned = widths.iter().sum::<usize>().saturating_mul(self.rows.len());
        if aligned > MAX { vec![1; widths.len()] } else { widths }
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells = row.iter().zip(widths).zip(&self.alignments);
        let cells = cells.map(|((cell, width), alignment)| pad(cell, *width, *alignment));
        cells.collect::<Vec<_>>().join(" | ").trim_end().to_owned()
    }
}

fn pad(cell: &str, width: usize, alignment: Alignment) -> String {
    let missing = width.saturating_sub(cell.width());
    let before = match alignment {
        Alignment::Right => missing,
        Alignment::Center => missing / 2,
        Alignment::Left | Alignment::None => 0,
    };
    [" ".repeat(before).as_str(), cell, " ".repeat(missing - before).as_str()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize, cell: &str) -> String {
        let mut table = Table::new(vec![Alignment::None, Alignment::Right]);
        for row in 0..rows {
            table.start_row();
            for text in [row.to_string().as_str(), if row == 1 { cell } else { "x" }] {
                table.start_cell();
                table.text(text);
            }
        }
        table.lines()
    }

    #[test]
    fn columns_are_aligned_where_that_fills_no_memory() {
        assert_eq!(table(3, "long"), "0 |    x\n--+-----\n1 | long\n2 |    x");
        let long = "a".repeat(60_000);
        let lines = table(4_000, &long);
        assert!(lines.len() < 100_000, "{} bytes", lines.len());
        assert!(lines.starts_with(&format!("0 | x\n--+--\n1 | {long}\n2 | x\n")));
    }
}
