//! A server at an address: one request is one POST, and its answer a body or a stream of events.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE,
};
use reqwest::{Client, Method, Response, StatusCode, Url};
use selkie_channel_core::locked;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::ask::{Ask, Era, LEGACY};
use crate::error::McpError;
use crate::event_stream::{EventReader, MAX_EVENT};
use crate::message::{self, Incoming};
use crate::news::News;
use crate::open_calls::Answered;
use crate::param_headers::header_value;
use crate::progress::{ProgressNews, ProgressTeller};
use crate::text::short;

/// Bytes of a body that tells of a failure.
const MAX_REFUSAL: usize = 64 * 1024;
/// Characters of it that are told.
const MAX_WORDS: usize = 300;
/// How long a word to a server that answers nothing may take.
const WORD: Duration = Duration::from_secs(5);
/// A server may send us on so often, and only within itself.
const REDIRECTS: usize = 3;
/// How often a stream that broke off is asked for again, and the rest before that.
const RESUMES: usize = 10;
const RESUME_REST: Duration = Duration::from_secs(1);
/// The header that names the session.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The header that names the protocol's version.
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// An address.
pub(crate) struct HttpLink {
    shared: Arc<Shared>,
    last: AtomicU64,
    tracker: TaskTracker,
}

struct Shared {
    client: Client,
    url: Url,
    /// What every request carries.
    headers: HeaderMap,
    session: Mutex<Option<HeaderValue>>,
    news: News,
}

/// What a stream of events has said of one request.
struct Stream<'a> {
    /// The request's number; none for the stream of news.
    id: Option<u64>,
    era: Era,
    progress: Option<&'a mut ProgressTeller>,
    reader: EventReader,
}

impl HttpLink {
    /// Speaks with a server.
    pub(crate) fn new(
        client: Client,
        url: Url,
        headers: HeaderMap,
        news: News,
        tracker: &TaskTracker,
    ) -> Self {
        let session = Mutex::default();
        let shared = Arc::new(Shared { client, url, headers, session, news });
        Self { shared, last: AtomicU64::new(0), tracker: tracker.clone() }
    }

    /// Asks, and waits for the answer. Dropped, it calls the request off.
    pub(crate) async fn ask(&self, era: Era, ask: Ask) -> Answered {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let body = message::request(id, ask.method, &ask.params(era, id));
        let mut headers = self.shared.headers_in(era);
        match era {
            Era::Modern => modern_headers(&mut headers, &ask)?,
            // It only just asks which.
            Era::Legacy(_) if ask.method == "initialize" => {
                headers.remove(VERSION);
            }
            Era::Legacy(_) => {}
        }
        let mut open = OpenAsk { link: self, era, id: Some(id) };
        if !ask.can_be_called_off || era == Era::Modern {
            // The end of the connection says so.
            open.id = None;
        }
        let mut progress = ask.progress.as_ref().map(ProgressTeller::new);
        let answer = self.answer(Request { era, id, body, headers }, progress.as_mut()).await;
        open.id = None;
        answer
    }

    /// Tells the server that the handshake is done.
    pub(crate) async fn begin(&self, era: Era) -> Result<(), McpError> {
        let body = message::notice("notifications/initialized", None);
        self.shared.tell(era, body).await
    }

    /// Listens to the news of a server with a handshake, until it says no more; whether it has any.
    pub(crate) async fn listen(&self, era: Era) -> bool {
        let mut headers = self.shared.headers_in(era);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let response = self.shared.send(Method::GET, headers, String::new()).await;
        match response {
            Ok(response) if response.status().is_success() && is_stream(&response) => {
                let reader = EventReader::default();
                let mut stream = Stream { id: None, era, progress: None, reader };
                self.shared.read_events(response, &mut stream).await.ok();
                true
            }
            Ok(response) => response.status().is_server_error(),
            Err(_) => true,
        }
    }

    /// Ends the session, where there is one.
    pub(crate) async fn end(&self) {
        if locked(&self.shared.session).is_some() {
            let headers = self.shared.headers_in(Era::Legacy(LEGACY[0]));
            let ended = self.shared.send(Method::DELETE, headers, String::new());
            timeout(WORD, ended).await.ok();
            locked(&self.shared.session).take();
        }
    }

    async fn answer(&self, request: Request, progress: Option<&mut ProgressTeller>) -> Answered {
        let Request { era, id, body, headers } = request;
        let shared = &self.shared;
        let response = shared.send(Method::POST, headers, body).await?;
        shared.keep_session(&response, era);
        if !response.status().is_success() {
            return Err(shared.refused(response).await);
        }
        if !is_stream(&response) {
            let bytes = whole(response, MAX_EVENT).await?;
            return answer_in(&bytes, id);
        }
        let reader = EventReader::default();
        let mut stream = Stream { id: Some(id), era, progress, reader };
        let mut response = response;
        for _ in 0..=RESUMES {
            if let Some(answer) = shared.read_events(response, &mut stream).await? {
                return answer;
            }
            let Some(last) = stream.reader.last_id.clone().filter(|_| era != Era::Modern) else {
                break;
            };
            tokio::time::sleep(stream.reader.retry.unwrap_or(RESUME_REST)).await;
            response = shared.resumed(era, &last).await?;
            stream.reader = stream.reader.again();
        }
        Err(McpError::Gone("ended its answer before it was complete".to_owned()))
    }
}

/// A request as it leaves.
struct Request {
    era: Era,
    id: u64,
    body: String,
    headers: HeaderMap,
}

/// A request whose answer somebody waits for.
struct OpenAsk<'a> {
    link: &'a HttpLink,
    era: Era,
    /// Its number, while the server is to be told when nobody waits any more.
    id: Option<u64>,
}

impl Drop for OpenAsk<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let shared = Arc::clone(&self.link.shared);
            let era = self.era;
            self.link.tracker.spawn(async move {
                timeout(WORD, shared.tell(era, message::cancelled(id))).await.ok();
            });
        }
    }
}

impl Shared {
    fn headers_in(&self, era: Era) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.insert(VERSION, HeaderValue::from_static(era.version()));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, both);
        if let Some(session) = locked(&self.session).clone().filter(|_| era != Era::Modern) {
            headers.insert(SESSION, session);
        }
        headers
    }

    /// Sends a request; where the server moves it within itself, there.
    async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: String,
    ) -> Result<Response, McpError> {
        let mut url = self.url.clone();
        for _ in 0..=REDIRECTS {
            let request = self.client.request(method.clone(), url.clone());
            let request = request.headers(headers.clone()).body(body.clone());
            let response = request.send().await.map_err(failure)?;
            if !response.status().is_redirection() {
                return Ok(response);
            }
            url = next(&response, &url)?;
        }
        Err(McpError::Protocol(format!("redirects more than {REDIRECTS} times")))
    }

    /// Tells the server what it does not answer.
    async fn tell(&self, era: Era, body: String) -> Result<(), McpError> {
        let response = self.send(Method::POST, self.headers_in(era), body).await?;
        match response.status().is_success() {
            true => Ok(()),
            false => Err(self.refused(response).await),
        }
    }

    fn keep_session(&self, response: &Response, era: Era) {
        if let Some(session) = response.headers().get(SESSION).filter(|_| era != Era::Modern) {
            let mut session = session.clone();
            session.set_sensitive(true);
            *locked(&self.session) = Some(session);
        }
    }

    async fn resumed(&self, era: Era, last: &str) -> Result<Response, McpError> {
        let mut headers = self.headers_in(era);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Ok(last) = HeaderValue::from_str(last) {
            headers.insert("last-event-id", last);
        }
        let gone = |_| McpError::Gone("broke off its answer".to_owned());
        let response = self.send(Method::GET, headers, String::new()).await.map_err(gone)?;
        match response.status().is_success() && is_stream(&response) {
            true => Ok(response),
            false => Err(McpError::Gone("broke off its answer".to_owned())),
        }
    }

    /// Says what a status means that is no success.
    async fn refused(&self, response: Response) -> McpError {
        let status = response.status();
        let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|it| it.to_str().ok());
        let challenge = challenge.map(|challenge| short(challenge, 1_000)).unwrap_or_default();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return McpError::SignIn { status: status.as_u16(), challenge };
        }
        let has_session = locked(&self.session).is_some();
        let body = whole(response, MAX_REFUSAL).await.unwrap_or_default();
        match message::refusal(&body) {
            _ if status == StatusCode::NOT_FOUND && has_session => McpError::SessionLost,
            Some(refusal) => refusal,
            None => {
                let words = short(&String::from_utf8_lossy(&body), MAX_WORDS);
                McpError::Status { status: status.as_u16(), words }
            }
        }
    }

    /// Reads events until the answer is among them; `None` where the stream ended before.
    async fn read_events(
        &self,
        mut response: Response,
        stream: &mut Stream<'_>,
    ) -> Result<Option<Answered>, McpError> {
        // What broke off may be asked for again.
        while let Ok(Some(piece)) = response.chunk().await {
            stream.reader.push(&piece);
            while let Some(event) = stream.reader.event()? {
                if let Some(answer) = self.take(&event, stream).await {
                    return Ok(Some(answer));
                }
            }
        }
        Ok(None)
    }

    async fn take(&self, event: &[u8], stream: &mut Stream<'_>) -> Option<Answered> {
        match message::read(event)? {
            Incoming::Answer { id, result } if Some(id) == stream.id => return Some(result),
            Incoming::Answer { .. } | Incoming::Stray => {}
            Incoming::Request { id, method } => {
                if let Some(reply) =
                    message::reply(&id, &method).filter(|_| stream.era != Era::Modern)
                {
                    timeout(WORD, self.tell(stream.era, reply)).await.ok();
                }
            }
            Incoming::Notice { method, params } if method == "notifications/progress" => {
                let news = ProgressNews::read(params.as_deref());
                let news = news.filter(|news| Some(news.progress_token) == stream.id);
                if let (Some(news), Some(progress)) = (news, stream.progress.as_mut()) {
                    progress.tell(&news);
                }
            }
            Incoming::Notice { method, .. } => self.news.take(&method),
        }
        None
    }
}

fn modern_headers(headers: &mut HeaderMap, ask: &Ask) -> Result<(), McpError> {
    let wrong = || McpError::Settings("an argument does not fit into a header".to_owned());
    headers.insert("mcp-method", HeaderValue::from_static(ask.method));
    if let Some(tool) = &ask.tool {
        let value = HeaderValue::from_str(&header_value(tool)).map_err(|_| wrong())?;
        headers.insert("mcp-name", value);
    }
    for header in &ask.headers {
        let name = format!("mcp-param-{}", header.name.to_ascii_lowercase());
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        headers.insert(name, HeaderValue::from_str(&header.value).map_err(|_| wrong())?);
    }
    Ok(())
}

/// Returns where an answer sends us, where that is the same server and the request is to be made there as it is: nothing
/// of it goes anywhere else.
fn next(response: &Response, from: &Url) -> Result<Url, McpError> {
    let location =
        response.headers().get(LOCATION).map(|it| String::from_utf8_lossy(it.as_bytes()));
    let to = location.and_then(|location| from.join(&location).ok());
    let keeps = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT];
    match to {
        Some(to) if to.origin() == from.origin() && keeps.contains(&response.status()) => Ok(to),
        Some(to) => Err(McpError::Protocol(format!(
            "redirects the request to {}, where it was not sent: only url decides where requests go",
            short(to.as_str(), MAX_WORDS)
        ))),
        None => Err(McpError::Protocol("redirects the request nowhere".to_owned())),
    }
}

fn answer_in(bytes: &[u8], id: u64) -> Answered {
    match message::read(bytes) {
        Some(Incoming::Answer { id: of, result }) if of == id => result,
        _ => Err(message::refusal(bytes).unwrap_or_else(|| {
            McpError::Protocol("sent an answer that is none to the request".to_owned())
        })),
    }
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}

async fn whole(mut response: Response, most: usize) -> Result<Vec<u8>, McpError> {
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(broken)? {
        if bytes.len() + piece.len() > most {
            return Err(McpError::Protocol(format!("sent an answer of more than {most} bytes")));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// What was never asked may be asked again; of all else nobody knows what came of it.
fn failure(error: reqwest::Error) -> McpError {
    let words = innermost(&error);
    match error.is_connect() || error.is_builder() {
        true => McpError::Unreachable(words),
        false => McpError::Gone(format!("broke off ({words})")),
    }
}

fn broken(error: reqwest::Error) -> McpError {
    McpError::Gone(format!("broke off its answer ({})", innermost(&error)))
}

fn innermost(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    short(&inner.to_string(), MAX_WORDS)
}
