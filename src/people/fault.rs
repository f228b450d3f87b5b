//! What of a file could not be read: it is kept as it is, and people are told.

use std::fmt;

use selkie_channel_core::shorten_line;

/// Something that could not be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its first line, from 1.
    pub line: usize,
    /// How many lines it has.
    pub lines: usize,
    /// What is wrong and what is taken.
    pub what: String,
}

impl Fault {
    /// Names the lines by their indices.
    pub(super) fn of(lines: std::ops::Range<usize>, what: impl Into<String>) -> Self {
        Self { line: lines.start + 1, lines: lines.len().max(1), what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, lines, what } = self;
        match lines {
            1 => write!(f, "line {line}: {what}"),
            _ => write!(f, "lines {line} to {}: {what}", line + lines - 1),
        }
    }
}

/// The beginning of what people wrote, in one line, to be named in a fault.
pub(super) fn shown(text: &str) -> String {
    const MAX_LENGTH: usize = 60;
    shorten_line(text, MAX_LENGTH)
}
