//! Reads fields of a platform's event; one of another shape counts as absent.

use serde_json::Value;

/// Returns a text field that is not empty.
pub fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
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

/// Whether a list of names, with blanks in between, has this one.
pub fn has(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}
