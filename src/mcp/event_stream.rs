//! Pieces of a body of server-sent events → the events, each of bounded size.

use std::time::Duration;

use crate::error::McpError;
use crate::line::{Line, LineReader};

/// Bytes of one event's data, and of one line.
pub(crate) const MAX_EVENT: usize = 16 * 1024 * 1024;
/// Bytes of an event's id that is kept.
const MAX_ID: usize = 1024;
/// The longest rest that a server may ask for.
const MAX_RETRY: Duration = Duration::from_secs(30);

/// Puts events together.
pub(crate) struct EventReader {
    lines: LineReader,
    data: Vec<u8>,
    has_data: bool,
    /// The id of the last event that had one.
    pub(crate) last_id: Option<String>,
    /// How long to rest before the stream is asked for again.
    pub(crate) retry: Option<Duration>,
}

impl Default for EventReader {
    fn default() -> Self {
        let lines = LineReader::new(MAX_EVENT);
        Self { lines, data: Vec::new(), has_data: false, last_id: None, retry: None }
    }
}

impl EventReader {
    /// Reads on where a stream broke off.
    pub(crate) fn again(&self) -> Self {
        Self { last_id: self.last_id.clone(), retry: self.retry, ..Self::default() }
    }

    /// Takes a piece.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.lines.push(piece);
    }

    /// Returns the data of the next event that has come whole.
    ///
    /// # Errors
    /// It is too long.
    pub(crate) fn event(&mut self) -> Result<Option<Vec<u8>>, McpError> {
        while let Some(line) = self.lines.line() {
            let Line::Whole(line) = line else { return Err(too_long()) };
            if !line.is_empty() {
                self.field(&line)?;
            } else if std::mem::take(&mut self.has_data) {
                return Ok(Some(std::mem::take(&mut self.data)));
            }
        }
        Ok(None)
    }

    fn field(&mut self, line: &[u8]) -> Result<(), McpError> {
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => {
                if self.data.len() + value.len() > MAX_EVENT {
                    return Err(too_long());
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"id" if value.len() <= MAX_ID => {
                self.last_id = String::from_utf8(value.to_vec()).ok().filter(|id| !id.is_empty());
            }
            b"retry" => {
                let millis = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                self.retry = millis.map(|millis| Duration::from_millis(millis).min(MAX_RETRY));
            }
            _ => {}
        }
        Ok(())
    }
}

fn too_long() -> McpError {
    McpError::Protocol(format!("sent an event of more than {MAX_EVENT} bytes"))
}
