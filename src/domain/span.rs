//! A length of time as people write it in config: `500ms`, `30s`, `10m`, `2h`, `7d`.

use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(
    /// The same, for the machine.
    pub Duration,
);

/// What the schema of a length of time says in `format`.
pub const FORMAT: &str = "span";

const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

impl Span {
    /// Returns so many seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// Reads `30s`; `None` for anything else than a whole number and a unit.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let number: u64 = text[..digits].parse().ok()?;
        let unit = text[digits..].trim();
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
        Some(Self(Duration::from_millis(number.checked_mul(*factor)?)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis() as u64;
        let best = UNITS
            .iter()
            .rev()
            .find(|(_, factor)| millis >= *factor && millis.is_multiple_of(*factor));
        match best {
            Some((unit, factor)) => write!(f, "{}{unit}", millis / factor),
            None if millis == 0 => f.write_str("0s"),
            None => write!(f, "{millis}ms"),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "{text:?} is not a length of time (takes 500ms, 30s, 10m, 2h, 7d)"
            ))
        })
    }
}

impl JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": FORMAT, "description": "a length of time: 500ms, 30s, 10m, 2h, 7d" })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_a_number_with_a_unit_is_taken() {
        assert_eq!(Span::parse("90s"), Some(Span::seconds(90)));
        for bad in ["", "s", "5", "5 years", "-3s", "1.5h", "99999999999999999999d"] {
            assert_eq!(Span::parse(bad), None, "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(millis in 0u64..10_000_000_000) {
            let span = Span(Duration::from_millis(millis));
            prop_assert_eq!(Span::parse(&span.to_string()), Some(span));
        }
    }
}
