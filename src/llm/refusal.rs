//! Reads a provider's error answer and decides what the caller does next: the one table of error classes.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::profile::Profile;
use crate::{AskError, ModelError, Reason};
use selkie_channel_core::shorten_line;
use selkie_domain::usage::Usage;

/// A wait longer than this is no better than this: the deadline of the request ends it earlier.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// Characters of a provider's words that are worth keeping.
const MAX_WORDS: usize = 400;

/// The wordings by which providers say that a conversation does not fit.
const TOO_LONG: [&str; 13] = [
    "context_length_exceeded",
    "context length",
    "maximum context",
    "context window",
    "context size",
    "context limit",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "too many tokens",
    "input token count",
    "request too large",
    "request_too_large",
];

/// The wordings that say there is no money left.
const NO_MONEY: [&str; 5] = [
    "insufficient_quota",
    "credit balance",
    "billing",
    "insufficient credits",
    "insufficient balance",
];

/// The wordings of a wrong key that come with a 400.
const BAD_KEY: [&str; 3] = ["invalid_api_key", "api key not valid", "authentication_error"];

/// The wordings of a wrong model that come with a 400.
const NO_MODEL: [&str; 2] = ["model_not_found", "is not a valid model"];

/// What a provider said instead of an answer.
#[derive(Clone, Debug)]
pub(super) struct ProviderRefusal {
    /// What happened.
    pub what: What,
    /// The provider's words and codes, cleaned and shortened.
    pub message: String,
    /// What it asks to wait.
    pub retry_after: Option<Duration>,
    /// What the try cost all the same.
    pub usage: Usage,
}

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The provider answered with this HTTP status; 200 for an error inside a good answer.
    Status(u16),
    /// There is no status: the connection failed, or what came was no answer.
    Trouble(Reason),
}

/// An answer that ended without being one.
pub(super) struct IncompleteAnswer {
    pub reason: Reason,
    /// In our words.
    pub why: String,
    pub usage: Usage,
}

impl ProviderRefusal {
    /// Adds what was counted before.
    pub fn after(self, usage: Usage) -> Self {
        let calls = u32::from(usage.tokens() > 0);
        Self { usage: Usage { calls, ..usage }, ..self }
    }

    /// Whether the request itself is refused and the words name `part` of it, as a word of its own
    /// (`upstream` is not `stream`).
    pub fn names(&self, part: &str) -> bool {
        let mut words = self.message.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        matches!(self.what, What::Status(400 | 415 | 422 | 501)) && words.any(|w| w == part)
    }

    /// Whether there is nothing at this address.
    pub fn is_nowhere(&self) -> bool {
        let is_model = self.message.to_lowercase().contains("model");
        matches!(self.what, What::Status(404 | 405 | 501)) && !is_model
    }

    /// Whether the words name another address, in either of two ways, as the one for such requests.
    pub fn leads_to(&self, path: &str, name: &str) -> bool {
        let message = self.message.to_lowercase();
        let is_named = message.contains(path) || message.contains(name);
        matches!(self.what, What::Status(400 | 404 | 405 | 422 | 501)) && is_named
    }

    /// Decides the class. `profile` is the config section that would have to change; `most` tokens were
    /// asked for.
    pub fn class(self, profile: &Profile, most: u32) -> AskError {
        let usage = self.usage;
        let error = match self.what {
            What::Status(status) => self.of_status(status, &profile.at),
            What::Trouble(Reason::NoRoom) => {
                let may_raise = profile.max_output.is_none_or(|limit| limit > most);
                ModelError::NoRoom { most, may_raise }
            }
            What::Trouble(Reason::Withheld) => ModelError::Withheld { why: self.message },
            What::Trouble(reason) => {
                let why = match reason {
                    Reason::Unreachable => {
                        format!("the provider cannot be reached: {}", self.message)
                    }
                    Reason::Silent => format!("the provider does not answer: {}", self.message),
                    _ => format!("the provider's answer cannot be used: {}", self.message),
                };
                ModelError::Transient { why, reason, retry_after: self.retry_after }
            }
        };
        AskError { error, usage }
    }

    fn of_status(self, status: u16, at: &str) -> ModelError {
        let Self { message, retry_after, .. } = self;
        let lower = message.to_lowercase();
        let any = |words: &[&str]| words.iter().any(|w| lower.contains(w));
        let unusable = |reason, what: &str, todo: &str| ModelError::Unusable {
            why: format!("{what} ({message}): {todo}"),
            reason,
        };
        // Its words are an address.
        if matches!(status, 300..=399) {
            let todo = format!("redirects are not followed; check {at}.endpoint");
            return unusable(Reason::NoModel, "the provider's address redirects elsewhere", &todo);
        }
        if any(&TOO_LONG) || status == 413 {
            let why = format!("{message}: set {at}.context to what it reads");
            return ModelError::TooLong { why };
        }
        if status == 402 || any(&NO_MONEY) {
            let todo = format!("add credit, or name a fallback in llm.routes ({at})");
            return unusable(Reason::Money, "the account at the provider has no credit", &todo);
        }
        if matches!(status, 401 | 403) || any(&BAD_KEY) {
            let todo = format!("check {at}.api_key");
            return unusable(Reason::Key, "the provider refuses the key", &todo);
        }
        if status == 404 || any(&NO_MODEL) {
            let todo = format!("check {at}.endpoint and {at}.model");
            return unusable(Reason::NoModel, "the provider knows no such model or address", &todo);
        }
        let why = match status {
            200 => format!("the provider answered with an error: {message}"),
            _ => format!("the provider answered {status}: {message}"),
        };
        match status {
            409 | 425 | 429 => ModelError::Transient { why, reason: Reason::Busy, retry_after },
            408 => ModelError::Transient { why, reason: Reason::Silent, retry_after },
            400..=499 => ModelError::Rejected { why: message },
            _ => ModelError::Transient { why, reason: Reason::Down, retry_after },
        }
    }
}

/// Returns an error object's words, with its type and code; or the plain text of what is no JSON.
pub(super) fn words(body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else { return shortened(body) };
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").unwrap_or(value);
    let text = |v: &Value| match v {
        Value::String(s) if !s.is_empty() => Some(s.clone()),
        Value::Number(n) => Some(n.to_string()),
        _ => None,
    };
    let field = |key: &str| error.get(key).and_then(text);
    let message = text(error).or_else(|| field("message")).or_else(|| field("detail"));
    let mut all: Vec<String> = [field("code"), field("type")].into_iter().flatten().collect();
    all.dedup();
    // llama.cpp names its window beside its words.
    all.extend(field("n_ctx").map(|tokens| format!("n_ctx {tokens}")));
    let said = match (message, all.is_empty()) {
        (Some(message), true) => message,
        (Some(message), false) => format!("{message} [{}]", all.join(", ")),
        (None, false) => all.join(", "),
        (None, true) => body.to_owned(),
    };
    shortened(&said)
}

/// Returns the status that an error body carries inside a good answer: only those that say more than
/// "try again" count, everything else is 200.
pub(super) fn inner_status(error: &Value) -> u16 {
    let code = error.get("code").or_else(|| error.get("status")).and_then(Value::as_u64);
    match code {
        Some(code @ (401..=404 | 408 | 413 | 429 | 500..=599)) => {
            u16::try_from(code).unwrap_or(200)
        }
        _ => 200,
    }
}

/// Reads what a provider asks to wait: seconds, milliseconds or a date. Never more than ten minutes.
pub(super) fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
    let millis = text("retry-after-ms").and_then(|t| t.parse::<f64>().ok()).map(|m| m / 1000.0);
    let seconds = millis.or_else(|| {
        let text = text(RETRY_AFTER.as_str())?;
        let date = || DateTime::parse_from_rfc2822(text).ok().map(|d| d.to_utc() - now);
        text.parse::<f64>().ok().or_else(|| date().map(|d| d.num_milliseconds() as f64 / 1000.0))
    });
    let seconds = seconds.filter(|s| s.is_finite())?;
    Some(Duration::from_secs_f64(seconds.clamp(0.0, MAX_WAIT.as_secs_f64())))
}

fn shortened(text: &str) -> String {
    match shorten_line(text, MAX_WORDS) {
        line if line.is_empty() => "no words".to_owned(),
        line => line,
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;
    use crate::Card;

    fn refused(what: What, message: String) -> ProviderRefusal {
        ProviderRefusal { what, message, retry_after: None, usage: Usage::default() }
    }

    fn profile() -> Profile {
        let card = Card { name: "m".to_owned(), context: 1, sees_images: true };
        let (name, at) = ("main".to_owned(), "llm.profiles.main".to_owned());
        let model = "m".to_owned();
        Profile { card, name, at, model, origin: "o".into(), effort: None, max_output: None }
    }

    fn kind(status: u16, body: &str) -> &'static str {
        match refused(What::Status(status), words(body)).class(&profile(), 9).error {
            ModelError::Transient { .. } => "transient",
            ModelError::Withheld { .. } | ModelError::NoRoom { .. } => "no answer",
            ModelError::Rejected { .. } => "rejected",
            ModelError::TooLong { .. } => "too long",
            ModelError::Unusable { .. } => "unusable",
        }
    }

    #[test]
    fn the_table_of_classes() {
        let cases = [
            (400, r#"{"error":{"message":"m","code":"context_length_exceeded"}}"#, "too long"),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 9 tokens"}}"#,
                "too long",
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#,
                "too long",
            ),
            (
                400,
                r#"{"error":{"message":"input length and `max_tokens` exceed context limit: 9"}}"#,
                "too long",
            ),
            (413, "<html>too big</html>", "too long"),
            (
                429,
                r#"{"error":{"message":"Request too large for x on tokens per min"}}"#,
                "too long",
            ),
            (400, r#"{"error":{"message":"max_tokens is too large"}}"#, "rejected"),
            (422, r#"{"detail":"messages.1 is wrong"}"#, "rejected"),
            (400, r#"{"error":{"message":"Your credit balance is too low"}}"#, "unusable"),
            (
                400,
                r#"[{"error":{"message":"API key not valid. Please pass a valid API key."}}]"#,
                "unusable",
            ),
            (429, r#"{"error":{"message":"quota","code":"insufficient_quota"}}"#, "unusable"),
            (401, "", "unusable"),
            (402, "{}", "unusable"),
            (403, "no", "unusable"),
            (404, r#"{"error":{"message":"no model"}}"#, "unusable"),
            (408, "", "transient"),
            (409, "", "transient"),
            (425, "", "transient"),
            (429, r#"{"error":{"message":"slow down"}}"#, "transient"),
            (500, "<html>oops</html>", "transient"),
            (529, r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#, "transient"),
            (200, r#"{"error":{"message":"upstream broke"}}"#, "transient"),
        ];
        for (status, body, expected) in cases {
            assert_eq!(kind(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn an_unusable_profile_says_what_to_do() {
        let key = refused(What::Status(401), words(r#"{"error":"no"}"#));
        insta::assert_snapshot!(
            key.class(&profile(), 9),
            @"the provider refuses the key (no): check llm.profiles.main.api_key"
        );
        let long = words(
            r#"{"error":{"code":400,"message":"it exceeds the available context size","n_ctx":4096}}"#,
        );
        insta::assert_snapshot!(
            refused(What::Status(400), long).class(&profile(), 9),
            @"the conversation is too long for the model: it exceeds the available context size [400, n_ctx 4096]: set llm.profiles.main.context to what it reads"
        );
        let moved = refused(What::Status(307), "it leads to https://b/".to_owned());
        insta::assert_snapshot!(
            moved.class(&profile(), 9),
            @"the provider's address redirects elsewhere (it leads to https://b/): redirects are not followed; check llm.profiles.main.endpoint"
        );
    }

    #[test]
    fn trouble_without_a_status_is_told_in_words() {
        let told = |reason| {
            refused(What::Trouble(reason), "it is so".to_owned()).class(&profile(), 9).to_string()
        };
        assert_eq!(told(Reason::Unreachable), "the provider cannot be reached: it is so");
        assert_eq!(told(Reason::Silent), "the provider does not answer: it is so");
        assert_eq!(told(Reason::Garbled), "the provider's answer cannot be used: it is so");
        assert_eq!(
            told(Reason::NoRoom),
            "the model spent all 9 tokens of its answer before it said a word"
        );
    }

    #[test]
    fn waits_are_seconds_milliseconds_or_a_date_and_never_endless() {
        let now = DateTime::parse_from_rfc3339("2015-10-21T07:27:30Z").expect("a date").to_utc();
        let cases = [
            ("retry-after", "7", Some(7_000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", Some(30_000)),
            ("retry-after", "Wed, 21 Oct 2015 07:00:00 GMT", Some(0)),
            ("retry-after", "99999999", Some(600_000)),
            ("retry-after", "-4", Some(0)),
            ("retry-after", "NaN", None),
            ("retry-after", "soon", None),
        ];
        for (name, value, expected) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            let got = retry_after(&headers, now).map(|d| d.as_millis());
            assert_eq!(got, expected, "{name}: {value}");
        }
    }
}
