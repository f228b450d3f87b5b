//! Where what is stored lies, and how long it is kept.

use std::path::PathBuf;

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize, Serializer};

use selkie_domain::span::Span;

const DAY: u64 = 86_400;

/// What the store is told by config.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The database, `postgres://user@host/database`; without one it is `selkie.db` in the state folder.
    #[schemars(with = "Option<String>")]
    #[serde(serialize_with = "hidden")]
    pub url: Option<SecretString>,
    /// The password for it, where the URL has none.
    #[schemars(with = "Option<String>")]
    #[serde(serialize_with = "hidden")]
    pub password: Option<SecretString>,
    /// How long everything is kept.
    pub retention: Retention,
}

/// Copies of everything that selkie makes by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Backup {
    /// Where they go; without it none is made.
    pub dir: Option<PathBuf>,
    /// How often.
    pub every: Span,
    /// How many are kept: the oldest go.
    #[schemars(range(min = 1))]
    pub keep: u32,
}

impl Default for Backup {
    fn default() -> Self {
        Self { dir: None, every: Span::seconds(DAY), keep: 7 }
    }
}

fn hidden<S: Serializer>(text: &Option<SecretString>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_ref().map(|_| "[redacted]").serialize(serializer)
}

impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        let open =
            |text: &Option<SecretString>| text.as_ref().map(|t| t.expose_secret().to_owned());
        let secrets = |s: &Self| [open(&s.url), open(&s.password)];
        self.retention == other.retention && secrets(self) == secrets(other)
    }
}

impl Eq for Settings {}

/// How long everything is kept. Nothing goes before it is a day old.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// What was said in a task, tool calls included, from its end.
    pub transcripts: Span,
    /// The words of messages, and of tasks that came from none, from their storing.
    pub inbox: Span,
    /// What the bot said, with its receipts.
    pub outbox: Span,
    /// The keys by which a message or a task is known again, beyond the longest of the others.
    pub keys: Span,
    /// Files in the cache folder, from their last change.
    pub cache: Span,
    /// What all files in the cache folder may take, in bytes: beyond it the oldest go.
    pub cache_bytes: u64,
}

impl Default for Retention {
    fn default() -> Self {
        let days = |days| Span::seconds(days * DAY);
        Self {
            transcripts: days(400),
            inbox: days(400),
            outbox: days(400),
            keys: days(45),
            cache: days(30),
            cache_bytes: 2 << 30,
        }
    }
}

impl Retention {
    /// Returns from when on everything is kept at this moment.
    pub fn since(&self, now: DateTime<Utc>) -> Since {
        let longest = self.transcripts.max(self.inbox).max(self.outbox);
        Since {
            transcripts: before(now, self.transcripts),
            inbox: before(now, self.inbox),
            outbox: before(now, self.outbox),
            keys: before(before(now, longest), self.keys),
            cache: before(now, self.cache),
        }
    }
}

/// From when on everything is kept: what is older goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    /// What was said in tasks that ended later.
    pub transcripts: DateTime<Utc>,
    /// The words of messages.
    pub inbox: DateTime<Utc>,
    /// What the bot said.
    pub outbox: DateTime<Utc>,
    /// What a message or a task is known again by.
    pub keys: DateTime<Utc>,
    /// Files of the cache.
    pub cache: DateTime<Utc>,
}

fn before(now: DateTime<Utc>, span: Span) -> DateTime<Utc> {
    let span = span.max(Span::seconds(DAY));
    TimeDelta::from_std(span.0)
        .ok()
        .and_then(|d| now.checked_sub_signed(d))
        .unwrap_or(DateTime::<Utc>::MIN_UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_outlive_every_body_and_nothing_goes_within_a_day() {
        let now = DateTime::from_timestamp(2_000_000_000, 0).unwrap();
        let days = |at: DateTime<Utc>| (now - at).num_days();
        let since = Retention::default().since(now);
        assert_eq!(
            [since.transcripts, since.inbox, since.outbox, since.keys].map(days),
            [400, 400, 400, 445]
        );
        let none = Span::seconds(0);
        let short = Retention { inbox: none, cache: none, keys: none, ..Retention::default() };
        assert_eq!((days(short.since(now).inbox), days(short.since(now).cache)), (1, 1));
        let endless =
            Retention { inbox: Span::parse("99999999999d").unwrap(), ..Retention::default() };
        assert_eq!(endless.since(now).inbox, DateTime::<Utc>::MIN_UTC);
    }
}
