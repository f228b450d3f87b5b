//! YAML text to a tree of values; the parser's own words when it cannot be read.

use serde_json::{Map, Number, Value};

use crate::config::problem::{Place, Problem};

/// Reads one YAML document. Nothing at all is an empty map.
///
/// # Errors
/// Broken YAML, a key that stands twice, or a document that is no map.
pub fn parse(name: &str, text: &str) -> Result<Value, Problem> {
    let mut value: serde_yaml::Value = serde_yaml::from_str(text).map_err(|e| broken(name, &e))?;
    value.apply_merge().map_err(|e| broken(name, &e))?;
    match json(value) {
        Value::Null => Ok(Value::Object(Map::new())),
        map @ Value::Object(_) => Ok(map),
        _ => Err(Problem {
            place: Place::of(name),
            key: String::new(),
            says: "the file takes keys with values (`worker: …`); see config.example.yaml".into(),
        }),
    }
}

/// Reads a value as it may stand behind a key.
pub fn value(text: &str) -> Option<Value> {
    serde_yaml::from_str(text).ok().map(json)
}

fn broken(name: &str, error: &serde_yaml::Error) -> Problem {
    let line = error.location().map(|l| l.line());
    let place = Place { name: name.to_owned(), line };
    Problem { place, key: String::new(), says: format!("the YAML cannot be read: {error}") }
}

fn json(value: serde_yaml::Value) -> Value {
    match value {
        serde_yaml::Value::Null => Value::Null,
        serde_yaml::Value::Bool(b) => Value::Bool(b),
        serde_yaml::Value::Number(n) => number(&n),
        serde_yaml::Value::String(s) => Value::String(s),
        serde_yaml::Value::Sequence(items) => Value::Array(items.into_iter().map(json).collect()),
        serde_yaml::Value::Mapping(map) => {
            Value::Object(map.into_iter().map(|(k, v)| (key(k), json(v))).collect())
        }
        serde_yaml::Value::Tagged(tagged) => json(tagged.value),
    }
}

fn key(value: serde_yaml::Value) -> String {
    match json(value) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn number(n: &serde_yaml::Number) -> Value {
    let whole = n.as_i64().map(Number::from).or_else(|| n.as_u64().map(Number::from));
    whole
        .or_else(|| n.as_f64().and_then(Number::from_f64))
        .map_or_else(|| Value::String(n.to_string()), Value::Number)
}
