//! A length of time as people write it in config: `500ms`, `30s`, `10m`, `2h`, `7d`.

use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::count::counted;

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

    /// Says it to people: `5 minutes`.
    pub fn in_words(self) -> String {
        let words = match self.unit() {
            "d" => ["day", "days"],
            "h" => ["hour", "hours"],
            "m" => ["minute", "minutes"],
            "s" => ["second", "seconds"],
            _ => ["millisecond", "milliseconds"],
        };
        counted(self.number(), words)
    }

    fn millis(self) -> u64 {
        self.0.as_millis() as u64
    }

    /// The largest unit in which it is a whole number.
    fn unit(self) -> &'static str {
        let is_whole =
            |factor: u64| self.millis() >= factor && self.millis().is_multiple_of(factor);
        let best = UNITS.iter().rev().find(|(_, factor)| is_whole(*factor));
        best.map_or(if self.millis() == 0 { "s" } else { "ms" }, |(unit, _)| unit)
    }

    /// How many of its unit it is.
    fn number(self) -> u64 {
        let factor = UNITS.iter().find(|(unit, _)| *unit == self.unit());
        factor.map_or(0, |(_, factor)| self.millis() / factor)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number(), self.unit())
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
    fn people_read_it_in_words() {
        for (text, words) in [
            ("5m", "5 minutes"),
            ("3600s", "1 hour"),
            ("90s", "90 seconds"),
            ("1d", "1 day"),
            ("1ms", "1 millisecond"),
            ("0s", "0 seconds"),
        ] {
            assert_eq!(Span::parse(text).unwrap().in_words(), words);
        }
    }

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
