//! The webhook: the signature over the raw body first, then the events, and 200 only when they are stored.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::ALLOW;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use selkie_channel_core::server::{MAX_WEBHOOK, whole_body};
use selkie_channel_core::{Now, Seldom, json};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::own_id::OwnId;

/// Characters of another bot's id that are logged; LINE's have 33.
const SHOWN: usize = 40;

/// What a webhook brought, signed and read; it waits for its answer.
pub struct Knock {
    /// The events; one that cannot be read is its own text.
    pub events: Vec<Value>,
    /// Told whether they are stored.
    pub stored: oneshot::Sender<bool>,
}

/// Where webhooks arrive.
#[derive(Clone)]
pub struct Door {
    key: hmac::Key,
    knocks: mpsc::Sender<Knock>,
    now: Now,
    own: OwnId,
    /// Webhooks with a wrong signature.
    unsigned: Arc<Seldom>,
    /// Webhooks for another bot.
    misdirected: Arc<Seldom>,
}

/// A webhook's body. Its events are read one by one: what is wrong with one costs the others nothing.
#[derive(Deserialize)]
struct WebhookBody {
    /// The user id of the bot that it is for.
    #[serde(default)]
    destination: Value,
    events: Vec<Box<RawValue>>,
}

impl Door {
    /// Opens for bodies signed with this channel secret and meant for this bot.
    pub fn new(secret: &str, own: OwnId, knocks: mpsc::Sender<Knock>, now: Now) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        Self { key, knocks, now, own, unsigned: Arc::default(), misdirected: Arc::default() }
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

    /// Whether a webhook is for another bot: this one could answer nothing of it, and would answer in another's name.
    async fn is_for_another(&self, destination: &Value) -> bool {
        let wanted = match destination {
            // LINE's own never lack it; what is signed and names nobody speaks against nothing.
            Value::Null => return false,
            Value::String(id) if id.is_empty() => return false,
            Value::String(id) => id.clone(),
            other => other.to_string(),
        };
        let Some(own) = self.own.get().await.filter(|own| *own != wanted) else { return false };
        if let Some(count) = self.misdirected.more((self.now)()) {
            tracing::warn!(
                count,
                destination = wanted.chars().take(SHOWN).collect::<String>(),
                bot = own,
                "webhooks for another bot are refused: line.channel_secret is of the bot in destination, \
                 line.channel_access_token of this one; take both from the same channel of LINE's console"
            );
        }
        true
    }
}

async fn receive(State(door): State<Door>, request: Request) -> Response {
    if request.method() != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")]).into_response();
    }
    let (head, body) = request.into_parts();
    let body = match whole_body(&head.headers, body, MAX_WEBHOOK).await {
        Ok(body) => body,
        Err(status) => return status.into_response(),
    };
    if !door.is_signed(&head.headers, &body) {
        if let Some(count) = door.unsigned.more((door.now)()) {
            tracing::warn!(
                count,
                "webhooks with a wrong signature: check line.channel_secret; if it is right, somebody other than LINE is calling"
            );
        }
        return refuse(StatusCode::UNAUTHORIZED, "invalid signature");
    }
    let WebhookBody { destination, events } = match json::read_bytes(&body) {
        Ok(brought) => brought,
        Err(error) => {
            tracing::warn!(%error, bytes = body.len(), "a signed webhook without a list of events");
            return refuse(StatusCode::BAD_REQUEST, "no list of events");
        }
    };
    // The console's Verify button sends none.
    if events.is_empty() {
        return axum::Json(json!({})).into_response();
    }
    if door.is_for_another(&destination).await {
        return refuse(StatusCode::MISDIRECTED_REQUEST, "for another bot");
    }
    store(&door, events.iter().map(|event| read(event)).collect()).await
}

/// Reads an event; what cannot be read stays a text, which is kept as such.
fn read(event: &RawValue) -> Value {
    json::read(event.get()).unwrap_or_else(|error| {
        tracing::warn!(%error, "an event that cannot be read is kept and passed over");
        Value::String(event.get().to_owned())
    })
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

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use chrono::DateTime;

    use super::*;

    const SECRET: &str = "a secret of thirty-two letters ..";

    /// What becomes of a signed body: the answer's status, and the events.
    async fn knocked(body: &'static [u8]) -> (StatusCode, Vec<Value>) {
        knocked_at(OwnId::default(), body).await
    }

    async fn knocked_at(own: OwnId, body: &'static [u8]) -> (StatusCode, Vec<Value>) {
        let (sender, mut knocks) = mpsc::channel(1);
        let door = Door::new(SECRET, own, sender, Arc::new(|| DateTime::UNIX_EPOCH));
        let signature = STANDARD.encode(hmac::sign(&door.key, body));
        let request = Request::post("/").header("x-line-signature", signature);
        let request = request.body(Body::from(body)).unwrap();
        let taken = async {
            let Some(Knock { events, stored }) = knocks.recv().await else { return Vec::new() };
            stored.send(true).unwrap();
            events
        };
        let (answer, events) = tokio::join!(receive(State(door), request), taken);
        (answer.status(), events)
    }

    #[tokio::test]
    async fn half_a_character_costs_no_message() {
        let (status, events) = knocked(br#"{"events":[{"text":"a"},{"text":"b\ud83d"}]}"#).await;
        assert_eq!(status, StatusCode::OK);
        let texts: Vec<_> = events.iter().map(|event| event["text"].as_str().unwrap()).collect();
        assert_eq!(texts, ["a", "b\u{fffd}"]);
    }

    #[tokio::test]
    async fn an_event_that_cannot_be_read_costs_its_neighbours_nothing() {
        let (status, events) =
            knocked(br#"{"events":[{"text":"a"},{"n":1e999},{"text":"c"}]}"#).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(events[0]["text"], "a");
        assert_eq!(events[1], r#"{"n":1e999}"#);
        assert_eq!(events[2]["text"], "c");
    }

    #[tokio::test]
    async fn what_is_no_list_of_events_is_refused() {
        for body in [&b"x"[..], b"null", br#"{"events":null}"#] {
            assert_eq!(knocked(body).await, (StatusCode::BAD_REQUEST, Vec::new()));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_signed_for_another_bot_is_refused() {
        let own = OwnId::default();
        own.learn("U1");
        for (body, wanted) in [
            (&br#"{"destination":"U1","events":[{}]}"#[..], StatusCode::OK),
            (br#"{"destination":"","events":[{}]}"#, StatusCode::OK),
            (br#"{"destination":null,"events":[{}]}"#, StatusCode::OK),
            (br#"{"events":[{}]}"#, StatusCode::OK),
            (br#"{"destination":"U2","events":[{}]}"#, StatusCode::MISDIRECTED_REQUEST),
            (br#"{"destination":["U1"],"events":[{}]}"#, StatusCode::MISDIRECTED_REQUEST),
            // The console's Verify button: nothing is answered.
            (br#"{"destination":"U2","events":[]}"#, StatusCode::OK),
        ] {
            let (status, events) = knocked_at(own.clone(), body).await;
            assert_eq!(status, wanted, "{}", String::from_utf8_lossy(body));
            assert!(status == StatusCode::OK || events.is_empty());
        }
        // Nobody knows yet who the bot is: no message is lost for that.
        let body = br#"{"destination":"U2","events":[{}]}"#;
        assert_eq!(knocked_at(OwnId::default(), body).await.0, StatusCode::OK);
    }
}
