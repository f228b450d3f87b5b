//! Pieces of a stream → its lines, however it was cut, in bounded memory: of a line that is too long the beginning is told,
//! and the rest of it is passed over.

/// Bytes of the beginning of a long line that are told.
const HEAD: usize = 4 * 1024;
/// Memory that is kept for the next line.
const KEPT: usize = 1024 * 1024;

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// It has come whole.
    Whole(Vec<u8>),
    /// It is too long: this is its beginning.
    Long(Vec<u8>),
}

/// Puts lines together.
#[derive(Debug)]
pub(crate) struct LineReader {
    bytes: Vec<u8>,
    /// Where the next line begins.
    begin: usize,
    /// Up to here no end of it was found.
    looked: usize,
    /// Bytes of a long line that were passed over; `None` outside of one.
    passed: Option<u64>,
    most: usize,
}

impl LineReader {
    /// Takes lines of at most so many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), begin: 0, looked: 0, passed: None, most }
    }

    /// Takes a piece.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.bytes.drain(..self.begin);
        self.looked -= self.begin;
        self.begin = 0;
        if self.bytes.is_empty() && self.bytes.capacity() > KEPT {
            self.bytes = Vec::new();
        }
        self.bytes.extend_from_slice(piece);
    }

    /// Returns the next line that has come whole or is too long.
    pub(crate) fn line(&mut self) -> Option<Line> {
        loop {
            let end = self.bytes[self.looked..].iter().position(|byte| *byte == b'\n');
            let stop = end.map_or(self.bytes.len(), |end| self.looked + end);
            let next = end.map_or(stop, |_| stop + 1);
            self.looked = next;
            if let Some(passed) = self.passed {
                self.passed = end.is_none().then(|| passed + (stop - self.begin) as u64);
                self.begin = next;
                end?;
                continue;
            }
            let line = &self.bytes[self.begin..stop];
            if line.len() > self.most {
                let head = line[..HEAD.min(line.len())].to_vec();
                self.passed = end.is_none().then_some(line.len() as u64);
                self.begin = next;
                return Some(Line::Long(head));
            }
            end?;
            let line = line.strip_suffix(b"\r").unwrap_or(line).to_vec();
            self.begin = next;
            return Some(Line::Whole(line));
        }
    }

    /// Returns how much of a line was passed over that has no end yet.
    pub(crate) fn passed(&self) -> u64 {
        self.passed.unwrap_or_default()
    }
}
