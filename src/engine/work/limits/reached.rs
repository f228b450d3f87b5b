//! Limits that are reached, by the names that config and counters have for them.

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};

use super::settings::{Caps, DailyUse};

/// Whose share of something it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Person,
    Conversation,
    Everybody,
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Messages,
    Commands,
    Calls,
    Cost,
    /// Of models without a price.
    Tokens,
    Bytes,
    Daily(DailyUse),
}

/// A limit that is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitHit {
    pub(super) whose: Whose,
    pub(super) what: What,
    /// The counter's name, and since when it counts.
    pub(super) who: String,
    pub(super) since: DateTime<Utc>,
}

impl What {
    /// What model calls use up.
    pub(super) const OF_MODELS: [Self; 3] = [Self::Calls, Self::Cost, Self::Tokens];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Commands => "commands",
            Self::Calls => "calls",
            Self::Cost => "micro_usd",
            Self::Tokens => "unpriced_tokens",
            Self::Bytes => "bytes",
            Self::Daily(what) => what.name(),
        }
    }

    pub(super) const fn of(self, caps: Caps) -> Option<u64> {
        match self {
            Self::Messages | Self::Commands => caps.messages,
            Self::Calls => caps.calls,
            Self::Cost => caps.micro_usd,
            Self::Tokens => caps.tokens,
            Self::Bytes => caps.bytes,
            Self::Daily(_) => caps.daily,
        }
    }

    pub(super) fn window(self) -> TimeDelta {
        match self {
            Self::Messages | Self::Commands => TimeDelta::minutes(1),
            _ => TimeDelta::days(1),
        }
    }

    /// When the time that is counted began.
    pub(super) fn since(self, at: DateTime<Utc>) -> DateTime<Utc> {
        // Only times outside of the calendar cannot be cut.
        at.duration_trunc(self.window()).unwrap_or(at)
    }
}

impl LimitHit {
    /// Names who has reached it: `tg:4711`, `tg:-100123`, `everybody`.
    pub fn who(&self) -> &str {
        self.who.split_once(' ').map_or(&self.who, |(_, who)| who)
    }

    /// Names it as the config does.
    pub fn key(&self) -> String {
        let whose = match self.whose {
            Whose::Person => "person",
            Whose::Conversation => "conversation",
            Whose::Everybody => "everybody",
        };
        let what = match self.what {
            What::Messages | What::Commands => "messages_per_minute",
            What::Calls => "calls_per_day",
            What::Cost => "cost_usd_per_day",
            What::Tokens => "tokens_per_day",
            What::Bytes => "download_mb_per_day",
            What::Daily(what) => return what.key().to_owned(),
        };
        format!("limits.{whose}.{what}")
    }
}
