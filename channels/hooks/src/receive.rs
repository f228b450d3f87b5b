//! Takes requests: who calls is asked first, then how often, then what; 202 only when it is stored. Nothing of a body is
//! logged.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, RETRY_AFTER};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use selkie_channel_core::server::{MAX_WEBHOOK, whole_body};
use selkie_channel_core::{Now, Seldom, locked};
use serde_json::{Value, json};

use crate::body::{DeliveryId, Payload, is_wanted};
use crate::delivery::{Content, Deliveries, Delivery, Receipt, Refusal};
use crate::form::{Form, SignatureFault};
use crate::rate::Rate;
use crate::settings::{Action, Endpoint, Settings};

/// In how many seconds a service may try again that was refused for too many that wait.
const LATER: i64 = 60;

/// The door of all hooks, by the config of now.
pub struct Door {
    gates: Mutex<BTreeMap<String, Arc<Gate>>>,
    deliveries: Arc<dyn Deliveries>,
    now: Now,
}

/// One hook, and who calls it.
struct Gate {
    hook: Arc<Endpoint>,
    rate: Rate,
    unsigned: Seldom,
    stale: Seldom,
}

impl Door {
    /// Opens for these hooks.
    pub fn new(settings: &Settings, deliveries: Arc<dyn Deliveries>, now: Now) -> Arc<Self> {
        let door = Self { gates: Mutex::default(), deliveries, now };
        door.put(settings);
        Arc::new(door)
    }

    /// Takes these hooks from now on.
    pub fn put(&self, settings: &Settings) {
        let gate = |hook: Arc<Endpoint>| {
            let (rate, unsigned, stale) = Default::default();
            (hook.path.clone(), Arc::new(Gate { hook, rate, unsigned, stale }))
        };
        *locked(&self.gates) = settings.endpoints().into_iter().map(gate).collect();
    }

    /// Returns what is served.
    pub fn routes(self: &Arc<Self>) -> Router {
        Router::new().fallback(receive).with_state(Arc::clone(self))
    }
}

async fn receive(State(door): State<Arc<Door>>, request: Request) -> Response {
    let gate = locked(&door.gates).get(request.uri().path()).cloned();
    let Some(gate) = gate else { return StatusCode::NOT_FOUND.into_response() };
    if request.method() != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")]).into_response();
    }
    let (outcome, answer) = door.answer(&gate, request).await;
    door.deliveries.count(&gate.hook.name, outcome);
    answer
}

impl Door {
    async fn answer(&self, gate: &Gate, request: Request) -> (&'static str, Response) {
        let (head, body) = request.into_parts();
        let body = match whole_body(&head.headers, body, MAX_WEBHOOK).await {
            Ok(body) => body,
            Err(status) => return ("unreadable", status.into_response()),
        };
        let now = (self.now)();
        if let Err(why) = gate.hook.form.check(&gate.hook.secret, &head.headers, &body, now) {
            gate.tell_unsigned(why, now);
            return ("unsigned", StatusCode::UNAUTHORIZED.into_response());
        }
        if let Err(seconds) = gate.rate.take(now) {
            return too_many(seconds, "more than 60 calls in a minute");
        }
        match gate.read(&head.headers, &body, now) {
            Ok(delivery) => answered(self.deliveries.deliver(delivery).await),
            Err((status, says)) => {
                let outcome = if status == StatusCode::OK { "ignored" } else { "unreadable" };
                (outcome, (status, Json(says)).into_response())
            }
        }
    }
}

fn answered(delivered: Result<Receipt, Refusal>) -> (&'static str, Response) {
    match delivered {
        Ok(Receipt { task, is_new: true }) => {
            let answer = (StatusCode::ACCEPTED, Json(json!({ "task": task })));
            ("accepted", answer.into_response())
        }
        Ok(Receipt { task, is_new: false }) => {
            let says = json!({ "task": task, "duplicate": true });
            ("duplicate", Json(says).into_response())
        }
        Err(Refusal::Full) => too_many(LATER, "too many calls of this hook wait"),
        Err(Refusal::Unavailable) => {
            let says = json!({ "error": "this call cannot be taken now: see selkie's log" });
            ("unavailable", (StatusCode::SERVICE_UNAVAILABLE, Json(says)).into_response())
        }
    }
}

fn too_many(seconds: i64, why: &str) -> (&'static str, Response) {
    let later = [(RETRY_AFTER, seconds.to_string())];
    let answer = (StatusCode::TOO_MANY_REQUESTS, later, Json(json!({ "error": why })));
    ("too_many", answer.into_response())
}

impl Gate {
    /// Reads a signed call.
    ///
    /// # Errors
    /// What is answered to one of which nothing is made.
    fn read(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        now: DateTime<Utc>,
    ) -> Result<Delivery, (StatusCode, Value)> {
        let hook = &self.hook;
        let payload = Payload::read(hook.form, headers, body);
        let says = "the body is not JSON: set the content type of this webhook to application/json";
        let no_json = || Err((StatusCode::BAD_REQUEST, json!({ "error": says })));
        let content = match (&hook.action, &payload.value) {
            // Whoever has a form of their own sends JSON, and says in it what it is.
            (_, None) if hook.form != Form::Plain => return no_json(),
            (Action::Words(_), None) => return no_json(),
            (Action::Words(words), Some(value)) => Content::Words(words.fill(value)),
            (Action::Prompt(prompt), _) => {
                Content::Prompt { prompt: prompt.clone(), payload: payload.words() }
            }
        };
        if let Some(challenge) = payload.challenge() {
            return Err((StatusCode::OK, json!({ "challenge": challenge })));
        }
        let kinds = payload.kinds();
        if payload.is_ping() || !is_wanted(&hook.events, &kinds) {
            return Err((StatusCode::OK, json!({ "ignored": "this event is not wanted" })));
        }
        let DeliveryId { id, day_before } = payload.id(now);
        let event = kinds.into_iter().next_back().unwrap_or_default();
        Ok(Delivery { hook: Arc::clone(hook), id, day_before, event, content })
    }

    fn tell_unsigned(&self, why: SignatureFault, now: DateTime<Utc>) {
        let hook = &self.hook.name;
        let seldom = match why {
            SignatureFault::Wrong => &self.unsigned,
            SignatureFault::Stale => &self.stale,
        };
        let says = match why {
            SignatureFault::Wrong => {
                "webhooks with a wrong signature: check the hook's secret and hmac; if they are right, somebody \
                 other than the service is calling"
            }
            SignatureFault::Stale => {
                "webhooks that were signed more than five minutes ago, or ahead: check this machine's clock; if \
                 it is right, somebody repeats what they have recorded"
            }
        };
        if let Some(count) = seldom.more(now) {
            tracing::warn!(hook, count, "{says}");
        }
    }
}

#[cfg(test)]
#[path = "receive_tests.rs"]
mod tests;
