//! What a request brings: which event it is, which delivery of it, and what it says.

use axum::http::HeaderMap;
use chrono::{DateTime, Days, Utc};
use ring::digest::{SHA256, digest};
use selkie_channel_core::hash::in_hex;
use selkie_channel_core::json;
use serde_json::Value;

use crate::form::Form;
use crate::header::only;

/// What a model reads of a payload at most, in bytes: as much as some ten thousand tokens.
pub const MAX_PAYLOAD: usize = 32 * 1024;
/// An id of a delivery that is longer, or no plain text, goes by its hash.
const MAX_ID: usize = 120;
/// The name of an event, in characters.
const MAX_KIND: usize = 100;
/// What is sent back to prove that somebody is here, in bytes.
const MAX_CHALLENGE: usize = 512;

const GITHUB_EVENT: &str = "x-github-event";
const GITHUB_DELIVERY: &str = "x-github-delivery";

/// One delivery, told from all others of its hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryId {
    pub id: String,
    /// The id that the same body had on the day before, where only its words tell it from others.
    pub day_before: Option<String>,
}

/// What a request says.
pub struct Payload<'b> {
    form: Form,
    headers: &'b HeaderMap,
    body: &'b [u8],
    /// None: it is no JSON.
    pub value: Option<Value>,
}

impl<'b> Payload<'b> {
    pub fn read(form: Form, headers: &'b HeaderMap, body: &'b [u8]) -> Self {
        Self { form, headers, body, value: json::read_bytes(body).ok() }
    }

    /// Names the event, as `events` may name it: the whole kind first, then one that says more.
    pub fn kinds(&self) -> Vec<String> {
        let kind = match self.form {
            Form::Github => only(self.headers, GITHUB_EVENT),
            Form::Stripe => self.text(&["type"]),
            Form::Slack => self.text(&["event", "type"]).or_else(|| self.text(&["type"])),
            Form::Plain => self.text(&["type"]).or_else(|| self.text(&["event"])),
        };
        let kind = kind.map(|kind| kind.chars().take(MAX_KIND).collect::<String>());
        let action = self.text(&["action"]).filter(|_| self.form == Form::Github);
        let whole = kind.as_ref().zip(action).map(|(kind, action)| format!("{kind}.{action}"));
        kind.clone().into_iter().chain(whole).collect()
    }

    /// Whether a service only looks whether somebody is here: nothing has happened.
    pub fn is_ping(&self) -> bool {
        self.form == Form::Github && only(self.headers, GITHUB_EVENT) == Some("ping")
    }

    /// Returns what Slack wants to hear before it sends anything.
    pub fn challenge(&self) -> Option<&str> {
        let is_asked = self.form == Form::Slack && self.text(&["type"]) == Some("url_verification");
        self.text(&["challenge"]).filter(|text| is_asked && text.len() <= MAX_CHALLENGE)
    }

    /// Tells it from all others of its hook: by the id that its service gives it, else by its words within a day.
    pub fn id(&self, now: DateTime<Utc>) -> DeliveryId {
        let id = match self.form {
            Form::Github => only(self.headers, GITHUB_DELIVERY),
            Form::Stripe => self.text(&["id"]),
            Form::Slack => self.text(&["event_id"]),
            Form::Plain => None,
        };
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            return DeliveryId { id: bounded(id), day_before: None };
        }
        let hash = hash(self.body);
        let of = |day: DateTime<Utc>| format!("{hash}@{}", day.format("%Y-%m-%d"));
        let yesterday = now.checked_sub_days(Days::new(1));
        DeliveryId { id: of(now), day_before: yesterday.map(of) }
    }

    /// Returns the body as text; the end of a long one is cut, and that is said.
    pub fn words(&self) -> String {
        let text = String::from_utf8_lossy(self.body);
        if text.len() <= MAX_PAYLOAD {
            return text.into_owned();
        }
        let end = text.floor_char_boundary(MAX_PAYLOAD);
        format!("{}\n(cut: these are the first {end} of {} bytes)", &text[..end], text.len())
    }

    fn text(&self, path: &[&str]) -> Option<&str> {
        let value = self.value.as_ref()?;
        path.iter().try_fold(value, |value, key| value.get(key))?.as_str()
    }
}

/// Whether one of these names is wanted; no list wants all.
pub fn is_wanted(wanted: &[String], kinds: &[String]) -> bool {
    wanted.is_empty() || wanted.iter().any(|name| kinds.contains(name))
}

fn bounded(id: &str) -> String {
    let is_plain = id.len() <= MAX_ID && id.bytes().all(|byte| byte.is_ascii_graphic());
    if is_plain { id.to_owned() } else { hash(id.as_bytes()) }
}

fn hash(bytes: &[u8]) -> String {
    format!("sha256:{}", in_hex(digest(&SHA256, bytes).as_ref()))
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    use super::*;

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let one = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        all.iter().map(one).collect()
    }

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn kinds(form: Form, headers: &HeaderMap, body: &str) -> Vec<String> {
        Payload::read(form, headers, body.as_bytes()).kinds()
    }

    #[test]
    fn each_service_names_its_events_in_its_own_way() {
        let none = HeaderMap::new();
        let github = headers(&[(GITHUB_EVENT, "pull_request")]);
        let body = r#"{"type":"t","event":{"type":"inner"},"action":"opened"}"#;
        assert_eq!(kinds(Form::Github, &github, body), ["pull_request", "pull_request.opened"]);
        assert_eq!(kinds(Form::Github, &none, body), [""; 0], "the header says it");
        assert_eq!(kinds(Form::Stripe, &none, body), ["t"]);
        assert_eq!(kinds(Form::Slack, &none, body), ["inner"]);
        assert_eq!(kinds(Form::Plain, &none, body), ["t"]);
        assert_eq!(kinds(Form::Plain, &none, r#"{"event":"e"}"#), ["e"]);
        assert_eq!(kinds(Form::Plain, &none, "no json"), [""; 0]);
        let wanted = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            is_wanted(&names, &kinds(Form::Github, &github, body))
        };
        assert!(wanted(&[]) && wanted(&["pull_request"]) && wanted(&["x", "pull_request.opened"]));
        assert!(!wanted(&["pull_request.closed"]) && !wanted(&["pull"]));
    }

    #[test]
    fn each_delivery_has_its_services_id_or_its_hash_for_a_day() {
        let now = at("2026-03-01T12:00:00Z");
        let none = HeaderMap::new();
        let id = |form, headers: &HeaderMap, body: &str| {
            Payload::read(form, headers, body.as_bytes()).id(now)
        };
        let github = headers(&[(GITHUB_DELIVERY, "72d3162e-cc78-11e3-81ab-4c9367dc0958")]);
        assert_eq!(id(Form::Github, &github, "{}").id, "72d3162e-cc78-11e3-81ab-4c9367dc0958");
        assert_eq!(id(Form::Stripe, &none, r#"{"id":"evt_1"}"#).id, "evt_1");
        assert_eq!(id(Form::Slack, &none, r#"{"event_id":"Ev1"}"#).id, "Ev1");
        let odd = id(Form::Stripe, &none, r#"{"id":"a b"}"#);
        assert!(odd.id.starts_with("sha256:") && odd.day_before.is_none(), "{odd:?}");
        let plain = id(Form::Plain, &none, r#"{"id":"evt_1"}"#);
        let day = |day: &str| format!("{}@{day}", hash(br#"{"id":"evt_1"}"#));
        assert_eq!(plain.id, day("2026-03-01"));
        assert_eq!(plain.day_before, Some(day("2026-02-28")));
    }

    #[test]
    fn a_service_that_looks_is_answered() {
        let none = HeaderMap::new();
        let body = br#"{"type":"url_verification","challenge":"abc"}"#;
        assert_eq!(Payload::read(Form::Slack, &none, body).challenge(), Some("abc"));
        assert_eq!(Payload::read(Form::Plain, &none, body).challenge(), None);
        let long = format!(r#"{{"type":"url_verification","challenge":"{}"}}"#, "a".repeat(600));
        assert_eq!(Payload::read(Form::Slack, &none, long.as_bytes()).challenge(), None);
        let ping = headers(&[(GITHUB_EVENT, "ping")]);
        assert!(Payload::read(Form::Github, &ping, b"{}").is_ping());
        assert!(!Payload::read(Form::Plain, &ping, b"{}").is_ping());
    }

    #[test]
    fn a_long_payload_is_cut_between_characters() {
        let none = HeaderMap::new();
        let long = "ä".repeat(MAX_PAYLOAD);
        let words = Payload::read(Form::Plain, &none, long.as_bytes()).words();
        assert!(words.ends_with("(cut: these are the first 32768 of 65536 bytes)"), "{words:.20}");
    }

    proptest! {
        #[test]
        fn any_body_is_read(body in prop::collection::vec(any::<u8>(), 0..300)) {
            let none = HeaderMap::new();
            for form in [Form::Github, Form::Stripe, Form::Slack, Form::Plain] {
                let payload = Payload::read(form, &none, &body);
                payload.kinds();
                payload.challenge();
                prop_assert!(payload.id(DateTime::UNIX_EPOCH).id.len() <= MAX_ID);
                prop_assert!(payload.words().len() <= 3 * body.len());
            }
        }
    }
}
