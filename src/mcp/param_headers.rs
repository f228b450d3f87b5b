//! `x-mcp-header`: arguments that a tool wants as headers of its calls, too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

/// The key of a schema that names the header.
const KEY: &str = "x-mcp-header";
const MAX_DEPTH: usize = 32;
/// How a value is marked that is written in Base64.
const BEGIN: &str = "=?base64?";
const END: &str = "?=";

struct HeaderProperty<'a> {
    path: Vec<&'a str>,
    schema: &'a Value,
}

/// Says why a tool with this schema cannot be called over HTTP.
pub(crate) fn fault(schema: &Value) -> Option<String> {
    let mut seen = Vec::new();
    for HeaderProperty { path, schema } in named(schema) {
        let property = path.join(".");
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let name = schema[KEY].as_str().filter(|name| !name.is_empty() && name.chars().all(token));
        let Some(name) = name.map(str::to_ascii_lowercase) else {
            return Some(format!("{KEY} of {property} is no header's name"));
        };
        if seen.contains(&name) {
            return Some(format!("{KEY} of {property} is another argument's, too"));
        }
        seen.push(name);
        if !matches!(schema["type"].as_str(), Some("string" | "integer" | "boolean")) {
            return Some(format!("{KEY} of {property} is for text, a whole number or a yes or no"));
        }
    }
    None
}

/// Returns the headers of a call: the tool, and the arguments that it wants there.
pub(crate) fn of_call(
    tool: &str,
    schema: Option<&Value>,
    arguments: &Map<String, Value>,
) -> HeaderMap {
    let wanted = schema.map(named).into_iter().flatten();
    let wanted = wanted.filter_map(|HeaderProperty { path, schema }| {
        let first = arguments.get(*path.first()?)?;
        let text = match path[1..].iter().try_fold(first, |value, key| value.get(key))? {
            Value::String(text) => text.clone(),
            value @ (Value::Bool(_) | Value::Number(_)) => value.to_string(),
            _ => return None,
        };
        let name = format!("mcp-param-{}", schema[KEY].as_str()?);
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, header_value(&text)))
    });
    let tool = (HeaderName::from_static("mcp-name"), header_value(tool));
    wanted.chain([tool]).collect()
}

/// Writes a value as a header can hold it.
fn header_value(text: &str) -> HeaderValue {
    let is_plain = text.chars().all(|c| matches!(c, ' '..='~')) && text.trim() == text;
    let written = match is_plain && !(text.starts_with(BEGIN) && text.ends_with(END)) {
        true => text.to_owned(),
        false => format!("{BEGIN}{}{END}", STANDARD.encode(text)),
    };
    HeaderValue::from_str(&written).expect("it is printable ASCII")
}

fn named(schema: &Value) -> Vec<HeaderProperty<'_>> {
    let mut all = Vec::new();
    collect(schema, &mut Vec::new(), &mut all);
    all
}

fn collect<'a>(schema: &'a Value, path: &mut Vec<&'a str>, all: &mut Vec<HeaderProperty<'a>>) {
    let properties = schema["properties"].as_object().filter(|_| path.len() < MAX_DEPTH);
    for (name, schema) in properties.into_iter().flatten() {
        path.push(name);
        if schema.get(KEY).is_some() {
            all.push(HeaderProperty { path: path.clone(), schema });
        }
        collect(schema, path, all);
        path.pop();
    }
}
