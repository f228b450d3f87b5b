//! The webhook: the signature over the raw body first, then the events, and 200 only when they are stored.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_LENGTH};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use ring::hmac;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// LINE's own bodies are a few kilobytes.
const MOST: usize = 1024 * 1024;
/// A body that has not arrived by then never will.
const PATIENCE: Duration = Duration::from_secs(15);

/// What a webhook brought, signed and read; it waits for its answer.
pub struct Knock {
    /// The events.
    pub events: Vec<Value>,
    /// Told whether they are stored.
    pub stored: oneshot::Sender<bool>,
}

/// Where webhooks arrive.
#[derive(Clone)]
pub struct Door {
    key: hmac::Key,
    knocks: mpsc::Sender<Knock>,
}

impl Door {
    /// Opens for bodies signed with this channel secret.
    pub fn new(secret: &str, knocks: mpsc::Sender<Knock>) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), knocks }
    }

    /// Serves the webhook at `path`.
    pub fn routes(self, path: &str) -> Router {
        Router::new().route(path, any(receive)).with_state(self)
    }

    /// Checks a signature in constant time.
    fn is_signed(&self, headers: &HeaderMap, body: &[u8]) -> bool {
        let signature = headers.get("x-line-signature").and_then(|v| v.to_str().ok());
        let signature = signature.and_then(|s| STANDARD.decode(s.trim()).ok());
        signature.is_some_and(|s| hmac::verify(&self.key, body, &s).is_ok())
    }
}

async fn receive(State(door): State<Door>, request: Request) -> Response {
    if request.method() != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")]).into_response();
    }
    let (head, body) = request.into_parts();
    let body = match take(&head.headers, body).await {
        Ok(body) => body,
        Err(status) => return status.into_response(),
    };
    if !door.is_signed(&head.headers, &body) {
        tracing::warn!(
            "a webhook with a wrong signature: check line.channel_secret, or somebody knocks who is not LINE"
        );
        return refuse(StatusCode::UNAUTHORIZED, "invalid signature");
    }
    let read = serde_json::from_slice::<Value>(&body).ok();
    let Some(events) = read.as_ref().and_then(|body| body["events"].as_array()) else {
        tracing::warn!(bytes = body.len(), "a signed webhook without a list of events");
        return refuse(StatusCode::BAD_REQUEST, "no list of events");
    };
    // The console's Verify button sends none.
    if events.is_empty() {
        return axum::Json(json!({})).into_response();
    }
    store(&door, events.clone()).await
}

/// Reads the body, up to the limit.
async fn take(headers: &HeaderMap, body: Body) -> Result<Bytes, StatusCode> {
    let told = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|told| told > MOST) {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    match timeout(PATIENCE, to_bytes(body, MOST)).await {
        Ok(Ok(body)) => Ok(body),
        // A body that was cut and one without end look alike here; neither is taken.
        Ok(Err(_)) => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}

async fn store(door: &Door, events: Vec<Value>) -> Response {
    let (stored, answer) = oneshot::channel();
    let handed = door.knocks.send(Knock { events, stored }).await.is_ok();
    if handed && answer.await == Ok(true) {
        return axum::Json(json!({})).into_response();
    }
    // LINE sends it again only where the owner has switched redelivery on.
    refuse(StatusCode::INTERNAL_SERVER_ERROR, "not stored")
}

fn refuse(status: StatusCode, words: &str) -> Response {
    (status, axum::Json(json!({ "message": words }))).into_response()
}
