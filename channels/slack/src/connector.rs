//! slack-morphism's way out: its calls over the HTTP client that all channels have.
//!
//! Its own connector is not used: it brings another client, and takes a page for an empty answer. Only what
//! this crate calls is here, GET and POST of JSON.

use std::error::Error;
use std::iter::IntoIterator;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{RequestBuilder, StatusCode, Url};
use selkie_channel_core::http::{Client, Fault, PlatformReply, Refusal, Reply, Request};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use slack_morphism::errors::{SlackClientError, SlackClientHttpProtocolError, map_serde_error};
use slack_morphism::multipart_form::FileMultipartData;
use slack_morphism::{
    ClientResult, SlackApiToken, SlackClientApiCallContext, SlackClientHttpConnector,
    SlackClientId, SlackClientSecret,
};

use crate::refusal::limited;

/// How long an ordinary call may take.
pub const CALL_LIMIT: Duration = Duration::from_secs(30);

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
    client: &Client,
    request: RequestBuilder,
    url: &Url,
    token: Option<&SlackApiToken>,
) -> ClientResult<RS> {
    let request = match token {
        Some(token) => request.bearer_auth(&token.token_value.0),
        None => request,
    };
    let what = url.path_segments().and_then(Iterator::last).unwrap_or_default();
    let call = Request { what, request, limit: CALL_LIMIT, progress: None };
    client.call(call, said).await.map_err(broken)
}

/// Returns what a call's error proves.
pub fn fault(error: SlackClientError) -> Fault {
    let cause = match error {
        SlackClientError::HttpProtocolError(error) => error.cause,
        _ => None,
    };
    match cause.and_then(|cause| cause.downcast::<Fault>().ok()) {
        Some(fault) => *fault,
        // The library's own errors would hold the whole answer.
        None => Fault::Unclear("an answer that cannot be read".to_owned()),
    }
}

/// What Slack says in an answer.
fn said<RS: DeserializeOwned>(reply: &Reply) -> PlatformReply<RS> {
    let code = reply.json::<Value>().and_then(|body| Some(body["error"].as_str()?.to_owned()));
    let is_jsons = is_json(&reply.headers);
    match (reply.status, code) {
        // Whoever stands before Slack may limit too; a 429 is a proof by itself.
        (StatusCode::TOO_MANY_REQUESTS, _) => PlatformReply::Refused(Refusal {
            status: reply.status.as_u16(),
            ..limited(reply.retry_after())
        }),
        (StatusCode::OK, Some(code)) if is_jsons && is_unsure(&code) => PlatformReply::Unsure(code),
        (StatusCode::OK, Some(code)) if is_jsons => {
            PlatformReply::Refused(Refusal { code, ..reply.refusal() })
        }
        (StatusCode::OK, None) if is_jsons => {
            reply.json().map_or(PlatformReply::Foreign, PlatformReply::Done)
        }
        (StatusCode::OK | StatusCode::NO_CONTENT, _) => PlatformReply::Foreign,
        (status, Some(code)) if status.is_client_error() => {
            PlatformReply::Refused(Refusal { code, ..reply.refusal() })
        }
        (status, _) => PlatformReply::Unsure(format!("HTTP {}", status.as_u16())),
    }
}

/// Slack's own words for "something broke, and part of it may be done".
fn is_unsure(code: &str) -> bool {
    matches!(code, "fatal_error" | "internal_error" | "service_unavailable")
}

/// Whether the body is JSON, as far as its type tells: one that is absent or none says nothing against it.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    !kind.contains('/') || kind.eq_ignore_ascii_case("application/json")
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
        async move {
            let request = self.client.get(full_uri.clone());
            call(&self.client, request, &full_uri, context.token).await
        }
        .boxed()
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
        async move {
            let request = self.client.post(full_uri.clone()).body(body);
            let request = request.header(CONTENT_TYPE, "application/json; charset=utf-8");
            call(&self.client, request, &full_uri, context.token).await
        }
        .boxed()
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
