//! One call to the Bot API: out over one client, back as a result that says what is proven.
//!
//! teloxide's payloads and types are used as they are; its `Bot` and its request futures are not, for
//! reasons seen in 0.17: they hide the HTTP status, so that a refusal (proof that nothing was sent) and a
//! 5xx (proof of nothing) look alike; they sleep ten seconds inside a 5xx; they call methods in PascalCase,
//! which the documentation does not; and they need a second HTTP client of an older version.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::Response;
use secrecy::ExposeSecret;
use selkie_channel_core::http::{Client, Fault, Opener, PlatformReply, Refusal, Reply, Request};
use selkie_channel_core::settings::{Token, Url};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::upload::Upload;

/// How long an ordinary call may take.
pub const CALL_LIMIT: Duration = Duration::from_secs(30);
/// How long a call with a file may take.
pub const UPLOAD_LIMIT: Duration = Duration::from_secs(120);
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(600);
/// How long connecting may take, as teloxide has it.
const CONNECT: Duration = Duration::from_secs(5);

/// Opens clients for one bot on one server.
pub struct ClientFactory {
    /// The bot's token.
    pub token: Token,
    /// Ends before `/bot`.
    pub base: Url,
    /// Opens the clients.
    pub http: Opener,
}

impl ClientFactory {
    /// Opens a client with connections of its own.
    ///
    /// # Errors
    /// When the library refuses the TLS configuration.
    pub fn open(&self) -> Result<Api, String> {
        let client = self.http.open(|builder| builder.connect_timeout(CONNECT))?;
        Ok(Api { client, token: self.token.clone(), base: self.base.clone() })
    }
}

/// A client of one bot. Clones share their connections.
#[derive(Clone)]
pub struct Api {
    client: Client,
    token: Token,
    /// Ends before `/bot`.
    base: Url,
}

/// A `true` answer of Telegram.
pub struct Answer {
    /// What the method returned.
    pub result: Box<RawValue>,
    /// The server's clock.
    pub date: Option<DateTime<Utc>>,
}

#[derive(Deserialize)]
struct Envelope {
    ok: bool,
    result: Option<Box<RawValue>>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    parameters: Option<Parameters>,
}

#[derive(Default, Deserialize)]
struct Parameters {
    retry_after: Option<u64>,
}

impl Api {
    /// Calls `method` with JSON parameters.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn call(
        &self,
        method: &str,
        params: &Value,
        limit: Duration,
    ) -> Result<Answer, Fault> {
        let request = self.client.post(self.method_url(method)).json(params);
        let call = Request { what: method, request, limit, progress: None };
        self.client.call(call, said).await
    }

    /// Calls `method` with `params` as form fields and a file streamed from disk.
    ///
    /// # Errors
    /// By what is proven; a file that was not sent to its end is a proof.
    pub async fn upload(
        &self,
        method: &str,
        params: &Value,
        upload: &Upload,
    ) -> Result<Answer, Fault> {
        let (form, progress) = upload.form(params).await.map_err(Fault::NotSent)?;
        let request = self.client.post(self.method_url(method)).multipart(form);
        let progress = Some(progress);
        let call = Request { what: method, request, limit: UPLOAD_LIMIT, progress };
        self.client.call(call, said).await
    }

    /// Asks for a file's bytes.
    ///
    /// # Errors
    /// In words, without the URL.
    pub async fn download(&self, path: &str) -> Result<Response, String> {
        let url = self.base.below(["file", &self.bot()].into_iter().chain(path.split('/')));
        self.client.download(self.client.get(url).timeout(DOWNLOAD_LIMIT)).await
    }

    /// The client, for what streams.
    pub fn client(&self) -> &Client {
        &self.client
    }

    fn method_url(&self, method: &str) -> reqwest::Url {
        self.base.below([self.bot().as_str(), method])
    }

    /// The segment that says which bot calls.
    fn bot(&self) -> String {
        format!("bot{}", self.token.expose_secret())
    }
}

/// What Telegram says in an answer.
fn said(reply: &Reply) -> PlatformReply<Answer> {
    match reply.json::<Envelope>() {
        Some(Envelope { ok: true, result: Some(result), .. }) if reply.status.is_success() => {
            PlatformReply::Done(Answer { result, date: reply.date() })
        }
        Some(envelope) if !envelope.ok && reply.status.is_client_error() => {
            let refusal = reply.refusal();
            let wait = envelope.parameters.unwrap_or_default().retry_after;
            let retry_after = wait.map(Duration::from_secs).or(refusal.retry_after);
            let words = envelope.description.unwrap_or_default();
            PlatformReply::Refused(Refusal { words, retry_after, ..refusal })
        }
        _ => PlatformReply::Foreign,
    }
}
