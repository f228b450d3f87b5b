//! The schema of the whole config: our own settings, the channels' sections, and `<key>_file` beside secrets.

use std::collections::BTreeSet;

use selkie_channel_core::ChannelKit;
use serde_json::{Map, Value, json};

use crate::problem::one_of;
use crate::secrets::Secrets;
use crate::settings::Settings;
use selkie_domain::span::Span;

/// Composes the schema.
pub fn compose(kits: &[ChannelKit], secrets: &Secrets) -> Value {
    let mut root = schemars::schema_for!(Settings).to_value();
    root["title"] = json!("selkie's config");
    for kit in kits {
        let section = embedded((kit.settings)().to_value(), kit.name);
        if let Some(properties) = root["properties"].as_object_mut() {
            properties.insert(kit.name.to_owned(), section);
        }
    }
    for pattern in secrets.with_files() {
        add_file_key(&mut root, pattern);
    }
    root
}

/// Moves a kit's `$ref`s to where its definitions lie in the whole.
fn embedded(mut section: Value, name: &str) -> Value {
    if let Some(map) = section.as_object_mut() {
        map.remove("$schema");
    }
    redirect(&mut section, &format!("#/properties/{name}/$defs/"));
    section
}

fn redirect(value: &mut Value, home: &str) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                match inner {
                    Value::String(text) if key == "$ref" => *text = text.replace("#/$defs/", home),
                    inner => redirect(inner, home),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redirect(item, home)),
        _ => {}
    }
}

/// Lets a secret be named by a file: `api_key` gets `api_key_file` beside it.
fn add_file_key(root: &mut Value, pattern: &[String]) {
    let Some((last, parents)) = pattern.split_last() else { return };
    let Some(parent) = find(root, parents) else { return };
    let Some(properties) = root
        .pointer_mut(&parent)
        .and_then(|p| p.get_mut("properties"))
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    properties.entry(format!("{last}_file")).or_insert_with(|| {
        json!({"type": "string", "description": format!("A file that holds `{last}`; relative to this file's folder.")})
    });
}

/// Returns the JSON pointer of the schema of a key, references followed.
pub fn find(root: &Value, path: &[String]) -> Option<String> {
    path.iter().try_fold(followed(root, String::new()), |at, key| step(root, &at, key))
}

fn followed(root: &Value, mut at: String) -> String {
    while let Some(next) = root
        .pointer(&at)
        .and_then(|s| s.get("$ref"))
        .and_then(Value::as_str)
        .and_then(|r| r.strip_prefix('#'))
    {
        at = next.to_owned();
    }
    at
}

fn step(root: &Value, at: &str, key: &str) -> Option<String> {
    let schema = root.pointer(at)?;
    let escaped = key.replace('~', "~0").replace('/', "~1");
    let property = format!("{at}/properties/{escaped}");
    if root.pointer(&property).is_some() {
        return Some(followed(root, property));
    }
    if schema.get("additionalProperties").is_some_and(Value::is_object) {
        return Some(followed(root, format!("{at}/additionalProperties")));
    }
    if key.parse::<usize>().is_ok() && schema.get("items").is_some() {
        return Some(followed(root, format!("{at}/items")));
    }
    choices(root, at).into_iter().find_map(|choice| step(root, &choice, key))
}

/// Returns the JSON pointer of the schema of a list's items.
pub fn item(root: &Value, at: &str) -> Option<String> {
    step(root, at, "0")
}

fn choices(root: &Value, at: &str) -> Vec<String> {
    let Some(schema) = root.pointer(at) else { return Vec::new() };
    ["anyOf", "oneOf", "allOf"]
        .into_iter()
        .flat_map(|word| {
            let many = schema.get(word).and_then(Value::as_array).map_or(0, Vec::len);
            (0..many).map(move |index| (word, index))
        })
        .map(|(word, index)| followed(root, format!("{at}/{word}/{index}")))
        .collect()
}

/// Returns the type names that the schema at a pointer takes.
pub fn types(root: &Value, at: &str) -> BTreeSet<String> {
    let mut names: BTreeSet<String> =
        choices(root, at).iter().flat_map(|choice| types(root, choice)).collect();
    let Some(schema) = root.pointer(at) else { return names };
    match schema.get("type") {
        Some(Value::String(one)) => _ = names.insert(one.clone()),
        Some(Value::Array(many)) => {
            names.extend(many.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        _ => {}
    }
    let words = schema.get("const").is_some_and(Value::is_string)
        || schema
            .get("enum")
            .and_then(Value::as_array)
            .is_some_and(|e| e.iter().any(Value::is_string));
    if words {
        names.insert("string".to_owned());
    }
    names
}

/// Drops keys without a value: `level:` is as good as not there, `worker:` an empty section.
pub fn settle_nulls(root: &Value, at: &str, value: &mut Value) {
    let Value::Object(map) = value else { return };
    let keys: Vec<String> = map.keys().cloned().collect();
    for key in keys {
        let Some(inner) = step(root, at, &key) else { continue };
        let Some(child) = map.get_mut(&key) else { continue };
        if !child.is_null() {
            settle_nulls(root, &inner, child);
        } else if types(root, &inner).contains("object") {
            *child = Value::Object(Map::new());
        } else {
            map.remove(&key);
        }
    }
}

/// Lists lengths of time that cannot be read: the schema only knows them as strings.
pub fn bad_spans(root: &Value, value: &Value) -> Vec<(Vec<String>, String)> {
    let mut bad = Vec::new();
    leaves(value, &mut Vec::new(), &mut |path, leaf| {
        let Some(text) = leaf.as_str() else { return };
        let is_span = find(root, path).is_some_and(|at| {
            at.ends_with("/$defs/Span")
                || choices(root, &at).iter().any(|c| c.ends_with("/$defs/Span"))
        });
        if is_span && Span::parse(text).is_none() {
            let units = ["500ms", "30s", "10m", "2h", "7d"].map(str::to_owned);
            bad.push((
                path.to_vec(),
                format!("takes a length of time ({}), not {text:?}", one_of(&units)),
            ));
        }
    });
    bad
}

/// Visits every value that holds no others, with its path.
pub fn leaves(value: &Value, path: &mut Vec<String>, visit: &mut dyn FnMut(&[String], &Value)) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, inner) in map {
                path.push(key.clone());
                leaves(inner, path, visit);
                path.pop();
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, inner) in items.iter().enumerate() {
                path.push(index.to_string());
                leaves(inner, path, visit);
                path.pop();
            }
        }
        leaf => visit(path, leaf),
    }
}
