//! slack-morphism's way out: its calls over the HTTP client that all channels have.
//!
//! Its own connector is not used: it brings another client, and takes a page for an empty answer. Only what
//! this crate calls is here, GET and POST of JSON.

use std::error::Error;
use std::iter::IntoIterator;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use selkie_channel_core::{client, json};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use slack_morphism::errors::{
    SlackClientApiError, SlackClientError, SlackClientHttpError, SlackClientHttpProtocolError,
    SlackRateLimitError, map_serde_error,
};
use slack_morphism::multipart_form::FileMultipartData;
use slack_morphism::{
    ClientResult, SlackApiToken, SlackClientApiCallContext, SlackClientHttpConnector,
    SlackClientId, SlackClientSecret,
};

/// Carries calls to one server.
pub struct Connector {
    client: Client,
    /// The Web API, without a slash at its end.
    base: String,
}

impl Connector {
    /// Calls methods below `base` over this client.
    pub fn new(client: Client, base: &Url) -> Self {
        Self { client, base: base.as_str().trim_end_matches('/').to_owned() }
    }
}

async fn call<RS: DeserializeOwned>(
    request: RequestBuilder,
    token: Option<&SlackApiToken>,
) -> ClientResult<RS> {
    let request = match token {
        Some(token) => request.bearer_auth(&token.token_value.0),
        None => request,
    };
    let response = request.send().await.map_err(|error| broken(error.without_url()))?;
    let status = response.status();
    let (json, wait) = (is_json(response.headers()), retry_after(response.headers()));
    let body = client::read(response, client::MOST_ANSWER).await.map_err(broken)?;
    match status {
        StatusCode::OK if json => answer(String::from_utf8_lossy(&body).into_owned()),
        // Whoever stands before Slack may limit too; a 429 is a proof by itself.
        StatusCode::TOO_MANY_REQUESTS => {
            let limit = SlackRateLimitError::new().opt_retry_after(wait);
            Err(SlackClientError::RateLimitError(limit))
        }
        StatusCode::OK | StatusCode::NO_CONTENT => Err(broken(format!(
            "HTTP {} that is not an answer from the Web API: {}",
            status.as_u16(),
            client::beginning(&body)
        ))),
        _ => {
            let error = SlackClientHttpError::new(status);
            let body = String::from_utf8_lossy(&body).into_owned();
            Err(SlackClientError::HttpError(error.with_http_response_body(body)))
        }
    }
}

/// Reads what Slack says with a status of 200, its refusals too.
fn answer<RS: DeserializeOwned>(body: String) -> ClientResult<RS> {
    let said: Value = json::read(&body).map_err(|error| map_serde_error(error, None))?;
    match said.get("error").and_then(Value::as_str) {
        Some(code) => {
            let error = SlackClientApiError::new(code.to_owned());
            Err(SlackClientError::ApiError(error.with_http_response_body(body)))
        }
        None => serde_json::from_value(said).map_err(|error| map_serde_error(error, None)),
    }
}

/// Whether the body is JSON, as far as its type tells: one that is absent or none says nothing against it.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    !kind.contains('/') || kind.eq_ignore_ascii_case("application/json")
}

/// Returns how long an answer asks to wait.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// No answer came, or none that can be read.
fn broken(cause: impl Into<Box<dyn Error + Send + Sync>>) -> SlackClientError {
    let error = SlackClientHttpProtocolError::new().with_cause(cause.into());
    SlackClientError::HttpProtocolError(error)
}

fn unused<'a, RS: Send + 'a>(what: &str) -> BoxFuture<'a, ClientResult<RS>> {
    ready(Err(broken(format!("{what} are not sent over this connector")))).boxed()
}

impl SlackClientHttpConnector for Connector {
    fn create_method_uri_path(&self, method: &str) -> ClientResult<Url> {
        Ok(format!("{}/{method}", self.base).parse()?)
    }

    fn http_get_uri<'a, RS>(
        &'a self,
        full_uri: Url,
        context: SlackClientApiCallContext<'a>,
    ) -> BoxFuture<'a, ClientResult<RS>>
    where
        RS: DeserializeOwned + Send + 'a,
    {
        call(self.client.get(full_uri), context.token).boxed()
    }

    fn http_post_uri<'a, RQ, RS>(
        &'a self,
        full_uri: Url,
        request_body: &'a RQ,
        context: SlackClientApiCallContext<'a>,
    ) -> BoxFuture<'a, ClientResult<RS>>
    where
        RQ: Serialize + Send + Sync,
        RS: DeserializeOwned + Send + 'a,
    {
        let body = match serde_json::to_string(request_body) {
            Ok(body) => body,
            Err(error) => return ready(Err(map_serde_error(error, None))).boxed(),
        };
        let request = self.client.post(full_uri).body(body);
        let request = request.header(CONTENT_TYPE, "application/json; charset=utf-8");
        call(request, context.token).boxed()
    }

    fn http_get_with_client_secret<'a, RS>(
        &'a self,
        _full_uri: Url,
        _client_id: &'a SlackClientId,
        _client_secret: &'a SlackClientSecret,
    ) -> BoxFuture<'a, ClientResult<RS>>
    where
        RS: DeserializeOwned + Send + 'a,
    {
        unused("client secrets")
    }

    fn http_post_uri_multipart_form<'a, 'p, RS, PT, TS>(
        &'a self,
        _full_uri: Url,
        _file: Option<FileMultipartData<'p>>,
        _params: &'p PT,
        _context: SlackClientApiCallContext<'a>,
    ) -> BoxFuture<'a, ClientResult<RS>>
    where
        RS: DeserializeOwned + Send + 'a,
        PT: IntoIterator<Item = (&'p str, Option<TS>)> + Clone,
        TS: AsRef<str> + 'p + Send,
    {
        unused("forms")
    }

    fn http_post_uri_binary<'a, 'p, RS>(
        &'a self,
        _full_uri: Url,
        _content_type: String,
        _data: &'a [u8],
        _context: SlackClientApiCallContext<'a>,
    ) -> BoxFuture<'a, ClientResult<RS>>
    where
        RS: DeserializeOwned + Send + 'a,
    {
        unused("plain bytes")
    }
}

#[cfg(test)]
mod tests;
