//! Reads fields of an update; one of another shape counts as absent.

use chrono::{DateTime, Utc};
pub use selkie_channel_core::field::{has, is_true, list, number, object};
use serde_json::Value;

/// Returns a text field, be it empty.
pub fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// Returns a field that holds seconds since 1970.
pub fn time(value: &Value, key: &str) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp(number(value, key)?, 0)
}

/// Returns a person's or a chat's name as Telegram shows it.
pub fn name(value: &Value) -> String {
    if let Some(title) = text(value, "title") {
        return title.to_owned();
    }
    let names = [text(value, "first_name"), text(value, "last_name")];
    names.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
