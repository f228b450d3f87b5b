//! Why there is no answer, by what is proven.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::Delivery;

/// First wait after a failure that proves nothing was sent; the delivery worker lengthens it.
const SOON: Duration = Duration::from_secs(1);

/// Why there is no answer. What it says holds no secret.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Nothing reached the platform: no address, no connection, or a body that was not written to its end.
    NotSent(String),
    /// The platform refused in its own words: nothing was done.
    Refused(Refusal),
    /// The request left and nothing proves what became of it.
    Unclear(String),
}

/// A platform's own refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Who refuses, as people are told.
    pub platform: &'static str,
    /// HTTP status; 0 for a call that was not made, because the platform had refused its like before.
    pub status: u16,
    /// The platform's word for it, where it has such words.
    pub code: String,
    /// What it says.
    pub words: String,
    /// How long it asks to wait.
    pub retry_after: Option<Duration>,
    /// All that came with it; `null` when that is no JSON.
    pub body: Box<Value>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(why) | Self::Unclear(why) => f.write_str(why),
            Self::Refused(Refusal { platform, status, words, .. }) => {
                write!(f, "{platform} says {status}: {words}")
            }
        }
    }
}

impl Error for Fault {}

impl Fault {
    /// Says what becomes of a part; `refused` reads the platform's refusal.
    pub fn delivery(self, repeatable: bool, refused: impl FnOnce(Refusal) -> Delivery) -> Delivery {
        match self {
            // The whole account waits: a server that cannot be reached is so for every conversation.
            Self::NotSent(why) => Delivery::Retry { after: SOON, why, account: true },
            Self::Unclear(why) if repeatable => {
                Delivery::Retry { after: SOON, why, account: false }
            }
            Self::Unclear(why) => Delivery::Unclear { why },
            Self::Refused(refusal) => refused(refusal),
        }
    }
}

/// Whether this error proves that the request never left: a builder error is made here, a connect error is
/// a failure of DNS, TCP or TLS.
pub fn never_left(error: &reqwest::Error) -> bool {
    error.is_connect() || error.is_builder()
}

/// Says a client's error in words, without the URL, which may hold a token.
pub fn words(error: reqwest::Error) -> String {
    chain(&error.without_url())
}

/// Says an error and its causes, which is where a client says what really happened.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = cause.source();
    }
    text
}
