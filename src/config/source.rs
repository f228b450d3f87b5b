//! What one source of the config says: a tree of keys, and where each was written.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::problem::Place;

/// The environment as a value.
pub type Environment = BTreeMap<String, String>;

/// Values that a flag sets.
#[derive(Clone, Debug)]
pub struct Flag {
    /// As it is written: `--state`.
    pub name: String,
    /// A map of sections and keys.
    pub value: Value,
}

/// Tells where the value of a path was written.
pub type PlaceOf = Box<dyn Fn(&[String]) -> Place>;

/// Values as one source wrote them.
pub struct SourceValues {
    /// A map of sections and keys.
    pub value: Value,
    /// Where the value of a path was written.
    pub place: PlaceOf,
}

/// Puts a value at a path, making sections on the way.
pub fn put(value: &mut Value, path: &[String], leaf: Value) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut at = value;
    for key in parents {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        at = &mut at[key.as_str()];
    }
    if !at.is_object() {
        *at = Value::Object(Map::new());
    }
    at[last.as_str()] = leaf;
}

/// Returns what stands at a path of keys, and of numbers in lists.
pub fn at<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

/// The same, to be changed.
pub fn at_mut<'v>(value: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, key| match value {
        Value::Array(items) => items.get_mut(key.parse::<usize>().ok()?),
        other => other.get_mut(key),
    })
}

/// Writes a path as people read it: `owners[0]`, `groups.tg:-100.allow`.
pub fn key(path: &[String]) -> String {
    path.iter().fold(String::new(), |mut out, part| {
        if part.parse::<usize>().is_ok() && !out.is_empty() {
            out.push_str(&format!("[{part}]"));
        } else {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(part);
        }
        out
    })
}

/// Returns the path of a dotted key.
pub fn split(key: &str) -> Vec<String> {
    key.split('.').map(str::to_owned).collect()
}

/// Returns the path of these keys, which may hold dots.
pub fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}
