//! The `heartbeat:` section: how often the bot looks by itself whether there is something to do.

use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use selkie_domain::span::Span;
use selkie_schedule::hours::ActiveHours;

/// When the heartbeat comes, and where it speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HeartbeatSettings {
    /// Whether there is one.
    pub enabled: bool,
    /// How often, one minute to one year.
    pub every: Interval,
    /// How long after it was switched on, or changed, it first comes.
    pub first_after: Span,
    /// Only between these times of day, such as `08:00-22:00`; absent: all day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<Hours>,
    /// The conversation it speaks in; absent: the first owner's latest private one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

impl Default for HeartbeatSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            every: Interval(Span::seconds(30 * 60)),
            first_after: Span::seconds(5 * 60),
            active: None,
            to: None,
        }
    }
}

/// How often something comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Span")]
pub struct Interval(pub Span);

impl TryFrom<Span> for Interval {
    type Error = String;

    fn try_from(span: Span) -> Result<Self, String> {
        const TAKEN: std::ops::RangeInclusive<Duration> =
            Duration::from_secs(60)..=Duration::from_secs(366 * 86_400);
        match TAKEN.contains(&span.0) {
            true => Ok(Self(span)),
            false => Err(format!("{span} is not taken: one minute to one year is")),
        }
    }
}

impl JsonSchema for Interval {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Span::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Span::json_schema(generator)
    }
}

/// A part of the day, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Hours(String);

impl Hours {
    /// Returns them as they are written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Hours {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let hours: ActiveHours =
            text.parse().map_err(|e: selkie_schedule::hours::HoursError| e.to_string())?;
        Ok(Self(hours.to_string()))
    }
}

impl JsonSchema for Hours {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Hours".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "a part of the day: 08:00-22:00" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_keeps_up_with_is_refused() {
        let read = |text: &str| serde_json::from_str::<HeartbeatSettings>(text);
        assert_eq!(read("{}").unwrap(), HeartbeatSettings::default());
        assert!(
            read(r#"{"every": "5s"}"#).unwrap_err().to_string().contains("one minute to one year")
        );
        assert!(read(r#"{"active": "8-22"}"#).unwrap_err().to_string().contains("08:00-22:00"));
        assert_eq!(
            read(r#"{"active": "22:00-06:00"}"#).unwrap().active.unwrap().as_str(),
            "22:00-06:00"
        );
    }
}
