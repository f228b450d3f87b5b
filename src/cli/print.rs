//! Prints for people and for scripts: tables as wide as the terminal, JSON, and a closed pipe is no error.

use std::io::{self, Write};
use std::os::fd::AsFd;

use serde::Serialize;

use super::table::{Last, laid_out};
use super::wrap;
use selkie_guard::visible::harmless;

/// The width of a terminal where nobody says another.
const USUAL: usize = 80;
/// In fewer cells no table can be read.
const NARROWEST: usize = 40;
/// How far the rest of a long line is indented.
const HANGING: usize = 4;

/// Writes to standard output, without what steers a terminal: much of it others have written. A reader that has
/// gone (`| head`) is not our failure.
pub fn out(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let text = harmless(text);
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes sentences to standard output: broken between words at a terminal, and elsewhere as they are, for scripts.
pub fn prose(text: &str) -> io::Result<()> {
    match columns(io::stdout()) {
        Some(columns) => out(&hanging(text, columns)),
        None => out(text),
    }
}

/// Says why something is so, on standard error. A terminal that was closed reads nothing: no reason for a panic.
pub fn told(why: &str) {
    let why = match columns(io::stderr()) {
        Some(columns) => hanging(why, columns),
        None => harmless(why),
    };
    writeln!(io::stderr(), "{why}").ok();
}

/// Prints a value as indented JSON.
pub fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(out(&text)?)
}

/// How many cells the terminal has that is written to; where none is, as many as most have.
pub fn width() -> usize {
    columns(io::stdout()).unwrap_or(USUAL)
}

fn columns(terminal: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(terminal).ok();
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    columns.map(|columns| columns.max(NARROWEST))
}

/// Lays a table out in so many cells, two blanks between its columns; nothing of it is lost.
pub fn table(rows: &[Vec<String>], width: usize) -> String {
    laid_out(rows, Last::Wraps, width)
}

/// The same, each row on one line: what the last column has no room for is cut.
pub fn summaries(rows: &[Vec<String>], width: usize) -> String {
    laid_out(rows, Last::IsCut, width)
}

/// Breaks lines that are too long for so many cells, what they go on with indented.
pub fn hanging(text: &str, width: usize) -> String {
    wrap::hanging(&harmless(text), HANGING, width)
}
