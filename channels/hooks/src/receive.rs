//! Takes requests: who calls is asked first, then how often, then what; 202 only when it is stored. Nothing of a body is
//! logged.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use axum::Json;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, RETRY_AFTER};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use selkie_channel_core::server::{MAX_WEBHOOK, whole_body};
use selkie_channel_core::{Now, Seldom};
use serde_json::json;

use crate::body::{DeliveryId, Payload, is_wanted};
use crate::form::{Form, Unsigned};
use crate::rate::Rate;
use crate::settings::{Action, Endpoint, Settings};

/// In how many seconds a service may try again that was refused for too many that wait.
const LATER: i64 = 60;

/// A call that is signed and wanted.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The hook that was called.
    pub hook: Arc<Endpoint>,
    /// Tells it from all others of its hook.
    pub id: String,
    /// The id that the same body had on the day before, where only its words tell it from others.
    pub day_before: Option<String>,
    /// What the service calls it; empty where it says nothing.
    pub event: String,
    /// What is made of it.
    pub content: Content,
}

/// What is made of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A model reads what the service has sent, and does what the hook says.
    Prompt {
        /// What it is to do.
        prompt: String,
        /// What was sent: others' words.
        payload: String,
    },
    /// Plain text, to be said as it is.
    Words(String),
}

/// What a delivery came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The number of its task.
    pub task: i64,
    /// It was not there before.
    pub is_new: bool,
}

/// Why a delivery is not taken now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Too many of its hook wait.
    Full,
    /// It cannot be stored, or its conversation cannot be spoken in. That is logged.
    Unavailable,
}

/// What became of a call, for who counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is stored.
    Accepted,
    /// It was stored before.
    Duplicate,
    /// Nobody wants such events, or a service only looked.
    Ignored,
    /// It is not its service's.
    Unsigned,
    /// There were too many.
    TooMany,
    /// It is too large, or cannot be read.
    Unreadable,
    /// It could not be taken.
    Unavailable,
}

impl Outcome {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Duplicate => "duplicate",
            Self::Ignored => "ignored",
            Self::Unsigned => "unsigned",
            Self::TooMany => "too_many",
            Self::Unreadable => "unreadable",
            Self::Unavailable => "unavailable",
        }
    }
}

/// Whoever stores deliveries.
#[async_trait]
pub trait Deliveries: Send + Sync {
    /// Stores a delivery, once. What it asks for goes on whether or not the caller waits for the end.
    ///
    /// # Errors
    /// Why it is not taken now.
    async fn deliver(&self, delivery: Delivery) -> Result<Receipt, Refusal>;

    /// Counts a call of a hook.
    fn count(&self, hook: &str, outcome: Outcome);
}

/// The door of all hooks, by the config of now.
pub struct Door {
    gates: RwLock<Arc<BTreeMap<String, Arc<Gate>>>>,
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
        let door = Self { gates: RwLock::default(), deliveries, now };
        door.put(settings);
        Arc::new(door)
    }

    /// Takes these hooks from now on.
    pub fn put(&self, settings: &Settings) {
        let gate = |hook: Arc<Endpoint>| {
            let (rate, unsigned, stale) = Default::default();
            (hook.path.clone(), Arc::new(Gate { hook, rate, unsigned, stale }))
        };
        let gates = Arc::new(settings.endpoints().into_iter().map(gate).collect());
        *self.gates.write().unwrap_or_else(PoisonError::into_inner) = gates;
    }

    /// Returns what is served.
    pub fn routes(self: &Arc<Self>) -> Router {
        Router::new().fallback(receive).with_state(Arc::clone(self))
    }

    fn gate(&self, path: &str) -> Option<Arc<Gate>> {
        let gates = Arc::clone(&self.gates.read().unwrap_or_else(PoisonError::into_inner));
        gates.get(path).cloned()
    }
}

async fn receive(State(door): State<Arc<Door>>, request: Request) -> Response {
    let Some(gate) = door.gate(request.uri().path()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if request.method() != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")]).into_response();
    }
    let (outcome, answer) = door.answer(&gate, request).await;
    door.deliveries.count(&gate.hook.name, outcome);
    answer
}

impl Door {
    /// Answers a call of a hook.
    async fn answer(&self, gate: &Gate, request: Request) -> (Outcome, Response) {
        let (head, body) = request.into_parts();
        let body = match whole_body(&head.headers, body, MAX_WEBHOOK).await {
            Ok(body) => body,
            Err(status) => return (Outcome::Unreadable, status.into_response()),
        };
        let now = (self.now)();
        if let Err(why) = gate.hook.form.check(&gate.hook.secret, &head.headers, &body, now) {
            gate.tell_unsigned(why, now);
            return (Outcome::Unsigned, StatusCode::UNAUTHORIZED.into_response());
        }
        if let Err(seconds) = gate.rate.take(now) {
            return too_many(seconds, "more than 60 calls in a minute");
        }
        match gate.read(&head.headers, &body, now) {
            Ok(delivery) => answered(self.deliveries.deliver(delivery).await),
            Err(NoDelivery::NoJson) => (Outcome::Unreadable, NoDelivery::NoJson.into_response()),
            Err(none) => (Outcome::Ignored, none.into_response()),
        }
    }
}

/// Says what a delivery came to.
fn answered(delivered: Result<Receipt, Refusal>) -> (Outcome, Response) {
    match delivered {
        Ok(Receipt { task, is_new: true }) => {
            let answer = (StatusCode::ACCEPTED, Json(json!({ "task": task })));
            (Outcome::Accepted, answer.into_response())
        }
        Ok(Receipt { task, is_new: false }) => {
            let says = json!({ "task": task, "duplicate": true });
            (Outcome::Duplicate, Json(says).into_response())
        }
        Err(Refusal::Full) => too_many(LATER, "too many calls of this hook wait"),
        Err(Refusal::Unavailable) => {
            let says = json!({ "error": "this call cannot be taken now: see selkie's log" });
            (Outcome::Unavailable, (StatusCode::SERVICE_UNAVAILABLE, Json(says)).into_response())
        }
    }
}

fn too_many(seconds: i64, why: &str) -> (Outcome, Response) {
    let later = [(RETRY_AFTER, seconds.to_string())];
    let answer = (StatusCode::TOO_MANY_REQUESTS, later, Json(json!({ "error": why })));
    (Outcome::TooMany, answer.into_response())
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
    ) -> Result<Delivery, NoDelivery> {
        let hook = &self.hook;
        let payload = Payload::read(hook.form, headers, body);
        let content = match (&hook.action, &payload.value) {
            // Whoever has a form of their own sends JSON, and says in it what it is.
            (_, None) if hook.form != Form::Plain => return Err(NoDelivery::NoJson),
            (Action::Words(_), None) => return Err(NoDelivery::NoJson),
            (Action::Words(words), Some(value)) => Content::Words(words.fill(value)),
            (Action::Prompt(prompt), _) => {
                Content::Prompt { prompt: prompt.clone(), payload: payload.words() }
            }
        };
        if let Some(challenge) = payload.challenge() {
            return Err(NoDelivery::Challenge(challenge.to_owned()));
        }
        let kinds = payload.kinds();
        if payload.is_ping() || !is_wanted(&hook.events, &kinds) {
            return Err(NoDelivery::Unwanted);
        }
        let DeliveryId { id, day_before } = payload.id(now);
        let event = kinds.into_iter().next_back().unwrap_or_default();
        Ok(Delivery { hook: Arc::clone(hook), id, day_before, event, content })
    }

    fn tell_unsigned(&self, why: Unsigned, now: DateTime<Utc>) {
        let hook = &self.hook.name;
        match why {
            Unsigned::Wrong => {
                if let Some(count) = self.unsigned.more(now) {
                    tracing::warn!(
                        hook,
                        count,
                        "webhooks with a wrong signature: check the hook's secret and hmac; if they are right, somebody \
                         other than the service is calling"
                    );
                }
            }
            Unsigned::Stale => {
                if let Some(count) = self.stale.more(now) {
                    tracing::warn!(
                        hook,
                        count,
                        "webhooks that were signed more than five minutes ago, or ahead: check this machine's clock; if \
                         it is right, somebody repeats what they have recorded"
                    );
                }
            }
        }
    }
}

/// A signed call of which nothing is made.
enum NoDelivery {
    /// Its body cannot be read.
    NoJson,
    /// It asks whether somebody is here.
    Challenge(String),
    /// Nobody wants such events.
    Unwanted,
}

impl IntoResponse for NoDelivery {
    fn into_response(self) -> Response {
        let says = match self {
            Self::Challenge(challenge) => json!({ "challenge": challenge }),
            Self::Unwanted => json!({ "ignored": "this event is not wanted" }),
            Self::NoJson => {
                let says = "the body is not JSON: set the content type of this webhook to application/json";
                return (StatusCode::BAD_REQUEST, Json(json!({ "error": says }))).into_response();
            }
        };
        Json(says).into_response()
    }
}

#[cfg(test)]
#[path = "receive_tests.rs"]
mod tests;
