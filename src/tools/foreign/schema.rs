//! The schema of somebody else's tool: taken as it is, or not at all.

use serde_json::{Map, Value};

/// Bytes of a schema, and how deep it may nest.
const MAX_BYTES: usize = 64 * 1024;
const MAX_DEPTH: usize = 32;
/// Characters of a pattern: longer ones cost whoever checks by them.
const MAX_PATTERN: usize = 500;
/// What stands at the root of no tool that every provider takes.
const NOT_AT_THE_ROOT: [&str; 6] = ["oneOf", "anyOf", "allOf", "not", "enum", "$ref"];

/// Returns the schema of a tool's arguments as providers take it: an object with its properties.
///
/// # Errors
/// Why no provider would take it, or what would have to be fetched for it.
pub fn foreign_schema(schema: &Value) -> Result<Value, String> {
    let Value::Object(root) = schema else { return Err("its schema is no object".to_owned()) };
    if schema.to_string().len() > MAX_BYTES {
        return Err(format!("its schema has more than {} KiB", MAX_BYTES / 1024));
    }
    if root.get("type").is_some_and(|kind| kind != "object") {
        return Err("its schema is not of type object".to_owned());
    }
    if let Some(key) = NOT_AT_THE_ROOT.iter().find(|key| root.contains_key(**key)) {
        return Err(format!("its schema has {key} at the root, which providers refuse"));
    }
    look(schema, 0)?;
    let mut root = root.clone();
    root.insert("type".to_owned(), "object".into());
    let properties = root.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(properties) = properties else {
        return Err("the properties of its schema are no object".to_owned());
    };
    match properties.keys().find(|name| !is_parameter(name)) {
        Some(name) => Err(format!("providers refuse a parameter called {name:?}")),
        None => Ok(Value::Object(root)),
    }
}

fn is_parameter(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain)
}

fn look(schema: &Value, depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("its schema nests deeper than {MAX_DEPTH} levels"));
    }
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("$ref" | "$dynamicRef", Value::String(to)) if !to.starts_with('#') => {
                        return Err("its schema refers to something elsewhere".to_owned());
                    }
                    ("pattern", Value::String(pattern))
                        if pattern.chars().count() > MAX_PATTERN =>
                    {
                        return Err(format!(
                            "its schema has a pattern of more than {MAX_PATTERN} characters"
                        ));
                    }
                    _ => look(value, depth + 1)?,
                }
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| look(item, depth + 1)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_no_provider_takes_is_refused_with_the_reason() {
        let mut deep = json!({});
        for _ in 0..40 {
            deep = json!({ "items": deep });
        }
        for (schema, why) in [
            (json!([]), "no object"),
            (json!({ "type": "string" }), "not of type object"),
            (json!({ "type": "object", "anyOf": [] }), "anyOf at the root"),
            (json!({ "properties": { "a b": {} } }), "a parameter called \"a b\""),
            (json!({ "properties": [] }), "are no object"),
            (json!({ "properties": { "a": { "$ref": "https://x.example/s" } } }), "elsewhere"),
            (json!({ "properties": { "a": { "$ref": "#/$defs/a" } } }), ""),
            (json!({ "properties": { "a": { "pattern": "x".repeat(501) } } }), "a pattern"),
            (json!({ "properties": { "a": deep } }), "nests deeper"),
            (json!({ "properties": { "a": { "description": "x".repeat(70_000) } } }), "64 KiB"),
        ] {
            match foreign_schema(&schema) {
                Ok(_) => assert_eq!(why, "", "{schema}"),
                Err(said) => assert!(!why.is_empty() && said.contains(why), "{said}"),
            }
        }
        assert_eq!(
            foreign_schema(&json!({})).unwrap(),
            json!({ "type": "object", "properties": {} })
        );
    }
}
