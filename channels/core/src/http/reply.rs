//! An answer that was read to its end, and what it says of the call.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::fault::Refusal;
use crate::json;

/// An answer.
pub struct Reply {
    /// HTTP status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Vec<u8>,
}

/// What a platform says in an answer.
pub enum PlatformReply<T> {
    /// It is done.
    Done(T),
    /// It refuses; what is cleaned and added is the client's.
    Refused(Refusal),
    /// It says itself that nobody knows, in these words.
    Unsure(String),
    /// It is not the platform who speaks.
    Foreign,
}

impl Reply {
    /// Returns the body as JSON of this shape; `None` when it is none.
    pub fn json<T: DeserializeOwned>(&self) -> Option<T> {
        json::read_bytes(&self.body).ok()
    }

    /// Returns the body as a JSON object; `None` when it is none.
    pub fn object(&self) -> Option<Value> {
        self.json().filter(Value::is_object)
    }

    /// Returns a header that is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Returns the server's clock.
    pub fn date(&self) -> Option<DateTime<Utc>> {
        DateTime::parse_from_rfc2822(self.header("date")?).ok().map(|date| date.to_utc())
    }

    /// Returns how long it asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.headers)
    }

    /// Begins a refusal with what every answer has.
    pub fn refusal(&self) -> Refusal {
        let retry_after = self.retry_after();
        Refusal { status: self.status.as_u16(), retry_after, ..Refusal::default() }
    }
}

/// Returns how long an answer with these headers asks to wait.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    header(headers, "retry-after")?.trim().parse().ok().map(Duration::from_secs)
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
