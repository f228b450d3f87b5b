//! Asks what a server of the config has named: every address is judged first, every answer bounded.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, RequestBuilder, StatusCode, Url};
use selkie_tools::web::client::GuardedClient;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;

use super::error::LoginError;
use crate::http_answer::{innermost, whole};
use crate::text::short;

/// How long one question may take, its answer included.
const LIMIT: Duration = Duration::from_secs(30);
const MAX_ANSWER: usize = 256 * 1024;
const MAX_ADDRESS: usize = 2_000;

/// The way to a server of the config, and to whom it names.
#[derive(Clone)]
pub(crate) struct Wire {
    network: Arc<GuardedClient>,
    client: Client,
    /// The server's own host: the config may name a private one.
    host: String,
}

struct WireAnswer {
    status: StatusCode,
    body: Vec<u8>,
}

impl WireAnswer {
    /// Reads a refusal: its word, and the beginning of what is said beside it.
    fn refusal(&self, what: &'static str) -> LoginError {
        let said: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let code = match said["error"].as_str().unwrap_or_default() {
            "" => format!("HTTP status {}", self.status.as_u16()),
            code => short(code, 60),
        };
        let words = short(said["error_description"].as_str().unwrap_or_default(), 200);
        LoginError::Refused { what, code, words }
    }
}

impl Wire {
    /// Makes ready to ask; no redirect is followed.
    pub(crate) fn to(network: &Arc<GuardedClient>, url: &Url) -> Result<Self, LoginError> {
        let host = url.host_str().unwrap_or_default().to_owned();
        let client = network.to_host(&host).map_err(LoginError::Unusable)?;
        Ok(Self { network: Arc::clone(network), client, host })
    }

    /// Reads an address, and judges it as every one that tools reach; it is encrypted, or this machine's.
    pub(crate) fn address(&self, what: &'static str, text: &str) -> Result<Url, LoginError> {
        let refused = |why: String| {
            LoginError::Unusable(format!("{what} {:?} is not used: {why}", short(text, 200)))
        };
        if text.len() > MAX_ADDRESS {
            return Err(refused(format!("it has more than {MAX_ADDRESS} characters")));
        }
        let url = Url::parse(text).map_err(|error| refused(error.to_string()))?;
        if !is_secure(&url) {
            return Err(refused("takes https://…, and http:// on this machine alone".to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(refused("takes no name, no password and no #…".to_owned()));
        }
        self.network.judge_beside(&self.host, &url).map_err(refused)?;
        Ok(url)
    }

    /// Asks an address that was judged, with what is written into the question.
    pub(crate) async fn post(
        &self,
        what: &'static str,
        url: Url,
        write: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Vec<u8>, LoginError> {
        let answer = self.send(what, write(self.client.post(url))).await?;
        if answer.status.is_success() { Ok(answer.body) } else { Err(answer.refusal(what)) }
    }

    pub(crate) async fn document<T: DeserializeOwned>(
        &self,
        what: &'static str,
        url: &Url,
    ) -> Result<T, LoginError> {
        let WireAnswer { status, body } = self.send(what, self.client.get(url.clone())).await?;
        let none = |why: String| LoginError::Answer { what, why: format!("{url}: {why}") };
        if !status.is_success() {
            return Err(none(format!("HTTP status {}", status.as_u16())));
        }
        serde_json::from_slice(&body).map_err(|error| none(error.to_string()))
    }

    async fn send(
        &self,
        what: &'static str,
        request: RequestBuilder,
    ) -> Result<WireAnswer, LoginError> {
        let asked = async {
            let response = request.header("accept", "application/json").send().await;
            let response = response.map_err(|error| innermost(&error))?;
            let status = response.status();
            if status.is_redirection() {
                return Err("it redirects, which is not followed".to_owned());
            }
            let body = whole(response, MAX_ANSWER).await.map_err(|error| error.to_string())?;
            Ok(WireAnswer { status, body })
        };
        let late = || Err(format!("it did not answer within {} seconds", LIMIT.as_secs()));
        let asked = timeout(LIMIT, asked).await.unwrap_or_else(|_| late());
        asked.map_err(|why| LoginError::Answer { what, why })
    }
}

/// Whether what goes there is read by nobody else.
fn is_secure(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_here = host == "localhost"
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    url.scheme() == "https" || (url.scheme() == "http" && is_here)
}
