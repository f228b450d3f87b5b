//! One call to the Messaging API: out over one client, back as a result that says what is proven.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use selkie_channel_core::{Redactor, client, json};
use serde_json::Value;

/// How long a call may take.
const CALL_LIMIT: Duration = Duration::from_secs(15);
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(600);

/// What a client is made of.
pub struct Line {
    /// The channel's access token.
    pub token: SecretString,
    /// Ends before `/v2`.
    pub base: Url,
    /// Where received files are; ends before `/v2`.
    pub data: Url,
    /// The one TLS configuration.
    pub tls: Arc<rustls::ClientConfig>,
    /// Knows the token.
    pub redactor: Redactor,
    /// `selkie/<version>`.
    pub user_agent: String,
}

/// A client of one bot. Clones share their connections.
#[derive(Clone)]
pub struct Api {
    client: Client,
    line: Arc<Line>,
}

/// Why there is no answer, by what is proven.
#[derive(Debug)]
pub enum Fault {
    /// Nothing reached LINE.
    NotSent(String),
    /// LINE refused in its own words: nothing was done.
    Refused(Refusal),
    /// The request left and nothing proves what became of it.
    Unclear(String),
}

/// LINE's own refusal.
#[derive(Clone, Debug, Default)]
pub struct Refusal {
    /// HTTP status.
    pub code: u16,
    /// LINE's message and its details, cleaned.
    pub text: String,
    /// Seconds to wait.
    pub retry_after: Option<u64>,
    /// LINE names the request that it accepted before under the same retry key.
    pub accepted: bool,
    /// What came with it.
    pub body: Value,
}

impl Fault {
    /// Says it for a log; never holds a secret.
    pub fn words(self) -> String {
        match self {
            Self::NotSent(why) | Self::Unclear(why) => why,
            Self::Refused(refusal) => format!("LINE says {}: {}", refusal.code, refusal.text),
        }
    }
}

impl Api {
    /// Opens a client.
    ///
    /// # Errors
    /// When the library refuses the TLS configuration.
    pub fn open(line: Line) -> Result<Self, String> {
        let client = client::builder(&line.tls, &line.user_agent)
            .build()
            .map_err(|e| line.redactor.clean(&format!("no HTTP client: {}", client::words(e))))?;
        Ok(Self { client, line: Arc::new(line) })
    }

    /// Posts JSON to a path below `/v2/bot`; a push with its retry key may be repeated.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn post(
        &self,
        path: &str,
        body: &Value,
        retry_key: Option<&str>,
    ) -> Result<Value, Fault> {
        let mut request = self.client.post(url(&self.line.base, path)).json(body);
        if let Some(key) = retry_key {
            request = request.header("X-Line-Retry-Key", key);
        }
        self.call(path, request).await
    }

    /// Asks for a path below `/v2/bot`.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn get(&self, path: &str) -> Result<Value, Fault> {
        self.call(path, self.client.get(url(&self.line.base, path))).await
    }

    /// Asks the content host, e.g. how far a film's preparation is.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn get_data(&self, path: &str) -> Result<Value, Fault> {
        self.call(path, self.client.get(url(&self.line.data, path))).await
    }

    /// Asks the content host for bytes.
    ///
    /// # Errors
    /// In words.
    pub async fn download(&self, path: &str) -> Result<Response, String> {
        let request = self.client.get(url(&self.line.data, path)).timeout(DOWNLOAD_LIMIT);
        let token = self.line.token.expose_secret();
        request.bearer_auth(token).send().await.map_err(|e| self.words("download", e))
    }

    /// Hides secrets in texts of this account.
    pub fn redactor(&self) -> &Redactor {
        &self.line.redactor
    }

    /// Returns a client's error in words.
    pub fn words(&self, what: &str, error: reqwest::Error) -> String {
        self.line.redactor.clean(&format!("{what}: {}", client::words(error)))
    }

    async fn call(&self, path: &str, request: RequestBuilder) -> Result<Value, Fault> {
        let token = self.line.token.expose_secret();
        let sent = request.bearer_auth(token).timeout(CALL_LIMIT).send().await;
        let response = sent.map_err(|e| {
            let not_sent = client::never_left(&e);
            let words = self.words(path, e);
            if not_sent { Fault::NotSent(words) } else { Fault::Unclear(words) }
        })?;
        self.read(path, response).await
    }

    async fn read(&self, path: &str, response: Response) -> Result<Value, Fault> {
        let status = response.status();
        let header = |name: &str| response.headers().get(name).and_then(|v| v.to_str().ok());
        let retry_after = header("retry-after").and_then(|s| s.parse().ok());
        let accepted = header("x-line-accepted-request-id").is_some();
        let bytes = client::read(response, client::MOST_ANSWER).await;
        let bytes = bytes
            .map_err(|why| Fault::Unclear(self.line.redactor.clean(&format!("{path}: {why}"))))?;
        let body = json::read_bytes::<Value>(&bytes).ok().filter(Value::is_object);
        match body {
            Some(body) if status.is_success() => Ok(body),
            Some(body) if status.is_client_error() && body["message"].is_string() => {
                let text = self.line.redactor.clean(&told(&body));
                let code = status.as_u16();
                Err(Fault::Refused(Refusal { code, text, retry_after, accepted, body }))
            }
            // Whoever stands before LINE may limit too; a 429 is a proof by itself.
            _ if status == StatusCode::TOO_MANY_REQUESTS => {
                let text = "Too Many Requests".to_owned();
                Err(Fault::Refused(Refusal { code: 429, text, retry_after, ..Refusal::default() }))
            }
            _ => Err(Fault::Unclear(self.line.redactor.clean(&format!(
                "{path}: HTTP {} that is not an answer from LINE: {}",
                status.as_u16(),
                client::beginning(&bytes)
            )))),
        }
    }
}

/// Joins a path to a base; an http(s) URL always has segments: the settings take no other.
fn url(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(["v2", "bot"]).extend(path.split('/'));
    }
    url
}

/// LINE's message with its details.
fn told(body: &Value) -> String {
    let mut text = body["message"].as_str().unwrap_or_default().to_owned();
    for detail in body["details"].as_array().into_iter().flatten() {
        let (what, place) = (detail["message"].as_str(), detail["property"].as_str());
        text += &format!("; {} ({})", what.unwrap_or_default(), place.unwrap_or_default());
    }
    text
}
