//! Sends one request to a provider and hands back JSON or a stream of events. Every error text leaves
//! here cleaned of secrets and without an address.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, Url};
use selkie_channel_core::Redactor;
use serde::Serialize;
use serde_json::Value;
use tokio::time::timeout;

use crate::domain::clock::SharedClock;
use crate::llm::refusal::{self, Refused};
use crate::llm::sse::{Event, Parser};

/// More than any answer; a server that sends more is broken.
const LARGEST_ANSWER: usize = 16 * 1024 * 1024;
/// More than any error that is worth reading.
const LARGEST_ERROR: usize = 64 * 1024;

/// How long the end of a stream may take after its last event.
const LONGEST_DRAIN: Duration = Duration::from_millis(20);

/// The way to one provider's endpoint.
pub(super) struct Wire {
    /// The client, with the process's TLS configuration.
    pub http: Client,
    /// The whole address.
    pub url: Url,
    /// Version, key and the profile's own headers.
    pub headers: HeaderMap,
    /// The longest silence: until the answer begins, and between two pieces of it.
    pub silence: Duration,
    /// Hides secrets in what a provider says.
    pub redactor: Redactor,
    /// For dates in `Retry-After`.
    pub clock: SharedClock,
}

/// A good answer.
pub(super) enum Answered {
    /// One JSON document.
    Whole(Value),
    /// A stream.
    Events(Events),
}

/// A stream of events, or what is left of it.
pub(super) struct Events {
    source: Option<Response>,
    parser: Parser,
    ready: VecDeque<Event>,
    silence: Duration,
    read: usize,
}

impl Wire {
    /// Posts `body` as JSON.
    ///
    /// # Errors
    /// [`Refused`] with the provider's words, or with status 0 when there was no answer.
    pub async fn post(&self, body: &impl Serialize) -> Result<Answered, Refused> {
        let sent = self.http.post(self.url.clone()).headers(self.headers.clone()).json(body).send();
        let response = match timeout(self.silence, sent).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.refused(0, None, &broken(error))),
            Err(_) => return Err(self.refused(0, None, &silent(self.silence))),
        };
        if !response.status().is_success() {
            return Err(self.read_refusal(response).await);
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("");
        let streams = kind.contains("event-stream");
        let events = Events {
            source: Some(response),
            parser: Parser::default(),
            ready: VecDeque::new(),
            silence: self.silence,
            read: 0,
        };
        if streams { Ok(Answered::Events(events)) } else { self.whole(events).await }
    }

    /// Makes a refusal of what a provider (or the connection) says.
    pub fn refused(&self, status: u16, retry_after: Option<Duration>, says: &str) -> Refused {
        Refused { status, says: self.redactor.clean(says), retry_after }
    }

    /// Makes a refusal of an error object inside a good answer.
    pub fn refused_inside(&self, answer: &Value) -> Refused {
        let error = answer.get("error").unwrap_or(answer);
        self.refused(refusal::inner_status(error), None, &refusal::words(&answer.to_string()))
    }

    async fn read_refusal(&self, mut response: Response) -> Refused {
        let status = response.status().as_u16();
        let wait = refusal::retry_after(response.headers(), self.clock.now());
        let mut body = Vec::new();
        // The status alone decides enough: a body that breaks off is read as far as it goes.
        while let Ok(Ok(Some(piece))) = timeout(self.silence, response.chunk()).await {
            body.extend_from_slice(&piece);
            if body.len() > LARGEST_ERROR {
                break;
            }
        }
        self.refused(status, wait, &refusal::words(&String::from_utf8_lossy(&body)))
    }

    /// Reads an answer that does not call itself a stream; a stream without the name is found out.
    async fn whole(&self, mut events: Events) -> Result<Answered, Refused> {
        let mut body = Vec::new();
        while let Some(piece) = events.piece().await.map_err(|e| self.refused(0, None, &e))? {
            body.extend_from_slice(&piece);
        }
        let text = String::from_utf8_lossy(&body);
        if let Ok(value) = serde_json::from_str(&text) {
            return Ok(Answered::Whole(value));
        }
        let start = text.trim_start();
        if ["data:", "event:", ":"].iter().any(|s| start.starts_with(s)) {
            events.ready = events.parser.push(&body).into();
            return Ok(Answered::Events(events));
        }
        let says = format!("an answer that is no JSON: {}", refusal::words(&text));
        Err(self.refused(200, None, &says))
    }
}

impl Events {
    /// Waits for the next event; `None` at the end of the stream.
    ///
    /// # Errors
    /// In words, when the connection breaks or falls silent.
    pub async fn next(&mut self) -> Result<Option<Event>, String> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            match self.piece().await? {
                Some(piece) => self.ready = self.parser.push(&piece).into(),
                None => return Ok(self.parser.finish()),
            }
        }
    }

    /// Reads what follows the last event, so that the connection can serve the next request. A server
    /// that keeps the stream open costs no more than a moment.
    pub async fn drain(mut self) {
        let rest = async { while let Ok(Some(_)) = self.piece().await {} };
        // Not ended in time: the connection is closed, nothing is lost.
        let _ = timeout(LONGEST_DRAIN, rest).await;
    }

    async fn piece(&mut self) -> Result<Option<bytes::Bytes>, String> {
        let Some(source) = &mut self.source else { return Ok(None) };
        let piece = match timeout(self.silence, source.chunk()).await {
            Ok(piece) => piece.map_err(broken)?,
            Err(_) => return Err(silent(self.silence)),
        };
        self.read += piece.as_ref().map_or(0, bytes::Bytes::len);
        if self.read > LARGEST_ANSWER {
            return Err("the answer is larger than 16 MiB".to_owned());
        }
        if piece.is_none() {
            self.source = None;
        }
        Ok(piece)
    }
}

fn silent(span: Duration) -> String {
    format!("silence for {}", crate::domain::span::Span(span))
}

/// Says why a connection broke, with its causes: reqwest alone says only "error sending request".
fn broken(error: reqwest::Error) -> String {
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
