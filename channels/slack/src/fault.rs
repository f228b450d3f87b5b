//! Why there is no answer from Slack, by what is proven.

use std::time::Duration;

use selkie_channel_core::{client, json};
use serde_json::Value;
use slack_morphism::errors::SlackClientError;

use crate::refusal::{Kind, kind};

/// Why there is no answer, by what is proven.
#[derive(Debug)]
pub enum Fault {
    /// Nothing reached Slack.
    NotSent(String),
    /// Slack refused in its own words: nothing was done.
    Refused(Refusal),
    /// The request left and nothing proves what became of it.
    Unclear(String),
}

/// Slack's own refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Slack's word: `not_in_channel`.
    pub code: String,
    /// The scope that is missing, when Slack names one.
    pub needed: Option<String>,
    /// How long to wait, when Slack says so.
    pub retry_after: Option<Duration>,
}

impl Fault {
    /// Slack asks us to be slower.
    pub fn limited(retry_after: Option<Duration>) -> Self {
        Self::Refused(Refusal { code: "ratelimited".to_owned(), needed: None, retry_after })
    }

    /// Returns how long Slack asks to wait, when that is all it says; zero where it names no time.
    pub fn limit(&self) -> Option<Duration> {
        match self {
            Self::Refused(refusal) if kind(refusal) == Kind::Limited => {
                Some(refusal.retry_after.unwrap_or_default())
            }
            _ => None,
        }
    }

    /// Says it for a log or for a person; never holds a secret.
    pub fn words(&self) -> String {
        match self {
            Self::NotSent(why) | Self::Unclear(why) => why.clone(),
            Self::Refused(refusal) => crate::refusal::words(refusal),
        }
    }
}

/// Tells by what is proven.
pub fn of_client(error: SlackClientError) -> Fault {
    match error {
        SlackClientError::ApiError(error) if is_unsure(&error.code) => Fault::Unclear(error.code),
        SlackClientError::ApiError(error) => {
            let body = error.http_response_body.unwrap_or_default();
            Fault::Refused(refusal(error.code, &body))
        }
        SlackClientError::RateLimitError(error) => Fault::limited(error.retry_after),
        SlackClientError::HttpError(error) => {
            let body = error.http_response_body.unwrap_or_default();
            let status = error.status_code;
            let code = json::read::<Value>(&body).ok();
            let code = code.and_then(|v| v.get("error")?.as_str().map(str::to_owned));
            match code {
                Some(code) if status.is_client_error() => Fault::Refused(refusal(code, &body)),
                _ => Fault::Unclear(format!("HTTP {}", status.as_u16())),
            }
        }
        SlackClientError::HttpProtocolError(error) => {
            let cause = error.cause.as_deref();
            let error = cause.and_then(|c| c.downcast_ref::<reqwest::Error>());
            let words = cause.map_or_else(String::new, |cause| client::chain(cause));
            match error.is_some_and(client::never_left) {
                true => Fault::NotSent(words),
                false => Fault::Unclear(words),
            }
        }
        // What is left is an answer that cannot be read: its words would hold the whole body.
        _ => Fault::Unclear("an answer that cannot be read".to_owned()),
    }
}

/// Slack's own words for "something broke, and part of it may be done".
fn is_unsure(code: &str) -> bool {
    matches!(code, "fatal_error" | "internal_error" | "service_unavailable")
}

fn refusal(code: String, body: &str) -> Refusal {
    let body = json::read::<Value>(body).unwrap_or_default();
    let needed = body.get("needed").and_then(Value::as_str).map(str::to_owned);
    Refusal { code, needed, retry_after: None }
}
