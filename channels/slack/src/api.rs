//! One call to the Web API: out over slack-morphism's client, back as a result that says what is proven.
//!
//! slack-morphism has no time limits of its own, hence every call is wrapped in one, and it takes a page
//! that is no JSON for an empty answer, hence only `"ok": true` counts. Its typed answers are not used:
//! one field of another shape would cost a whole answer whose effect is already there.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION, USER_AGENT};
use hyper::{Method, Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use secrecy::{ExposeSecret, SecretString};
use selkie_channel_core::Redactor;
use serde_json::Value;
use slack_morphism::errors::SlackClientError;
use slack_morphism::prelude::SlackClientHyperConnector;
use slack_morphism::{SlackApiToken, SlackClient};
use tokio::time::timeout;
use url::Url;

/// How long an ordinary call may take.
pub const CALL_LIMIT: Duration = Duration::from_secs(30);
/// How long the bytes of a file may take.
const UPLOAD_LIMIT: Duration = Duration::from_secs(120);
/// How long connecting may take.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const MOST_REDIRECTS: usize = 3;

type Connector = HttpsConnector<HttpConnector>;

/// Opens clients for one app on one server.
pub struct Line {
    /// The bot's token.
    pub bot_token: SecretString,
    /// The app's token.
    pub app_token: SecretString,
    /// The Web API, without a slash at its end.
    pub base: Url,
    /// The one TLS configuration.
    pub tls: Arc<rustls::ClientConfig>,
    /// Knows the tokens.
    pub redactor: Redactor,
    /// `selkie/<version>`.
    pub user_agent: String,
}

impl Line {
    /// Opens a client with connections of its own.
    pub fn open(&self) -> Api {
        let base = self.base.as_str().trim_end_matches('/');
        let client = SlackClientHyperConnector::with_connector(self.connector());
        let token = |text: &SecretString| SlackApiToken::new(text.expose_secret().into());
        Api(Arc::new(Inner {
            client: SlackClient::new(client.with_slack_api_url(base)),
            raw: Client::builder(TokioExecutor::new()).build(self.connector()),
            bot: token(&self.bot_token),
            app: token(&self.app_token),
            base: self.base.clone(),
            redactor: self.redactor.clone(),
            user_agent: self.user_agent.clone(),
        }))
    }

    fn connector(&self) -> Connector {
        let mut tls = (*self.tls).clone();
        // The connector writes its own list and refuses one that is there.
        tls.alpn_protocols.clear();
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_LIMIT));
        HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(tcp)
    }
}

/// A client of one app. Clones share their connections.
#[derive(Clone)]
pub struct Api(Arc<Inner>);

struct Inner {
    client: SlackClient<SlackClientHyperConnector<Connector>>,
    /// For bytes, which slack-morphism holds as text.
    raw: Client<Connector, Full<Bytes>>,
    bot: SlackApiToken,
    app: SlackApiToken,
    base: Url,
    redactor: Redactor,
    user_agent: String,
}

/// Why there is no answer, by what is proven.
#[derive(Debug)]
pub enum Fault {
    /// Nothing reached Slack.
    NotSent(String),
    /// Slack refused in its own words: nothing was done.
    Refused(Refusal),
    /// The request left and nothing proves what became of it.
    Unclear(String),
}

/// Slack's own refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Slack's word: `not_in_channel`.
    pub code: String,
    /// The scope that is missing, when Slack names one.
    pub needed: Option<String>,
    /// How long to wait, when Slack says so.
    pub retry_after: Option<Duration>,
}

impl Api {
    /// Calls a method that acts, with JSON parameters.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn call(&self, method: &str, params: &Value) -> Result<Value, Fault> {
        self.post(method, params, &self.0.bot).await
    }

    /// Calls a method that reads; Slack takes no JSON for most of them.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn ask(&self, method: &str, params: &[(&str, &str)]) -> Result<Value, Fault> {
        let params: Vec<(&str, Option<&str>)> =
            params.iter().map(|(k, v)| (*k, Some(*v))).collect();
        let session = self.0.client.open_session(&self.0.bot);
        let call = session.http_session_api.http_get(method, &params, None);
        self.verdict(method, timeout(CALL_LIMIT, call).await)
    }

    /// Asks for the address of a new socket; it can be used once.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn socket_url(&self) -> Result<String, Fault> {
        let answer =
            self.post("apps.connections.open", &serde_json::json!({}), &self.0.app).await?;
        let url = answer.get("url").and_then(Value::as_str).filter(|url| !url.is_empty());
        url.map(str::to_owned)
            .ok_or_else(|| Fault::Unclear("apps.connections.open named no URL".to_owned()))
    }

    async fn post(
        &self,
        method: &str,
        params: &Value,
        token: &SlackApiToken,
    ) -> Result<Value, Fault> {
        let session = self.0.client.open_session(token);
        let call = session.http_session_api.http_post(method, params, None);
        self.verdict(method, timeout(CALL_LIMIT, call).await)
    }

    /// Hands a file's bytes to the address that Slack named for them; no token goes there.
    ///
    /// # Errors
    /// In words; nobody sees the file before the upload is completed.
    pub async fn put(&self, url: &str, bytes: Bytes) -> Result<(), String> {
        let url = Url::parse(url).map_err(|_| "Slack named no upload URL".to_owned())?;
        let request = self.request(Method::POST, &url, bytes, None);
        let sent = timeout(UPLOAD_LIMIT, self.0.raw.request(request?)).await;
        let response = sent
            .map_err(|_| "the upload took too long".to_owned())?
            .map_err(|e| self.clean(&format!("the upload broke off: {}", chain(&e))))?;
        match response.status().is_success() {
            true => Ok(()),
            false => Err(format!("the upload server answered HTTP {}", response.status().as_u16())),
        }
    }

    /// Asks for a file's bytes; the token goes to Slack's own hosts and the base URL's only.
    ///
    /// # Errors
    /// In words for a person, without the URL.
    pub async fn download(&self, url: &str) -> Result<Response<Incoming>, String> {
        let broken = || "Slack named no address for this file".to_owned();
        let mut url = Url::parse(url).map_err(|_| broken())?;
        for _ in 0..=MOST_REDIRECTS {
            if !self.is_slacks(&url) {
                let host = url.host_str().unwrap_or_default();
                return Err(format!("the file lies on {host}, which is not Slack's: not fetched"));
            }
            let request = self.request(Method::GET, &url, Bytes::new(), Some(&self.0.bot))?;
            let answer = timeout(CALL_LIMIT, self.0.raw.request(request)).await;
            let response = answer
                .map_err(|_| "the file server does not answer; try again later".to_owned())?
                .map_err(|e| {
                    self.clean(&format!("the file could not be fetched: {}", chain(&e)))
                })?;
            if !response.status().is_redirection() {
                return Ok(response);
            }
            let next = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            url = next.and_then(|next| url.join(next).ok()).ok_or_else(broken)?;
        }
        Err("the file server sends us from one address to the next".to_owned())
    }

    /// Whether the token may be shown to this address.
    fn is_slacks(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let slack = host == "slack.com" || host.ends_with(".slack.com");
        (url.scheme() == "https" && slack) || url.origin() == self.0.base.origin()
    }

    /// Returns `text` without secrets.
    pub fn clean(&self, text: &str) -> String {
        self.0.redactor.clean(text)
    }

    fn request(
        &self,
        method: Method,
        url: &Url,
        bytes: Bytes,
        token: Option<&SlackApiToken>,
    ) -> Result<Request<Full<Bytes>>, String> {
        let mut request = Request::builder()
            .method(method)
            .uri(url.as_str())
            .header(USER_AGENT, &self.0.user_agent)
            .header(CONTENT_TYPE, "application/octet-stream");
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, format!("Bearer {}", token.token_value.0));
        }
        request.body(Full::new(bytes)).map_err(|_| "the address cannot be asked".to_owned())
    }

    fn verdict(
        &self,
        method: &str,
        answer: Result<Result<Value, SlackClientError>, tokio::time::error::Elapsed>,
    ) -> Result<Value, Fault> {
        let fault = match answer {
            Ok(Ok(answer)) if answer.get("ok") == Some(&Value::Bool(true)) => return Ok(answer),
            Ok(Ok(_)) => Fault::Unclear(format!("{method}: an answer that is not Slack's")),
            Ok(Err(error)) => fault(error),
            Err(_) => Fault::Unclear(format!("{method}: no answer in time")),
        };
        Err(match fault {
            Fault::NotSent(why) => Fault::NotSent(self.clean(&format!("{method}: {why}"))),
            Fault::Unclear(why) => Fault::Unclear(self.clean(&format!("{method}: {why}"))),
            refused => refused,
        })
    }
}

/// Tells by what is proven.
fn fault(error: SlackClientError) -> Fault {
    match error {
        SlackClientError::ApiError(error) if is_unsure(&error.code) => Fault::Unclear(error.code),
        SlackClientError::ApiError(error) => {
            let body = error.http_response_body.unwrap_or_default();
            Fault::Refused(refusal(error.code, &body))
        }
        SlackClientError::RateLimitError(error) => Fault::Refused(Refusal {
            code: "ratelimited".to_owned(),
            needed: None,
            retry_after: error.retry_after,
        }),
        SlackClientError::HttpError(error) => {
            let body = error.http_response_body.unwrap_or_default();
            let status = error.status_code;
            let code = serde_json::from_str::<Value>(&body).ok();
            let code = code.and_then(|v| v.get("error")?.as_str().map(str::to_owned));
            match code {
                Some(code) if status.is_client_error() => Fault::Refused(refusal(code, &body)),
                _ => Fault::Unclear(format!("HTTP {}", status.as_u16())),
            }
        }
        SlackClientError::HttpProtocolError(error) => {
            let cause = error.cause.as_deref();
            let client = cause.and_then(|c| c.downcast_ref::<hyper_util::client::legacy::Error>());
            let words = cause.map_or_else(String::new, |cause| chain(cause));
            match client.is_some_and(hyper_util::client::legacy::Error::is_connect) {
                true => Fault::NotSent(words),
                false => Fault::Unclear(words),
            }
        }
        // What is left is an answer that cannot be read: its words would hold the whole body.
        _ => Fault::Unclear("an answer that cannot be read".to_owned()),
    }
}

/// Slack's own words for "something broke, and part of it may be done".
fn is_unsure(code: &str) -> bool {
    matches!(code, "fatal_error" | "internal_error" | "service_unavailable")
}

fn refusal(code: String, body: &str) -> Refusal {
    let body = serde_json::from_str::<Value>(body).unwrap_or_default();
    let needed = body.get("needed").and_then(Value::as_str).map(str::to_owned);
    Refusal { code, needed, retry_after: None }
}

/// Reads the next bytes of a download; `None` at its end.
///
/// # Errors
/// In words when the connection broke.
pub async fn next_chunk(response: &mut Response<Incoming>) -> Result<Option<Bytes>, String> {
    loop {
        let Some(frame) = response.body_mut().frame().await else { return Ok(None) };
        let frame = frame.map_err(|e| format!("the download broke off: {}", chain(&e)))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
}

/// An error and its causes, which is where a client says what really happened.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = cause.source();
    }
    text
}
