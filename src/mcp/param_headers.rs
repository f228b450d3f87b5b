//! `x-mcp-header`: arguments that a tool wants as headers of its calls, too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::ask::ParamHeader;

/// The key of a schema that names the header.
const KEY: &str = "x-mcp-header";
/// How deep schemas are looked into.
const MAX_DEPTH: usize = 32;
/// How a value is marked that is written in Base64.
const BEGIN: &str = "=?base64?";
const END: &str = "?=";

/// A property that names a header.
struct Named<'a> {
    path: Vec<&'a str>,
    schema: &'a Value,
    header: &'a Value,
}

/// Says why a tool with this schema cannot be called over HTTP.
pub(crate) fn fault(schema: &Value) -> Option<String> {
    if schema.get(KEY).is_some() || stands_elsewhere(schema, true, 0) {
        return Some(format!("{KEY} stands where no argument is"));
    }
    let mut seen = Vec::new();
    for Named { path, schema, header } in named(schema) {
        let property = path.join(".");
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let name = header.as_str().filter(|name| !name.is_empty() && name.chars().all(token));
        let Some(name) = name else {
            return Some(format!("{KEY} of {property} is no header's name"));
        };
        let name = name.to_ascii_lowercase();
        if seen.contains(&name) {
            return Some(format!("{KEY} of {property} is another argument's, too"));
        }
        seen.push(name);
        let kind = schema.get("type").and_then(Value::as_str);
        if !matches!(kind, Some("string" | "integer" | "boolean")) {
            return Some(format!("{KEY} of {property} is for text, a whole number or a yes or no"));
        }
    }
    None
}

/// Returns the headers of a call.
pub(crate) fn of_call(schema: &Value, arguments: &Map<String, Value>) -> Vec<ParamHeader> {
    let headers = named(schema).into_iter().filter_map(|named| {
        let mut path = named.path.iter();
        let first = arguments.get(*path.next()?)?;
        let value = path.try_fold(first, |value, key| value.get(key))?;
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return None,
        };
        let name = named.header.as_str()?.to_owned();
        Some(ParamHeader { name, value: header_value(&text) })
    });
    headers.collect()
}

/// Writes a value as a header can hold it.
pub(crate) fn header_value(text: &str) -> String {
    let blank = |c: char| matches!(c, ' ' | '\t');
    let has_plain_ends = !text.starts_with(blank) && !text.ends_with(blank);
    let is_marked = text.starts_with(BEGIN) && text.ends_with(END);
    match text.chars().all(|c| matches!(c, ' '..='~')) && has_plain_ends && !is_marked {
        true => text.to_owned(),
        false => format!("{BEGIN}{}{END}", STANDARD.encode(text)),
    }
}

fn named(schema: &Value) -> Vec<Named<'_>> {
    let mut all = Vec::new();
    collect(schema, &mut Vec::new(), &mut all);
    all
}

fn collect<'a>(schema: &'a Value, path: &mut Vec<&'a str>, all: &mut Vec<Named<'a>>) {
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    if path.len() >= MAX_DEPTH {
        return;
    }
    for (name, schema) in properties {
        path.push(name);
        if let Some(header) = schema.get(KEY) {
            all.push(Named { path: path.clone(), schema, header });
        }
        collect(schema, path, all);
        path.pop();
    }
}

/// Whether the key stands where no chain of `properties` leads.
fn stands_elsewhere(schema: &Value, is_on_chain: bool, depth: usize) -> bool {
    if depth > MAX_DEPTH * 2 {
        return false;
    }
    let all = |map: &Value, is_on_chain| match map {
        Value::Object(map) => {
            map.values().any(|schema| stands_elsewhere(schema, is_on_chain, depth + 1))
        }
        _ => false,
    };
    match schema {
        Value::Array(schemas) => {
            schemas.iter().any(|schema| stands_elsewhere(schema, false, depth + 1))
        }
        Value::Object(schema) => schema.iter().any(|(key, value)| match key.as_str() {
            KEY => !is_on_chain,
            "properties" => all(value, is_on_chain),
            "$defs" | "definitions" | "dependentSchemas" | "patternProperties" => all(value, false),
            "default" | "const" | "enum" | "examples" | "dependentRequired" => false,
            _ => stands_elsewhere(value, false, depth + 1),
        }),
        _ => false,
    }
}
