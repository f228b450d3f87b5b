//! A server at an address: one request is one POST, and its answer a body or a stream of events.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode, Url};
use selkie_channel_core::locked;
use serde_json::value::RawValue;
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;

use crate::ask::{Ask, Era, LEGACY};
use crate::error::McpError;
use crate::event_stream::{EventReader, MAX_EVENT};
use crate::http_answer::{answer_in, failure, is_stream, refused, whole};
use crate::login::Bearer;
use crate::message::{self, Incoming};
use crate::news::{ListBell, ProgressTeller};
use crate::open_calls::Reply;

/// How long a word to a server that answers nothing may take.
const WORD: Duration = Duration::from_secs(5);
/// How often an answer that broke off is asked for again, and the rest before that.
const RESUMES: usize = 10;
const RESUME_REST: Duration = Duration::from_secs(1);
/// The headers that name the session, the protocol's version and the last event that came.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

pub(crate) struct HttpLink {
    /// The server's name in the config.
    pub(crate) server: String,
    pub(crate) client: Client,
    pub(crate) url: Url,
    /// The token of whoever signed in.
    pub(crate) bearer: Option<Bearer>,
    /// What every request carries by the config.
    pub(crate) headers: HeaderMap,
    pub(crate) bell: ListBell,
    pub(crate) tracker: TaskTracker,
    pub(crate) session: Mutex<Option<HeaderValue>>,
    /// The number of the last request.
    pub(crate) last: AtomicU64,
}

/// What a stream of events is read for.
struct Stream {
    /// The number of the request that it answers; none for a stream of news.
    id: Option<u64>,
    era: Era,
    progress: Option<ProgressTeller>,
    reader: EventReader,
}

impl HttpLink {
    pub(crate) async fn ask(self: &Arc<Self>, era: Era, ask: Ask) -> Reply {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let body = message::request(id, ask.method, &ask.params(era, id));
        let headers = self.headers_of(&ask, era);
        // In the newer era the end of the connection says so.
        let is_called_off = ask.can_be_called_off() && era != Era::Modern;
        let mut open = OpenAsk { link: self, era, id: is_called_off.then_some(id) };
        let progress = ask.progress.as_ref().map(ProgressTeller::new);
        let mut stream = Stream { id: Some(id), era, progress, reader: EventReader::behind(None) };
        let answer = self.answer(headers, body, &mut stream).await;
        open.id = None;
        answer
    }

    pub(crate) async fn begin(&self, era: Era) -> Result<(), McpError> {
        self.tell(era, message::initialized()).await
    }

    /// Listens to the news of a server of the older era, until it says no more; whether to listen again.
    pub(crate) async fn listen(&self, era: Era) -> bool {
        let mut headers = self.headers_in(era);
        headers.insert(ACCEPT, EVENTS);
        match self.send(Method::GET, headers, String::new()).await {
            Ok(response) if response.status().is_success() && is_stream(&response) => {
                let reader = EventReader::behind(None);
                let mut stream = Stream { id: None, era, progress: None, reader };
                self.read_events(response, &mut stream).await.ok();
                true
            }
            Ok(response) => response.status().is_server_error(),
            Err(_) => true,
        }
    }

    pub(crate) async fn end(&self) {
        if locked(&self.session).is_some() {
            let headers = self.headers_in(Era::Legacy(LEGACY[0]));
            timeout(WORD, self.send(Method::DELETE, headers, String::new())).await.ok();
        }
    }

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

    fn headers_of(&self, ask: &Ask, era: Era) -> HeaderMap {
        let mut headers = self.headers_in(era);
        if era == Era::Modern {
            headers.insert("mcp-method", HeaderValue::from_static(ask.method));
            headers.extend(ask.headers.clone());
        } else if ask.method == "initialize" {
            // It only just asks which.
            headers.remove(VERSION);
        }
        headers
    }

    /// Sends a request; one that is refused for its token once more with a newer one.
    async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: String,
    ) -> Result<Response, McpError> {
        let request = |headers, body: String| {
            let request = self.client.request(method.clone(), self.url.clone());
            request.headers(headers).body(body).send()
        };
        let granted = match &self.bearer {
            Some(bearer) => bearer.header().await?.map(|token| (bearer, token)),
            None => None,
        };
        let Some((bearer, token)) = granted else {
            return request(headers, body).await.map_err(failure);
        };
        let with = |token: &HeaderValue| {
            let mut headers = headers.clone();
            headers.insert(AUTHORIZATION, token.clone());
            headers
        };
        let response = request(with(&token), body.clone()).await.map_err(failure)?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        // What was refused was not carried out.
        match bearer.after(&token).await? {
            Some(newer) => request(with(&newer), body).await.map_err(failure),
            None => Ok(response),
        }
    }

    /// Tells the server what it does not answer.
    async fn tell(&self, era: Era, body: String) -> Result<(), McpError> {
        let response = self.send(Method::POST, self.headers_in(era), body).await?;
        match response.status().is_success() {
            true => Ok(()),
            false => Err(refused(response, &self.server, false).await),
        }
    }

    async fn answer(&self, headers: HeaderMap, body: String, stream: &mut Stream) -> Reply {
        let has_session = headers.contains_key(SESSION);
        let mut response = self.send(Method::POST, headers, body).await?;
        if let Some(session) = response.headers().get(SESSION) {
            let mut session = session.clone();
            session.set_sensitive(true);
            *locked(&self.session) = Some(session);
        }
        if !response.status().is_success() {
            return Err(refused(response, &self.server, has_session).await);
        }
        if !is_stream(&response) {
            return answer_in(&whole(response, MAX_EVENT).await?, stream.id);
        }
        let broken = || McpError::Gone("ended its answer before it was complete".to_owned());
        for _ in 0..RESUMES {
            if let Some(answer) = self.read_events(response, stream).await? {
                return Ok(answer);
            }
            // A server of the older era may have more of it.
            let last = stream.reader.last_id.take().filter(|_| stream.era != Era::Modern);
            let last = last.ok_or_else(broken)?;
            sleep(stream.reader.retry.unwrap_or(RESUME_REST)).await;
            let mut headers = self.headers_in(stream.era);
            headers.insert(ACCEPT, EVENTS);
            headers.insert(LAST_EVENT, HeaderValue::from_str(&last).map_err(|_| broken())?);
            stream.reader = EventReader::behind(Some(last));
            response =
                self.send(Method::GET, headers, String::new()).await.map_err(|_| broken())?;
            if !response.status().is_success() || !is_stream(&response) {
                break;
            }
        }
        Err(broken())
    }

    /// Reads events until the answer is among them; `None` where the stream ended before.
    async fn read_events(
        &self,
        mut response: Response,
        stream: &mut Stream,
    ) -> Result<Option<Box<RawValue>>, McpError> {
        while let Ok(Some(piece)) = response.chunk().await {
            stream.reader.push(&piece);
            while let Some(event) = stream.reader.event()? {
                match message::read(&event) {
                    Some(Incoming::Answer { id, result }) if id.is_some() && id == stream.id => {
                        return result.map(Some);
                    }
                    Some(message) => self.take(message, stream).await,
                    None => {}
                }
            }
        }
        Ok(None)
    }

    async fn take(&self, message: Incoming, stream: &mut Stream) {
        match message {
            // In the newer era it has no right to ask, and nowhere to get an answer.
            Incoming::Request { reply } if stream.era != Era::Modern => {
                timeout(WORD, self.tell(stream.era, reply)).await.ok();
            }
            Incoming::Progress(news) if Some(news.progress_token) == stream.id => {
                if let Some(progress) = &mut stream.progress {
                    progress.tell(&news);
                }
            }
            Incoming::ListChanged => self.bell.notify_one(),
            _ => {}
        }
    }
}

/// A request whose answer somebody waits for.
struct OpenAsk<'a> {
    link: &'a Arc<HttpLink>,
    era: Era,
    /// Its number, while the server is to be told when nobody waits any more.
    id: Option<u64>,
}

impl Drop for OpenAsk<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let link = Arc::clone(self.link);
            let era = self.era;
            let told = async move { link.tell(era, message::cancelled(id)).await.ok() };
            self.link.tracker.spawn(timeout(WORD, told));
        }
    }
}
