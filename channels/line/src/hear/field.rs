//! Reads fields of an event; one of another shape counts as absent.

use chrono::{DateTime, Utc};
pub use selkie_channel_core::field::{has, is_true, list, number, object, text};
use serde_json::Value;

/// Returns a field that holds milliseconds since 1970.
pub fn time(value: &Value, key: &str) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(number(value, key)?)
}
