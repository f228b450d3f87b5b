//! A Markdown table as aligned fixed-width lines: Slack has no tables.

use pulldown_cmark::Alignment;
use unicode_width::UnicodeWidthStr;

/// A table while it is read.
pub struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
}

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

    /// Returns the table as lines, a rule under the head.
    pub fn lines(&self) -> String {
        let widths = self.widths();
        let mut lines: Vec<String> = self.rows.iter().map(|row| self.line(row, &widths)).collect();
        if lines.len() > 1 {
            let rule = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>();
            lines.insert(1, rule.join("-+-"));
        }
        lines.join("\n")
    }

    fn widths(&self) -> Vec<usize> {
        let width = |row: &Vec<String>, column: usize| row.get(column).map_or(0, |c| c.width());
        (0..self.alignments.len())
            .map(|column| self.rows.iter().map(|row| width(row, column)).max().unwrap_or(0))
            .collect()
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
