//! Pieces of a body of server-sent events → the events, each of bounded size.

use std::time::Duration;

use selkie_acp::LineReader;

use crate::error::McpError;

/// Bytes of one event's data, and of one line.
pub(crate) const MAX_EVENT: usize = 16 * 1024 * 1024;
/// Bytes of an event's id that is kept.
const MAX_ID: usize = 1024;
/// The longest rest that a server may ask for.
const MAX_RETRY: Duration = Duration::from_secs(30);

pub(crate) struct EventReader {
    lines: LineReader,
    data: Option<Vec<u8>>,
    /// The id of the last event that had one.
    pub(crate) last_id: Option<String>,
    /// How long to rest before the stream is asked for again.
    pub(crate) retry: Option<Duration>,
}

impl EventReader {
    /// Reads a stream that goes on behind this event.
    pub(crate) fn behind(last_id: Option<String>) -> Self {
        Self { lines: LineReader::at_most(MAX_EVENT), data: None, last_id, retry: None }
    }

    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.lines.push(piece);
    }

    /// Returns the data of the next event that has come whole.
    pub(crate) fn event(&mut self) -> Result<Option<Vec<u8>>, McpError> {
        while let Some(line) = self.lines.line().map_err(|_| too_long())? {
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            if !line.is_empty() {
                self.field(line);
            } else if let Some(data) = self.data.take() {
                return Ok(Some(data));
            }
            if self.data.as_ref().is_some_and(|data| data.len() > MAX_EVENT) {
                return Err(too_long());
            }
        }
        Ok(None)
    }

    fn field(&mut self, line: &[u8]) {
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || std::str::from_utf8(value).ok();
        match &line[..colon] {
            b"data" => {
                if let Some(data) = &mut self.data {
                    data.push(b'\n');
                }
                self.data.get_or_insert_default().extend_from_slice(value);
            }
            b"id" if value.len() <= MAX_ID => self.last_id = text().map(str::to_owned),
            b"retry" => {
                let millis = text().and_then(|text| text.parse().ok());
                self.retry = millis.map(|millis| Duration::from_millis(millis).min(MAX_RETRY));
            }
            _ => {}
        }
    }
}

fn too_long() -> McpError {
    McpError::Protocol(format!("sent an event of more than {MAX_EVENT} bytes"))
}
