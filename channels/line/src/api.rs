//! One call to the Messaging API: out over one client, back as a result that says what is proven.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{RequestBuilder, Response};
use secrecy::ExposeSecret;
use selkie_channel_core::http::{Client, Fault, Opener, PlatformReply, Refusal, Reply, Request};
use selkie_channel_core::settings::{Token, Url};
use serde_json::Value;

/// The code of a refusal that names the request which LINE accepted before, under the same retry key.
pub const ACCEPTED: &str = "accepted";
/// How long a call may take.
const CALL_LIMIT: Duration = Duration::from_secs(15);
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(600);

/// What a client is made of.
pub struct ClientFactory {
    /// The channel's access token.
    pub token: Token,
    /// Ends before `/v2`.
    pub base: Url,
    /// Where received files are; ends before `/v2`.
    pub data: Url,
    /// Opens the client.
    pub http: Opener,
}

/// A client of one bot. Clones share their connections.
#[derive(Clone)]
pub struct Api {
    client: Client,
    factory: Arc<ClientFactory>,
}

impl Api {
    /// Opens a client.
    ///
    /// # Errors
    /// When the library refuses the TLS configuration.
    pub fn open(factory: ClientFactory) -> Result<Self, String> {
        let client = factory.http.open(|builder| builder)?;
        Ok(Self { client, factory: Arc::new(factory) })
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
        let mut request = self.client.post(url(&self.factory.base, path)).json(body);
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
        self.call(path, self.client.get(url(&self.factory.base, path))).await
    }

    /// Asks the content host, e.g. how far a film's preparation is.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn get_data(&self, path: &str) -> Result<Value, Fault> {
        self.call(path, self.client.get(url(&self.factory.data, path))).await
    }

    /// Asks the content host for bytes.
    ///
    /// # Errors
    /// In words.
    pub async fn download(&self, path: &str) -> Result<Response, String> {
        let request = self.client.get(url(&self.factory.data, path)).timeout(DOWNLOAD_LIMIT);
        self.client.download(request.bearer_auth(self.factory.token.expose_secret())).await
    }

    /// The client, for what streams.
    pub fn client(&self) -> &Client {
        &self.client
    }

    async fn call(&self, what: &str, request: RequestBuilder) -> Result<Value, Fault> {
        let request = request.bearer_auth(self.factory.token.expose_secret());
        let call = Request { what, request, limit: CALL_LIMIT, progress: None };
        self.client.call(call, said).await
    }
}

/// What LINE says in an answer.
fn said(reply: &Reply) -> PlatformReply<Value> {
    match reply.object() {
        Some(body) if reply.status.is_success() => PlatformReply::Done(body),
        Some(body) if reply.status.is_client_error() && body["message"].is_string() => {
            let accepted = reply.header("x-line-accepted-request-id").map(|_| ACCEPTED);
            let code = accepted.unwrap_or_default().to_owned();
            PlatformReply::Refused(Refusal { code, words: told(&body), ..reply.refusal() })
        }
        _ => PlatformReply::Foreign,
    }
}

/// Joins a path to a base.
fn url(base: &Url, path: &str) -> reqwest::Url {
    base.below(["v2", "bot"].into_iter().chain(path.split('/')))
}

/// LINE's message with its details.
fn told(body: &Value) -> String {
    let mut text = body["message"].as_str().unwrap_or_default().to_owned();
    for detail in body["details"].as_array().into_iter().flatten() {
        let what = detail["message"].as_str();
        let place = detail["property"].as_str();
        text += &format!("; {} ({})", what.unwrap_or_default(), place.unwrap_or_default());
    }
    text
}
