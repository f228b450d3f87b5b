//! The `gate:` section and the modes: when the bot speaks in a group although nobody spoke to it.

use std::num::NonZeroUsize;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use selkie_domain::span::Span;

/// How the gate decides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GateSettings {
    /// smart: how sure the model has to be that the bot is meant, 0 to 1.
    pub confidence: Share,
    /// talkative: its wish to speak must be more than this, 0 to 1.
    pub interject: Share,
    /// An answer to a wish above this quotes the line it answers, 0 to 1.
    pub quote_above: Share,
    /// So many waiting lines are looked at; older ones become context.
    pub most_lines: NonZeroUsize,
    /// A waiting line older than this becomes context.
    pub oldest: Span,
    /// The longest decision; without one the bot stays silent.
    pub timeout: Span,
    /// Answers to other bots in a row, without a person's line between them.
    pub bot_answers: u32,
}

impl Default for GateSettings {
    fn default() -> Self {
        Self {
            confidence: Share(0.6),
            interject: Share(0.6),
            quote_above: Share(0.8),
            most_lines: const { NonZeroUsize::new(20).unwrap() },
            oldest: Span::seconds(300),
            timeout: Span::seconds(30),
            bot_answers: 3,
        }
    }
}

/// A number from 0 to 1, both included: zero is a threshold like any other.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Share(pub f64);

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, String> {
        match (0.0..=1.0).contains(&number) {
            true => Ok(Self(number)),
            false => Err(format!("{number} is not between 0 and 1")),
        }
    }
}

impl JsonSchema for Share {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Share".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_and_one_are_thresholds_and_nothing_beyond_is() {
        let read = |text: &str| serde_json::from_str::<GateSettings>(text);
        let zero = read(r#"{"confidence": 0, "interject": 1}"#).unwrap();
        assert_eq!((zero.confidence, zero.interject), (Share(0.0), Share(1.0)));
        assert!(
            read(r#"{"quote_above": 1.1}"#).unwrap_err().to_string().contains("between 0 and 1")
        );
        assert!(read(r#"{"most_lines": 0}"#).is_err());
        assert_eq!(read("{}").unwrap(), GateSettings::default());
    }
}
