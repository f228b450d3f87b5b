//! Sends one request to a provider and hands back JSON or a stream of events. Every error text leaves
//! here cleaned of secrets and without an address.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::multipart::Form;
use reqwest::{Client, RequestBuilder, Response, Url};
use selkie_channel_core::{Redactor, json};
use serde::Serialize;
use serde_json::Value;
use tokio::time::timeout;

use crate::body::{Events, StreamError, broken, silent};
use crate::refusal::{self, IncompleteAnswer, ProviderRefusal, What};
use crate::sse::Event;
use crate::{Reason, halves};
use selkie_domain::clock::SharedClock;
use selkie_domain::screen;
use selkie_domain::usage::Usage;

/// More than any error that is worth reading.
const LARGEST_ERROR: usize = 64 * 1024;

/// The way to one provider's endpoint.
#[derive(Clone)]
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
pub(super) enum GoodAnswer {
    /// One JSON document.
    Whole(Value),
    /// A stream.
    Events(Events),
}

impl Wire {
    /// The same way for requests that use an unfinished feature of Anthropic's.
    pub fn with_beta(&self, beta: &'static str) -> Self {
        let mut wire = self.clone();
        wire.headers.append("anthropic-beta", HeaderValue::from_static(beta));
        wire
    }

    /// Posts `body` as JSON.
    ///
    /// # Errors
    /// [`ProviderRefusal`] with the provider's words, or with status 0 when there was no answer.
    pub async fn post(&self, body: &impl Serialize) -> Result<GoodAnswer, ProviderRefusal> {
        let response = self.sent(body).await?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("");
        let streams = kind.contains("event-stream");
        let events = Events::of(response, self.silence);
        if streams { Ok(GoodAnswer::Events(events)) } else { self.whole(events).await }
    }

    /// Posts `body` as JSON, for an answer of so many bytes at most.
    ///
    /// # Errors
    /// As [`Wire::post`].
    pub async fn post_for_bytes(
        &self,
        body: &impl Serialize,
        most: usize,
    ) -> Result<Vec<u8>, ProviderRefusal> {
        self.bytes(self.sent(body).await?, most).await
    }

    /// Posts a form with files, for an answer of so many bytes at most.
    ///
    /// # Errors
    /// As [`Wire::post`].
    pub async fn post_form(&self, form: Form, most: usize) -> Result<Vec<u8>, ProviderRefusal> {
        self.bytes(self.begun(self.request().multipart(form)).await?, most).await
    }

    /// Gets a document of so many bytes at most; the key goes along to the endpoint's own host alone.
    ///
    /// # Errors
    /// As [`Wire::post`].
    pub async fn get(&self, url: Url, most: usize) -> Result<Vec<u8>, ProviderRefusal> {
        let is_home = url.origin() == self.url.origin();
        let headers = if is_home { self.headers.clone() } else { HeaderMap::new() };
        self.bytes(self.begun(self.http.get(url).headers(headers)).await?, most).await
    }

    async fn bytes(&self, response: Response, most: usize) -> Result<Vec<u8>, ProviderRefusal> {
        let mut events = Events::of(response, self.silence);
        let mut all = Vec::new();
        while let Some(piece) = events.piece().await.map_err(|e| self.broken(&e))? {
            if all.len() + piece.len() > most {
                let message = format!("it is larger than {} KiB", most >> 10);
                return Err(self.trouble(Reason::Garbled, &message));
            }
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    fn request(&self) -> RequestBuilder {
        self.http.post(self.url.clone()).headers(self.headers.clone())
    }

    /// Posts `body`, and waits until a good answer begins.
    async fn sent(&self, body: &impl Serialize) -> Result<Response, ProviderRefusal> {
        self.begun(self.request().json(body)).await
    }

    /// Sends a request, and waits until a good answer begins.
    async fn begun(&self, request: RequestBuilder) -> Result<Response, ProviderRefusal> {
        let response = match timeout(self.silence, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.trouble(Reason::Unreachable, &broken(error))),
            Err(_) => return Err(self.trouble(Reason::Silent, &silent(self.silence))),
        };
        if !response.status().is_success() {
            return Err(self.read_refusal(response).await);
        }
        Ok(response)
    }

    /// Makes a refusal of what a provider says.
    pub fn refused(
        &self,
        status: u16,
        retry_after: Option<Duration>,
        message: &str,
    ) -> ProviderRefusal {
        ProviderRefusal { retry_after, ..self.made(What::Status(status), message) }
    }

    /// Makes a refusal of what came instead of an answer.
    pub fn trouble(&self, reason: Reason, message: &str) -> ProviderRefusal {
        self.made(What::Trouble(reason), message)
    }

    /// Makes a refusal of an answer that ended without being one.
    pub fn unfinished(&self, unfinished: IncompleteAnswer) -> ProviderRefusal {
        let IncompleteAnswer { reason, why, usage } = unfinished;
        ProviderRefusal { usage, ..self.trouble(reason, &why) }
    }

    fn made(&self, what: What, message: &str) -> ProviderRefusal {
        // It is read by people and stands in logs: nothing in it steers a screen.
        let message = screen::shown(&self.redactor.clean(message));
        ProviderRefusal { what, message, retry_after: None, usage: Usage::default() }
    }

    /// Makes a refusal of a stream that ended before its end.
    pub fn broken(&self, stream: &StreamError) -> ProviderRefusal {
        self.trouble(stream.reason, &stream.why)
    }

    /// Reads an event's data; `None` for an empty one, by which some servers keep a connection awake.
    ///
    /// # Errors
    /// When it is no JSON object: a piece of the answer that nobody can read must not go missing unseen.
    pub fn read(&self, event: &Event) -> Result<Option<halves::Event>, ProviderRefusal> {
        if event.data.trim().is_empty() {
            return Ok(None);
        }
        match halves::event(&event.data) {
            Ok(read) if read.value.is_object() => Ok(Some(read)),
            _ => {
                let words = refusal::words(&event.data);
                let message = format!("an event that cannot be read: {words}");
                Err(self.trouble(Reason::Garbled, &message))
            }
        }
    }

    /// Makes a refusal of an error object inside a good answer.
    pub fn refused_inside(&self, answer: &Value) -> ProviderRefusal {
        let answer = answer.get("response").unwrap_or(answer);
        let error = answer.get("error").unwrap_or(answer);
        self.refused(refusal::inner_status(error), None, &refusal::words(&answer.to_string()))
    }

    async fn read_refusal(&self, mut response: Response) -> ProviderRefusal {
        let status = response.status().as_u16();
        if response.status().is_redirection() {
            let target = response.headers().get(LOCATION).map(HeaderValue::as_bytes);
            let target = String::from_utf8_lossy(target.unwrap_or(b"nowhere"));
            return self.refused(status, None, &refusal::words(&format!("it leads to {target}")));
        }
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
    async fn whole(&self, mut events: Events) -> Result<GoodAnswer, ProviderRefusal> {
        let mut body = Vec::new();
        while let Some(piece) = events.piece().await.map_err(|e| self.broken(&e))? {
            body.extend_from_slice(&piece);
        }
        let text = String::from_utf8_lossy(&body);
        if let Ok(value) = json::read(&text) {
            return Ok(GoodAnswer::Whole(value));
        }
        // Perhaps a stream that does not say so; else the words below are the error.
        let start = text.trim_start();
        if ["data:", "event:", ":"].iter().any(|s| start.starts_with(s)) {
            events.ready = events.parser.push(&body).into();
            return Ok(GoodAnswer::Events(events));
        }
        let message = format!("an answer that is not JSON: {}", refusal::words(&text));
        Err(self.trouble(Reason::Garbled, &message))
    }
}
