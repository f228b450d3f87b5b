//! Pieces of a stream → its lines, however it was cut, in bounded memory.

use crate::AcpError;

/// Bytes of the longest line of an agent.
pub const MAX_LINE: usize = 1024 * 1024;

/// Puts lines together.
#[derive(Debug)]
pub struct LineReader {
    most: usize,
    bytes: Vec<u8>,
    /// Where the next line begins.
    begin: usize,
    /// Up to here no end of it was found.
    looked: usize,
}

impl Default for LineReader {
    fn default() -> Self {
        Self::at_most(MAX_LINE)
    }
}

impl LineReader {
    /// Takes lines of so many bytes.
    pub fn at_most(most: usize) -> Self {
        Self { most, bytes: Vec::new(), begin: 0, looked: 0 }
    }

    /// Takes a piece.
    pub fn push(&mut self, piece: &[u8]) {
        self.bytes.drain(..self.begin);
        if self.bytes.is_empty() {
            // One long line is no reason to keep its room.
            self.bytes.shrink_to(MAX_LINE);
        }
        self.looked -= self.begin;
        self.begin = 0;
        self.bytes.extend_from_slice(piece);
    }

    /// Returns the next line that has come whole, without its end.
    ///
    /// # Errors
    /// It is too long, whole or not.
    pub fn line(&mut self) -> Result<Option<Vec<u8>>, AcpError> {
        let end = self.bytes[self.looked..].iter().position(|byte| *byte == b'\n');
        let length = end.map_or(self.bytes.len(), |end| self.looked + end) - self.begin;
        if length > self.most {
            return Err(AcpError::LongLine);
        }
        let Some(end) = end else {
            self.looked = self.bytes.len();
            return Ok(None);
        };
        let end = self.looked + end;
        let line = self.bytes[self.begin..end].to_vec();
        self.begin = end + 1;
        self.looked = self.begin;
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut reader = LineReader::default();
        let mut lines = Vec::new();
        for piece in pieces {
            reader.push(piece);
            while let Some(line) = reader.line().unwrap() {
                lines.push(line);
            }
        }
        lines
    }

    #[test]
    fn a_line_that_never_ends_is_refused_in_time() {
        let mut reader = LineReader::default();
        let piece = vec![b'a'; 16 * 1024];
        for _ in 0..MAX_LINE / piece.len() {
            reader.push(&piece);
            assert_eq!(reader.line(), Ok(None));
        }
        reader.push(b"a");
        assert_eq!(reader.line(), Err(AcpError::LongLine));
        let mut whole = LineReader::default();
        whole.push(&vec![b'a'; MAX_LINE + 1]);
        whole.push(b"\n");
        assert_eq!(whole.line(), Err(AcpError::LongLine));
    }

    proptest! {
        /// The same lines come out, however the stream was cut; what has no end yet waits.
        #[test]
        fn pieces_do_not_matter(text in "[a\n]{0,80}", cuts in prop::collection::vec(1_usize..9, 1..9)) {
            let mut pieces = Vec::new();
            let mut rest = text.as_bytes();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let cut = rest.split_at(rest.len().min(*cut));
                pieces.push(cut.0);
                rest = cut.1;
            }
            let mut whole: Vec<Vec<u8>> = text.split('\n').map(|line| line.as_bytes().to_vec()).collect();
            whole.pop();
            prop_assert_eq!(lines(&pieces), whole);
        }
    }
}
