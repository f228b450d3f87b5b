//! Reads fields of an update; one of another shape counts as absent.

use chrono::{DateTime, Utc};
use serde_json::Value;

/// Returns a text field.
pub fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// Returns a whole-number field.
pub fn number(value: &Value, key: &str) -> Option<i64> {
    value.get(key)?.as_i64()
}

/// Whether a field is there and `true`.
pub fn is_true(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool) == Some(true)
}

/// Returns an object field.
pub fn object<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|inner| inner.is_object())
}

/// Returns the elements of a list field; none when it is not there.
pub fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
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
