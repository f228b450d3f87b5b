//! What only the types know of a config: each value is tried alone, to find the keys whose values they refuse.

use serde_json::{Value, json};

use crate::problem::Wrong;
use crate::schema;
use crate::settings::Settings;

/// Lists the values that the types refuse, though the schema takes them; empty when none is refused alone.
pub fn refused(own: &Value) -> Vec<Wrong> {
    let mut found = Vec::new();
    schema::leaves(own, &mut Vec::new(), &mut |path, _| match serde_json::from_value::<Settings>(
        alone(own, path),
    ) {
        Err(error) if !error.to_string().starts_with("missing field") => {
            found.push((path.to_vec(), format!("is not accepted: {error}")));
        }
        _ => {}
    });
    found
}

/// One value in the sections and lists that it stands in, and nothing beside it.
fn alone(whole: &Value, path: &[String]) -> Value {
    let Some((key, rest)) = path.split_first() else { return whole.clone() };
    let inner = match whole {
        Value::Array(items) => key.parse().ok().and_then(|index: usize| items.get(index)),
        other => other.get(key),
    };
    let inner = inner.map_or(Value::Null, |inner| alone(inner, rest));
    if whole.is_array() { json!([inner]) } else { json!({ key: inner }) }
}
