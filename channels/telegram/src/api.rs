//! One call to the Bot API: out over one client, back as a result that says what is proven.
//!
//! teloxide's payloads and types are used as they are; its `Bot` and its request futures are not, for
//! reasons seen in 0.17: they hide the HTTP status, so that a refusal (proof that nothing was sent) and a
//! 5xx (proof of nothing) look alike; they sleep ten seconds inside a 5xx; they call methods in PascalCase,
//! which the documentation does not; and they need a second HTTP client of an older version.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use selkie_channel_core::{Redactor, client, json};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::upload::Upload;

/// How long an ordinary call may take.
pub const CALL_LIMIT: Duration = Duration::from_secs(30);
/// How long a call with a file may take.
pub const UPLOAD_LIMIT: Duration = Duration::from_secs(120);
/// How long connecting may take, as teloxide has it.
const CONNECT: Duration = Duration::from_secs(5);

/// Opens clients for one bot on one server.
pub struct Line {
    /// The bot's token.
    pub token: SecretString,
    /// Ends before `/bot`.
    pub base: Url,
    /// The one TLS configuration.
    pub tls: Arc<rustls::ClientConfig>,
    /// Knows the token.
    pub redactor: Redactor,
    /// `selkie/<version>`.
    pub user_agent: String,
}

impl Line {
    /// Opens a client with connections of its own.
    ///
    /// # Errors
    /// When the library refuses the TLS configuration.
    pub fn open(&self) -> Result<Api, String> {
        let client = client::builder(&self.tls, &self.user_agent)
            .connect_timeout(CONNECT)
            .build()
            .map_err(|e| self.redactor.clean(&format!("no HTTP client: {}", client::words(e))))?;
        Ok(Api {
            client,
            token: self.token.clone(),
            base: self.base.clone(),
            redactor: self.redactor.clone(),
        })
    }
}

/// A client of one bot. Clones share their connections.
#[derive(Clone)]
pub struct Api {
    client: Client,
    token: SecretString,
    /// Ends before `/bot`.
    base: Url,
    redactor: Redactor,
}

/// A `true` answer of Telegram.
pub struct Answer {
    /// What the method returned.
    pub result: Box<RawValue>,
    /// The server's clock.
    pub date: Option<DateTime<Utc>>,
}

/// Why there is no answer, by what is proven.
#[derive(Debug)]
pub enum Fault {
    /// Nothing reached Telegram.
    NotSent(String),
    /// Telegram refused in its own words: nothing was done.
    Refused(Refusal),
    /// The request left and nothing proves what became of it.
    Unclear(String),
}

/// Telegram's own refusal.
#[derive(Clone, Debug, Default)]
pub struct Refusal {
    /// HTTP status.
    pub code: u16,
    /// Telegram's description, cleaned.
    pub text: String,
    /// Seconds to wait.
    pub retry_after: Option<u64>,
    /// The group's new id.
    pub migrate_to: Option<i64>,
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
    migrate_to_chat_id: Option<i64>,
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
        self.send(request, limit).await.map_err(|e| self.network_fault(method, e))?.read(self).await
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
        match self.send(request, UPLOAD_LIMIT).await {
            Ok(reply) => reply.read(self).await,
            Err(e) if !progress.is_complete() => {
                Err(Fault::NotSent(self.words(method, e) + " before the file had left"))
            }
            Err(e) => Err(self.network_fault(method, e)),
        }
    }

    /// Asks for a file's bytes.
    ///
    /// # Errors
    /// In words, without the URL.
    pub async fn download(&self, path: &str) -> Result<Response, String> {
        let request = self.client.get(self.file_url(path)).timeout(Duration::from_secs(600));
        request.send().await.map_err(|e| self.words("download", e))
    }

    /// Returns `text` without secrets.
    pub fn clean(&self, text: &str) -> String {
        self.redactor.clean(text)
    }

    /// Returns a client's error in words, without the URL, which holds the token.
    pub fn words(&self, what: &str, error: reqwest::Error) -> String {
        self.clean(&format!("{what}: {}", client::words(error)))
    }

    async fn send(
        &self,
        request: RequestBuilder,
        limit: Duration,
    ) -> Result<Reply, reqwest::Error> {
        let response = request.timeout(limit).send().await?;
        Ok(Reply { response })
    }

    fn network_fault(&self, method: &str, error: reqwest::Error) -> Fault {
        let not_sent = client::never_left(&error);
        let words = self.words(method, error);
        if not_sent { Fault::NotSent(words) } else { Fault::Unclear(words) }
    }

    fn method_url(&self, method: &str) -> Url {
        self.url(&self.bot(), [method])
    }

    fn file_url(&self, path: &str) -> Url {
        let mut url = self.url("file", [self.bot().as_str()]);
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(path.split('/'));
        }
        url
    }

    /// The segment that says which bot calls.
    fn bot(&self) -> String {
        format!("bot{}", self.token.expose_secret())
    }

    fn url<'a>(&self, first: &str, rest: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.base.clone();
        // An http(s) URL always has segments: the settings take no other.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push(first).extend(rest);
        }
        url
    }
}

/// An HTTP answer whose body is still to come.
struct Reply {
    response: Response,
}

impl Reply {
    async fn read(self, api: &Api) -> Result<Answer, Fault> {
        let status = self.response.status();
        let date = header(&self.response, "date");
        let date = date.and_then(|d| DateTime::parse_from_rfc2822(&d).ok()).map(|d| d.to_utc());
        let wait = retry_after(&self.response);
        let body = client::read(self.response, client::MOST_ANSWER).await;
        let body = body.map_err(|why| Fault::Unclear(api.clean(&why)))?;
        let body = String::from_utf8_lossy(&body);
        verdict(api, status, &body, wait).map(|result| Answer { result, date })
    }
}

fn verdict(
    api: &Api,
    status: StatusCode,
    body: &str,
    wait: Option<u64>,
) -> Result<Box<RawValue>, Fault> {
    let envelope = json::read::<Envelope>(body).ok();
    match envelope {
        Some(Envelope { ok: true, result: Some(result), .. }) if status.is_success() => Ok(result),
        Some(envelope) if !envelope.ok && status.is_client_error() => {
            let parameters = envelope.parameters.unwrap_or_default();
            Err(Fault::Refused(Refusal {
                code: status.as_u16(),
                text: api.clean(&envelope.description.unwrap_or_default()),
                retry_after: parameters.retry_after.or(wait),
                migrate_to: parameters.migrate_to_chat_id,
            }))
        }
        // Whoever stands before Telegram may limit too; a 429 is a proof by itself.
        None if status == StatusCode::TOO_MANY_REQUESTS => Err(Fault::Refused(Refusal {
            code: status.as_u16(),
            text: "Too Many Requests".to_owned(),
            retry_after: wait,
            migrate_to: None,
        })),
        _ => Err(Fault::Unclear(api.clean(&format!(
            "HTTP {} that is not an answer from the Bot API: {}",
            status.as_u16(),
            client::beginning(body.as_bytes())
        )))),
    }
}

/// Seconds that an answer asks to wait.
pub fn retry_after(response: &Response) -> Option<u64> {
    header(response, "retry-after")?.parse().ok()
}

fn header(response: &Response, name: &str) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
}
