//! Prints for people and for scripts: aligned tables, JSON, and a closed pipe is no error.

use std::io::{self, Write};

use serde::Serialize;

use crate::guard::visible::{harmless, one_line};

/// Writes to standard output, without what steers a terminal: much of it others have written. A reader that has
/// gone (`| head`) is not our failure.
pub fn out(text: &str) -> io::Result<()> {
    let (mut stdout, text) = (io::stdout().lock(), harmless(text));
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Says why something is so, on standard error. A terminal that was closed reads nothing: no reason for a panic.
pub fn told(why: &str) {
    writeln!(io::stderr(), "{}", harmless(why)).ok();
}

/// Prints a value as indented JSON.
pub fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(out(&text)?)
}

/// Aligns the columns of a table, two spaces between; the last column is as long as it is. A cell is one line, whoever
/// wrote what stands in it.
pub fn table(rows: &[Vec<String>]) -> String {
    let cells = |row: &Vec<String>| row.iter().map(|cell| one_line(cell)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| {
        rows.iter().filter_map(|row| row.get(c)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter().fold(String::new(), |mut out, row| {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        out.push_str(line.trim_end());
        out.push('\n');
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other_and_nothing_trails() {
        let row = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        assert_eq!(table(&[row("a", "é"), row("long", "")]), "a     é\nlong\n");
        assert_eq!(table(&[row("a\nb", "c")]), "a⟨U+000A⟩b  c\n");
    }
}
