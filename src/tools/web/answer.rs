//! A server's answer whose body is still to come: read piece by piece, never more than was asked for.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode, Url};
use tokio::time::{Instant, timeout_at};

use super::failure::RequestError;

/// An answer, its body not read.
pub(super) struct OpenResponse {
    /// Where it comes from, after redirects.
    pub(super) url: Url,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// The body is longer than what may be read of it.
    pub(super) truncated: bool,
    response: Response,
    limit: Limit,
}

/// What may be read of an answer, and how long it may take.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    /// Not after this moment,
    pub(super) until: Instant,
    /// which is so long after the start.
    pub(super) span: Duration,
    /// Bytes of the body that may still be read.
    pub(super) bytes: u64,
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

impl OpenResponse {
    /// Takes an answer; of its body what `limit` allows.
    pub(super) fn new(response: Response, url: Url, limit: Limit) -> Self {
        let status = response.status();
        let headers = response.headers().clone();
        Self { url, status, headers, truncated: false, response, limit }
    }

    /// Lowers what may be read of the body.
    pub(super) fn at_most(&mut self, bytes: u64) {
        self.limit.bytes = self.limit.bytes.min(bytes);
    }

    /// Reads on; `None` at the end, and where no more may be read.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, RequestError> {
        if self.truncated {
            return Ok(None);
        }
        let next = timeout_at(self.limit.until, self.response.chunk()).await;
        let next = next.map_err(|_| RequestError::Late(self.limit.span))?;
        let Some(mut piece) = next? else { return Ok(None) };
        let room = usize::try_from(self.limit.bytes).unwrap_or(usize::MAX);
        self.truncated = piece.len() > room;
        piece.truncate(room);
        self.limit.bytes -= piece.len() as u64;
        Ok(Some(piece))
    }

    /// Reads all of it that may be read.
    pub(super) async fn whole(mut self) -> Result<Got, RequestError> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece().await? {
            body.extend_from_slice(&piece);
        }
        let Self { url, status, headers, truncated, .. } = self;
        Ok(Got { url, status, headers, body, truncated })
    }
}
