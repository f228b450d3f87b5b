//! A server's answer whose body is still to come: read piece by piece, never more than was asked for.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode, Url};
use tokio::time::{Instant, timeout_at};

use super::client::in_words;
use crate::tools::ToolError;

/// An answer, its body not read.
pub(super) struct Opened {
    /// Where it comes from, after redirects.
    pub(super) url: Url,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// The body is longer than what may be read of it.
    pub(super) truncated: bool,
    response: Response,
    left: u64,
    until: Instant,
    limit: Duration,
}

/// An answer whose body has been read.
pub(super) struct Got {
    /// Where it came from, after redirects.
    pub(super) url: Url,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// The body is longer than was asked for.
    pub(super) truncated: bool,
}

impl Opened {
    /// Takes an answer; of its body at most `left` bytes, until a moment that is `limit` after the start.
    pub(super) fn new(
        response: Response,
        url: Url,
        left: u64,
        (until, limit): (Instant, Duration),
    ) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        Self { url, status, headers, truncated: false, response, left, until, limit }
    }

    /// Lowers what may be read of the body.
    pub(super) fn at_most(&mut self, bytes: u64) {
        self.left = self.left.min(bytes);
    }

    /// Reads on; `None` at the end, and where no more may be read.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, ToolError> {
        if self.truncated {
            return Ok(None);
        }
        let next = timeout_at(self.until, self.response.chunk()).await;
        let next = next.map_err(|_| late(self.limit))?;
        let Some(mut piece) = next.map_err(|e| ToolError::Tell(in_words(&e)))? else {
            return Ok(None);
        };
        let room = usize::try_from(self.left).unwrap_or(usize::MAX);
        self.truncated = piece.len() > room;
        piece.truncate(room);
        self.left -= piece.len() as u64;
        Ok(Some(piece))
    }

    /// Reads all of it that may be read.
    pub(super) async fn whole(mut self) -> Result<Got, ToolError> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece().await? {
            body.extend_from_slice(&piece);
        }
        let Self { url, status, headers, truncated, .. } = self;
        Ok(Got { url, status, headers, body, truncated })
    }
}

/// Says that a server took too long.
pub(super) fn late(limit: Duration) -> ToolError {
    ToolError::tell(format!("the server did not answer within {} s", limit.as_secs_f64()))
}
