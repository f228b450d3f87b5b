//! One call to the Web API: out over slack-morphism's client, back as a result that says what is proven.
//!
//! slack-morphism has no time limits of its own, hence every call is wrapped in one, and it takes a page
//! that is no JSON for an empty answer, hence only `"ok": true` counts. Its typed answers are not used:
//! one field of another shape would cost a whole answer whose effect is already there.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
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

use crate::brakes::Brakes;
use crate::fault::{self, Fault, Refusal};
use crate::refusal::{Kind, kind};

/// How long an ordinary call may take.
pub const CALL_LIMIT: Duration = Duration::from_secs(30);
/// How long connecting may take.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// When Slack limits a method and names no time.
const LIMITED: Duration = Duration::from_secs(3);

/// How connections are made.
pub type Connector = HttpsConnector<HttpConnector>;

/// Opens clients for one app on one server.
pub struct Line {
    /// The bot's token.
    pub bot_token: SecretString,
    /// The app's token.
    pub app_token: SecretString,
    /// The Web API, without a slash at its end.
    pub base: Url,
    /// More hosts whose files are fetched with the token.
    pub file_hosts: BTreeSet<String>,
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
            file_hosts: self.file_hosts.clone(),
            brakes: Brakes::default(),
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
    file_hosts: BTreeSet<String>,
    brakes: Brakes,
    redactor: Redactor,
    user_agent: String,
}

impl Api {
    /// Calls a method that acts, with JSON parameters.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn call(&self, method: &str, params: &Value) -> Result<Value, Fault> {
        // Messages have a limit for each channel, all else has one for the workspace.
        let scope = match (method, params.get("channel").and_then(Value::as_str)) {
            ("chat.postMessage", Some(channel)) => format!("{method} {channel}"),
            _ => method.to_owned(),
        };
        self.0.brakes.leave(&scope).map_err(|rest| Fault::limited(Some(rest)))?;
        let answer = self.post(method, params, &self.0.bot).await;
        self.heed(scope, answer)
    }

    /// Remembers how long a method is limited: nothing is asked in vain before.
    fn heed(&self, scope: String, answer: Result<Value, Fault>) -> Result<Value, Fault> {
        if let Err(Fault::Refused(refusal)) = &answer
            && kind(refusal) == Kind::Limited
        {
            self.0.brakes.hold(scope, refusal.retry_after.unwrap_or(LIMITED));
        }
        answer
    }

    /// Calls a method that reads; Slack takes no JSON for most of them.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn ask(&self, method: &str, params: &[(&str, &str)]) -> Result<Value, Fault> {
        self.0.brakes.leave(method).map_err(|rest| Fault::limited(Some(rest)))?;
        let params: Vec<(&str, Option<&str>)> =
            params.iter().map(|(k, v)| (*k, Some(*v))).collect();
        let session = self.0.client.open_session(&self.0.bot);
        let call = session.http_session_api.http_get(method, &params, None);
        let answer = self.verdict(method, timeout(CALL_LIMIT, call).await);
        self.heed(method.to_owned(), answer)
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

    /// The client for bytes.
    pub fn raw(&self) -> &Client<Connector, Full<Bytes>> {
        &self.0.raw
    }

    /// The bot's token.
    pub fn bot(&self) -> &SlackApiToken {
        &self.0.bot
    }

    /// `selkie/<version>`.
    pub fn user_agent(&self) -> &str {
        &self.0.user_agent
    }

    /// The base URL, and the hosts besides its own whose files are fetched.
    pub fn hosts(&self) -> (&Url, &BTreeSet<String>) {
        (&self.0.base, &self.0.file_hosts)
    }

    /// Returns `text` without secrets.
    pub fn clean(&self, text: &str) -> String {
        self.0.redactor.clean(text)
    }

    fn verdict(
        &self,
        method: &str,
        answer: Result<Result<Value, SlackClientError>, tokio::time::error::Elapsed>,
    ) -> Result<Value, Fault> {
        let fault = match answer {
            Ok(Ok(answer)) if answer.get("ok") == Some(&Value::Bool(true)) => return Ok(answer),
            Ok(Ok(_)) => Fault::Unclear(format!("{method}: an answer that is not Slack's")),
            Ok(Err(error)) => fault::of_client(error),
            Err(_) => Fault::Unclear(format!("{method}: no answer in time")),
        };
        Err(match fault {
            Fault::NotSent(why) => Fault::NotSent(self.clean(&format!("{method}: {why}"))),
            Fault::Unclear(why) => Fault::Unclear(self.clean(&format!("{method}: {why}"))),
            Fault::Refused(refusal) => Fault::Refused(Refusal {
                code: self.clean(&refusal.code),
                needed: refusal.needed.map(|needed| self.clean(&needed)),
                ..refusal
            }),
        })
    }
}
