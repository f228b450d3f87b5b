//! One call to the Web API: out through slack-morphism, back as a result that says what is proven.
//!
//! Only `"ok": true` counts. slack-morphism's typed answers are not used: one field of another shape would cost a whole answer whose
//! effect is already there.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::ClientBuilder;
use secrecy::ExposeSecret;
use selkie_channel_core::http::{Client, Fault, Opener};
use selkie_channel_core::settings::{Token, Url};
use selkie_channel_core::{Brakes, MethodLimit};
use serde_json::Value;
use slack_morphism::errors::SlackClientError;
use slack_morphism::{SlackApiToken, SlackClient};

use crate::connector::{self, Connector};
use crate::refusal::{Kind, kind, limited};

/// How long connecting a socket may take.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// When Slack limits a method and names no time.
const LIMITED: Duration = Duration::from_secs(3);

/// Opens clients for one app on one server.
pub struct ClientFactory {
    /// The bot's token.
    pub bot_token: Token,
    /// The app's token.
    pub app_token: Token,
    /// The Web API, without a slash at its end.
    pub base: Url,
    /// More hosts whose files are fetched with the token.
    pub file_hosts: BTreeSet<String>,
    /// Opens the clients.
    pub http: Opener,
}

impl ClientFactory {
    /// Opens a client with connections of its own.
    ///
    /// # Errors
    /// When the library refuses the TLS configuration.
    pub fn open(&self) -> Result<Api, String> {
        // The sockets ask no proxy either: one address for all that is Slack's.
        let client = self.http.open(ClientBuilder::no_proxy)?;
        let token = |text: &Token| SlackApiToken::new(text.expose_secret().into());
        Ok(Api(Arc::new(Inner {
            client: SlackClient::new(Connector::new(client.clone(), &self.base)),
            raw: client,
            bot: token(&self.bot_token),
            app: token(&self.app_token),
            base: self.base.clone(),
            file_hosts: self.file_hosts.clone(),
            brakes: Brakes::default(),
            little: AtomicBool::new(false),
        })))
    }
}

/// A client of one app. Clones share their connections.
#[derive(Clone)]
pub struct Api(Arc<Inner>);

struct Inner {
    client: SlackClient<Connector>,
    /// For what is no method of the Web API; over the same connections.
    raw: Client,
    bot: SlackApiToken,
    app: SlackApiToken,
    base: Url,
    file_hosts: BTreeSet<String>,
    brakes: Brakes,
    /// Slack hands out little of a history at a time.
    little: AtomicBool,
}

impl Api {
    /// Whether Slack was seen to hand out little of a history at a time.
    pub fn gets_little(&self) -> bool {
        self.0.little.load(Ordering::Relaxed)
    }

    /// Notes that it does.
    pub fn note_little(&self) {
        self.0.little.store(true, Ordering::Relaxed);
    }

    /// Calls a method that acts, with JSON parameters.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn call(&self, method: &str, params: &Value) -> Result<Value, Fault> {
        let scope = limit_of(method, params);
        self.has_leave(scope)?;
        let answer = self.post(method, params, &self.0.bot).await;
        self.heed(scope, answer)
    }

    /// Whether no method is limited now.
    pub fn is_unlimited(&self) -> bool {
        self.0.brakes.are_off()
    }

    /// How long a call may not be made.
    pub fn rest(&self, method: &str, params: &Value) -> Option<Duration> {
        self.0.brakes.leave(limit_of(method, params)).err()
    }

    fn has_leave(&self, scope: MethodLimit<'_>) -> Result<(), Fault> {
        self.0.brakes.leave(scope).map_err(|rest| Fault::Refused(limited(Some(rest))))
    }

    /// Remembers how long a method is limited: nothing is asked in vain before.
    fn heed(&self, scope: MethodLimit<'_>, answer: Result<Value, Fault>) -> Result<Value, Fault> {
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
        let scope = MethodLimit { method, place: None, by_place: false };
        self.has_leave(scope)?;
        let params: Vec<(&str, Option<&str>)> =
            params.iter().map(|(k, v)| (*k, Some(*v))).collect();
        let session = self.0.client.open_session(&self.0.bot);
        let call = session.http_session_api.http_get(method, &params, None);
        let answer = verdict(method, call.await);
        self.heed(scope, answer)
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
        verdict(method, call.await)
    }

    /// The client for what is no method of the Web API.
    pub fn raw(&self) -> &Client {
        &self.0.raw
    }

    /// The bot's token.
    pub fn bot(&self) -> &SlackApiToken {
        &self.0.bot
    }

    /// The base URL, and the hosts besides its own whose files are fetched.
    pub fn hosts(&self) -> (&Url, &BTreeSet<String>) {
        (&self.0.base, &self.0.file_hosts)
    }

    /// Returns `text` without secrets.
    pub fn clean(&self, text: &str) -> String {
        self.0.raw.clean(text)
    }
}

fn verdict(method: &str, answer: Result<Value, SlackClientError>) -> Result<Value, Fault> {
    match answer {
        Ok(answer) if answer.get("ok") == Some(&Value::Bool(true)) => Ok(answer),
        Ok(_) => Err(Fault::Unclear(format!("{method}: an answer that is not Slack's"))),
        Err(error) => Err(connector::fault(error)),
    }
}

/// Messages have a limit for each channel, all else has one of its method. That method is not given up everywhere for what
/// one channel has met.
fn limit_of<'a>(method: &'a str, params: &'a Value) -> MethodLimit<'a> {
    let place = params.get("channel").and_then(Value::as_str);
    MethodLimit { method, place, by_place: method == "chat.postMessage" }
}
