//! The environment: read here once, and `SELKIE__SECTION__KEY` turned into values.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde_json::{Map, Value};

use crate::problem::{Place, Problem};
use crate::source::{Environment, SourceValues, put};
use crate::{schema, yaml};

/// What the names of our variables begin with.
pub const PREFIX: &str = "SELKIE__";

/// Stands for bytes that are no text.
const UNREADABLE: char = char::REPLACEMENT_CHARACTER;

/// Reads the environment; the only place that does. Variables that are no Unicode are left out, but ours: they
/// are kept as far as they can be read, and are a problem of the config.
#[expect(clippy::disallowed_methods, reason = "config alone reads the environment")]
pub fn environment() -> Environment {
    // `vars` panics at a variable that is no Unicode; one of another program's must not end us.
    let read = |(name, value): (OsString, OsString)| {
        if name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            let lossy = |text: OsString| text.to_string_lossy().into_owned();
            return Some((lossy(name), lossy(value)));
        }
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(read).collect()
}

fn is_readable(name: &str, value: &str) -> bool {
    !name.contains(UNREADABLE) && !value.contains(UNREADABLE)
}

/// Finds variables of ours that are no text.
pub(super) fn unreadable(env: &Environment) -> Vec<Problem> {
    let ours = env.iter().filter(|(name, _)| name.starts_with(PREFIX));
    ours.filter(|(name, value)| !is_readable(name, value))
        .map(|(name, _)| Problem {
            place: Place::of(name.clone()),
            key: String::new(),
            message: "is not read: its name or its value is not UTF-8 text. Set it again in UTF-8, or unset it"
                .to_owned(),
        })
        .collect()
}

/// Turns `SELKIE__WORKER__MAX_CONCURRENCY=4` into `worker.max_concurrency: 4`. Text stays text (`007` is
/// a password) unless the schema takes no text there; lists are written `a,b` or `[a, b]`. An empty
/// variable counts as not set.
pub(super) fn layer(env: &Environment, root: &Value) -> SourceValues {
    let mut value = Value::Object(Map::new());
    let mut names: BTreeMap<Vec<String>, String> = BTreeMap::new();
    for (name, text) in env {
        let Some(rest) = name.strip_prefix(PREFIX).filter(|_| !text.is_empty()) else { continue };
        if !is_readable(name, text) {
            continue;
        }
        let path: Vec<String> = rest.split("__").map(str::to_lowercase).collect();
        let meant = match schema::find(root, &path) {
            Some(at) => typed(root, &at, text),
            None => Value::String(text.clone()),
        };
        put(&mut value, &path, meant);
        names.insert(path, name.clone());
    }
    let place = move |path: &[String]| {
        let name = (0..=path.len()).rev().find_map(|end| names.get(&path[..end]));
        Place::of(name.cloned().unwrap_or_else(|| "the environment".to_owned()))
    };
    SourceValues { value, place: Box::new(place) }
}

fn typed(root: &Value, at: &str, text: &str) -> Value {
    let types = schema::types(root, at);
    if types.contains("array") && !text.trim_start().starts_with('[') {
        let each = schema::item(root, at).unwrap_or_default();
        return text.split(',').map(|item| typed(root, &each, item.trim())).collect();
    }
    if types.contains("string") || types.is_empty() {
        return Value::String(text.to_owned());
    }
    yaml::value(text).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Finds variables that are nearly ours: `SELKIE_LLM__MODEL` with one underscore is nothing that we take.
pub(super) fn nearly(env: &Environment, root: &Value) -> Vec<Problem> {
    let sections = root.get("properties").and_then(Value::as_object);
    let ours = |name: &str| {
        if !name.starts_with(PREFIX) && name.to_uppercase().starts_with(PREFIX) {
            let rest = name[PREFIX.len()..].to_uppercase();
            return Some(format!("write {PREFIX}{rest}"));
        }
        let rest = name.strip_prefix("SELKIE_").filter(|_| !name.starts_with(PREFIX))?;
        match rest {
            "CONFIG" => return Some("name the file with --config".to_owned()),
            "STATE" => return Some("write SELKIE__FILE_STATE_DIR, or --state".to_owned()),
            _ => {}
        }
        let lower = rest.to_lowercase();
        let known = sections?.keys().filter(|s| {
            lower.strip_prefix(s.as_str()).is_some_and(|r| r.is_empty() || r.starts_with('_'))
        });
        let section = known.max_by_key(|s| s.len())?;
        let below = rest[section.len()..].trim_start_matches('_');
        let path: Vec<&str> =
            [&rest[..section.len()], below].into_iter().filter(|p| !p.is_empty()).collect();
        Some(format!("write {PREFIX}{} (two underscores before each part)", path.join("__")))
    };
    let problem = |(name, meant): (&String, String)| Problem {
        place: Place::of(name.clone()),
        key: String::new(),
        message: format!("is not read: {meant}"),
    };
    env.keys().filter_map(|name| Some((name, ours(name)?))).map(problem).collect()
}

/// Lists variables of ours that are empty: they count as not set.
pub(super) fn empty(env: &Environment) -> Vec<String> {
    let ours = env.iter().filter(|(name, text)| name.starts_with(PREFIX) && text.is_empty());
    ours.map(|(name, _)| format!("{name} is empty and counts as not set")).collect()
}
