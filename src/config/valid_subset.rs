//! What is left of a config when its wrong values are taken out, so that the rest is checked in the same run.

use serde_json::{Map, Value, json};

use crate::schema;
use crate::source::at_mut;

/// Takes the values at `faulty` out of `value`: a key that may be left out goes, what has to be there gets a
/// value that says nothing. Whatever is found wrong with such a value has been told already.
pub fn sound(root: &Value, mut value: Value, faulty: &[Vec<String>]) -> Value {
    for path in faulty {
        if let Some((last, parents)) = path.split_last() {
            settle(root, &mut value, parents, last);
        }
    }
    value
}

fn settle(root: &Value, value: &mut Value, parents: &[String], last: &str) {
    let path = [parents, &[last.to_owned()]].concat();
    let filler = || schema::find(root, &path).map_or(Value::Null, |at| empty(root, &at));
    match at_mut(value, parents) {
        Some(Value::Object(map)) => {
            map.remove(last);
            if is_required(root, parents, last) {
                map.insert(last.to_owned(), filler());
            }
        }
        Some(Value::Array(items)) => {
            if let Some(item) = last.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                *item = filler();
            }
        }
        _ => {}
    }
}

fn is_required(root: &Value, parents: &[String], last: &str) -> bool {
    schema::find(root, parents)
        .and_then(|at| root.pointer(&at)?.get("required")?.as_array().cloned())
        .is_some_and(|required| required.iter().any(|key| key == last))
}

/// A value of the right type that says nothing.
fn empty(root: &Value, at: &str) -> Value {
    let types = schema::types(root, at);
    let least = root.pointer(at).and_then(|s| s.get("minimum")).cloned();
    let listed = root.pointer(at).and_then(|s| s.get("enum")?.get(0)).cloned();
    match types.iter().map(String::as_str).find(|name| *name != "null") {
        _ if listed.is_some() => listed.unwrap_or_default(),
        Some("array") => json!([]),
        Some("boolean") => json!(false),
        Some("integer" | "number") => least.unwrap_or_else(|| json!(1)),
        Some("object") => Value::Object(Map::new()),
        _ => json!(""),
    }
}
