//! The body of an answer as it comes: pieces, events, and why there are no more.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Response;
use tokio::time::timeout;

use crate::Reason;
use crate::sse::{Event, Parser};

/// More than any answer, with its pictures twice: some servers repeat all of it in a stream's last event. A server that
/// sends more is broken.
const LARGEST_ANSWER: usize = 32 * 1024 * 1024;
/// More than any single event of a stream, with all pictures of an answer in it.
const LARGEST_EVENT: usize = 16 * 1024 * 1024;
/// How long the end of a stream may take after its last event.
const MAX_DRAIN: Duration = Duration::from_millis(20);

/// A stream of events, or what is left of it.
pub(super) struct Events {
    source: Option<Response>,
    pub(super) parser: Parser,
    pub(super) ready: VecDeque<Event>,
    silence: Duration,
    read: usize,
}

impl Events {
    pub(super) fn of(response: Response, silence: Duration) -> Self {
        let parser = Parser::default();
        let ready = VecDeque::new();
        Self { source: Some(response), parser, ready, silence, read: 0 }
    }

    /// Waits for the next event; `None` at the end of the stream.
    ///
    /// # Errors
    /// When the connection breaks, falls silent, or brings more than any answer.
    pub async fn next(&mut self) -> Result<Option<Event>, StreamError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            match self.piece().await? {
                Some(piece) => {
                    self.ready = self.parser.push(&piece).into();
                    if self.parser.held() > LARGEST_EVENT {
                        return Err(StreamError::garbled("an event is larger than 16 MiB"));
                    }
                }
                None => return Ok(self.parser.finish()),
            }
        }
    }

    /// Reads what follows the last event, so that the connection can serve the next request. A server
    /// that keeps the stream open costs no more than a moment.
    pub async fn drain(mut self) {
        let rest = async { while let Ok(Some(_)) = self.piece().await {} };
        // Not ended in time: the connection is closed, nothing is lost.
        let _ = timeout(MAX_DRAIN, rest).await;
    }

    pub(super) async fn piece(&mut self) -> Result<Option<bytes::Bytes>, StreamError> {
        let Some(source) = &mut self.source else { return Ok(None) };
        let silent = |_| StreamError { reason: Reason::Silent, why: silent(self.silence) };
        let piece = timeout(self.silence, source.chunk()).await.map_err(silent)?;
        let piece = piece.map_err(|e| StreamError::garbled(&broken(e)))?;
        self.read += piece.as_ref().map_or(0, bytes::Bytes::len);
        if self.read > LARGEST_ANSWER {
            return Err(StreamError::garbled("it is larger than 32 MiB"));
        }
        if piece.is_none() {
            self.source = None;
        }
        Ok(piece)
    }
}

/// Why a stream ended before its end.
pub(super) struct StreamError {
    pub(super) reason: Reason,
    pub(super) why: String,
}

impl StreamError {
    fn garbled(why: &str) -> Self {
        Self { reason: Reason::Garbled, why: why.to_owned() }
    }
}

pub(super) fn silent(span: Duration) -> String {
    format!("silence for {}", selkie_domain::span::Span(span))
}

/// Says why a connection broke, with its causes: reqwest alone says only "error sending request".
pub(super) fn broken(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !words.contains(&more) {
            words.push_str(": ");
            words.push_str(&more);
        }
        cause = inner.source();
    }
    words
}
