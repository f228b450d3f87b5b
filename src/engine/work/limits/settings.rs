//! The `limits` section: what people may use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What people may use. Owners are held to `schedules_per_person` and to what a day may cost everybody alone
/// (`everybody.cost_usd_per_day`, `everybody.tokens_per_day`). Each is for one person, for one conversation, or for all people
/// together; 0: no limit. Days are days in UTC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Schedules that one person has at a time, active or paused; owners are held to it, too.
    pub schedules_per_person: u32,
    /// What one person may use.
    pub person: PersonLimits,
    /// What the people of one conversation may use together.
    pub conversation: ConversationLimits,
    /// What all people may use together.
    pub everybody: EverybodyLimits,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            schedules_per_person: 100,
            person: PersonLimits::default(),
            conversation: ConversationLimits::default(),
            everybody: EverybodyLimits::default(),
        }
    }
}

impl LimitSettings {
    /// Returns how many schedules one person may have at a time.
    pub fn schedules(&self) -> u32 {
        if self.schedules_per_person == 0 { u32::MAX } else { self.schedules_per_person }
    }
}

/// What is counted for each person alone, by limits of other sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DailyUse {
    /// A voice message is listened to.
    Heard,
    /// Words are said aloud.
    Said,
    /// A picture is made.
    Drawn,
}

impl DailyUse {
    /// What its counter is called.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Heard => "voice",
            Self::Said => "speech",
            Self::Drawn => "images",
        }
    }

    /// The key of its limit.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Heard => "transcription.per_day",
            Self::Said => "speech.per_day",
            Self::Drawn => "images.per_day",
        }
    }
}

/// The same limits, as a share sets them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Caps {
    pub(crate) messages: Option<u64>,
    pub(crate) calls: Option<u64>,
    pub(crate) micro_usd: Option<u64>,
    /// Of models without a price.
    pub(crate) tokens: Option<u64>,
    pub(crate) bytes: Option<u64>,
    /// Of other sections, and of people alone.
    pub(crate) daily: Option<u64>,
}

impl Caps {
    /// Returns the limits of the cost alone.
    pub(crate) fn of_cost(self) -> Self {
        Self { micro_usd: self.micro_usd, tokens: self.tokens, ..Self::default() }
    }
}

macro_rules! shares {
    ($($(#[$doc:meta])* $name:ident = $messages:expr, $calls:expr, $usd:expr, $tokens:expr, $mb:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            /// Messages for the bot in a minute; those beyond it are not answered. As many commands and taps,
            /// counted apart.
            pub messages_per_minute: u64,
            /// Calls of the model in a day.
            pub calls_per_day: u64,
            /// What the model may cost in a day, in US dollars; counted where prices are known, see
            /// `tokens_per_day`.
            #[schemars(range(min = 0))]
            pub cost_usd_per_day: f64,
            /// Tokens that models without a price may read and write in a day: what they cost is not known.
            pub tokens_per_day: u64,
            /// Mebibytes of files that are fetched in a day.
            pub download_mb_per_day: u64,
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    messages_per_minute: $messages,
                    calls_per_day: $calls,
                    cost_usd_per_day: $usd,
                    tokens_per_day: $tokens,
                    download_mb_per_day: $mb,
                }
            }
        }

        impl $name {
            pub(crate) fn caps(&self) -> Caps {
                let set = |limit: u64| (limit > 0).then_some(limit);
                Caps {
                    messages: set(self.messages_per_minute),
                    calls: set(self.calls_per_day),
                    // Less than a millionth of a dollar is the least there is.
                    micro_usd: (self.cost_usd_per_day > 0.0)
                        .then_some((self.cost_usd_per_day * 1e6).max(1.0) as u64),
                    tokens: set(self.tokens_per_day),
                    bytes: set(self.download_mb_per_day.saturating_mul(1024 * 1024)),
                    daily: None,
                }
            }
        }
    )*};
}

shares! {
    /// What one person may use.
    PersonLimits = 20, 300, 2.0, 5_000_000, 200;
    /// What the people of one conversation may use together.
    ConversationLimits = 60, 1000, 10.0, 25_000_000, 1000;
    /// What all people may use together.
    EverybodyLimits = 0, 10_000, 50.0, 100_000_000, 10_000;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_limit_leaves_the_others_as_they_are() {
        let settings: LimitSettings =
            serde_json::from_str(r#"{"person": {"calls_per_day": 5, "cost_usd_per_day": 0}}"#)
                .unwrap();
        let caps = settings.person.caps();
        assert_eq!((caps.calls, caps.micro_usd, caps.messages), (Some(5), None, Some(20)));
        assert_eq!(settings.conversation, ConversationLimits::default());
        assert!(serde_json::from_str::<LimitSettings>(r#"{"people": {}}"#).is_err());
    }
}
