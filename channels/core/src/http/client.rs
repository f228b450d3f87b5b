//! The HTTP client of a channel: what all of them are, and what comes of a call.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, RequestBuilder, Response, StatusCode, Url};
use rustls::ClientConfig;

use super::body::{MAX_ANSWER, beginning, read};
use super::fault::{Fault, Refusal, never_left, words};
use super::progress::Progress;
use super::reply::{PlatformReply, Reply};
use crate::{BuildContext, Redactor, json};

/// How long connecting may take, the handshake included.
const CONNECT: Duration = Duration::from_secs(10);
/// Shorter than any server's keep-alive, so that a call seldom goes into a connection that is closing.
const IDLE: Duration = Duration::from_secs(20);
const IDLE_PER_HOST: usize = 64;

/// Opens clients for one platform.
#[derive(Clone)]
pub struct Opener {
    /// Who answers, as people are told.
    pub platform: &'static str,
    /// The one TLS configuration.
    pub tls: Arc<ClientConfig>,
    /// Knows the secrets.
    pub redactor: Redactor,
    /// `selkie/<version>`.
    pub user_agent: String,
}

impl Opener {
    /// Opens clients with what the daemon lends a channel.
    pub fn new(platform: &'static str, context: &BuildContext) -> Self {
        let BuildContext { tls, redactor, user_agent, .. } = context;
        Self {
            platform,
            tls: Arc::clone(tls),
            redactor: redactor.clone(),
            user_agent: user_agent.clone(),
        }
    }

    /// Opens a client with connections of its own; `with` changes what a platform needs otherwise.
    ///
    /// # Errors
    /// When the library refuses the TLS configuration.
    pub fn open(
        &self,
        with: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Result<Client, String> {
        let built = with(builder(&self.tls, &self.user_agent)).build();
        let client =
            built.map_err(|e| self.redactor.clean(&format!("no HTTP client: {}", words(e))))?;
        Ok(Client { client, platform: self.platform, redactor: self.redactor.clone() })
    }
}

/// Begins a client. Where an answer leads on is for the caller to judge: a redirect would carry a token away.
/// Files arrive as they lie: nothing is unpacked on the way.
#[expect(clippy::disallowed_methods, reason = "the one home of the channels' HTTP clients")]
fn builder(tls: &ClientConfig, user_agent: &str) -> ClientBuilder {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.clone())
        .http1_only()
        .no_gzip()
        .user_agent(user_agent)
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(IDLE_PER_HOST)
}

/// A client of one platform. Clones share their connections.
#[derive(Clone)]
pub struct Client {
    client: reqwest::Client,
    platform: &'static str,
    redactor: Redactor,
}

/// A call.
pub struct Request<'a> {
    /// What is called, for errors.
    pub what: &'a str,
    /// The request.
    pub request: RequestBuilder,
    /// How long it may take, its answer included.
    pub limit: Duration,
    /// How much of a body is left that is streamed: while some is, nothing is done.
    pub progress: Option<Progress>,
}

impl Client {
    /// Begins a question.
    pub fn get(&self, url: Url) -> RequestBuilder {
        self.client.get(url)
    }

    /// Begins a call.
    pub fn post(&self, url: Url) -> RequestBuilder {
        self.client.post(url)
    }

    /// Makes a call; `read` says what the platform's answer means.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn call<T>(
        &self,
        Request { what, request, limit, progress }: Request<'_>,
        read: impl FnOnce(&Reply) -> PlatformReply<T> + Send,
    ) -> Result<T, Fault> {
        let sent = request.timeout(limit).send().await;
        let response = sent.map_err(|error| self.unanswered(what, error, progress.as_ref()))?;
        let reply = self.whole(what, response).await?;
        match read(&reply) {
            PlatformReply::Done(done) => Ok(done),
            PlatformReply::Refused(refusal) => Err(Fault::Refused(self.cleaned(refusal, &reply))),
            PlatformReply::Unsure(why) => Err(self.unclear(what, &why)),
            // Whoever stands before a platform may limit too; a 429 is a proof by itself.
            PlatformReply::Foreign if reply.status == StatusCode::TOO_MANY_REQUESTS => {
                let words = "Too Many Requests".to_owned();
                Err(Fault::Refused(self.cleaned(Refusal { words, ..reply.refusal() }, &reply)))
            }
            PlatformReply::Foreign => {
                let status = reply.status.as_u16();
                let begins = beginning(&reply.body);
                let who = self.platform;
                let why = format!("HTTP {status} that is not an answer from {who}: {begins}");
                Err(self.unclear(what, &why))
            }
        }
    }

    /// Asks for bytes, which are still to come.
    ///
    /// # Errors
    /// In words, without the URL.
    pub async fn download(&self, request: RequestBuilder) -> Result<Response, String> {
        request.send().await.map_err(|e| self.words("download", e))
    }

    /// Hides this platform's secrets.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Returns `text` without secrets.
    pub fn clean(&self, text: &str) -> String {
        self.redactor.clean(text)
    }

    /// Returns a client's error in words, without the URL, which may hold a token.
    pub fn words(&self, what: &str, error: reqwest::Error) -> String {
        self.clean(&format!("{what}: {}", words(error)))
    }

    fn unanswered(&self, what: &str, error: reqwest::Error, progress: Option<&Progress>) -> Fault {
        if progress.is_some_and(|progress| !progress.is_complete()) {
            return Fault::NotSent(self.words(what, error) + " before the file had left");
        }
        let not_sent = never_left(&error);
        let words = self.words(what, error);
        if not_sent { Fault::NotSent(words) } else { Fault::Unclear(words) }
    }

    async fn whole(&self, what: &str, response: Response) -> Result<Reply, Fault> {
        let status = response.status();
        let headers = response.headers().clone();
        let body = read(response, MAX_ANSWER).await.map_err(|why| self.unclear(what, &why))?;
        Ok(Reply { status, headers, body })
    }

    fn unclear(&self, what: &str, why: &str) -> Fault {
        Fault::Unclear(self.clean(&format!("{what}: {why}")))
    }

    fn cleaned(&self, refusal: Refusal, reply: &Reply) -> Refusal {
        Refusal {
            platform: self.platform,
            code: self.clean(&refusal.code),
            words: self.clean(&refusal.words),
            body: json::read(&self.clean(&String::from_utf8_lossy(&reply.body)))
                .unwrap_or_default(),
            ..refusal
        }
    }
}

#[cfg(test)]
mod tests;
