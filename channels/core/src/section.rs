//! Reads a channel's section of the config key by key, so that everything wrong with it is told at once.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::Problem;

/// Reads a section into its settings, and the problems of single keys, which are left out of them: one
/// wrong key does not hide the others' limits. `Ok(None)` when the section is absent or empty.
///
/// `taken` says of a key what it takes; what stands in one of `secrets` is never shown.
///
/// # Errors
/// When it is no section at all.
pub fn read<S: DeserializeOwned>(
    section: Value,
    secrets: &[&str],
    taken: fn(&str) -> Option<&'static str>,
) -> Result<Option<(S, Vec<Problem>)>, Vec<Problem>> {
    let map = match section {
        Value::Null => return Ok(None),
        Value::Object(map) if map.is_empty() => return Ok(None),
        Value::Object(map) => map,
        other => return Err(vec![Problem::of("", format!("{other} is not a section with keys"))]),
    };
    let misfit = |(key, value): (&String, &Value)| {
        // Alone, so that its error can name it.
        let alone = Value::Object(Map::from_iter([(key.clone(), value.clone())]));
        let error = serde_json::from_value::<S>(alone).err()?;
        let is_secret = secrets.contains(&key.as_str());
        let shown = if is_secret { "the value".to_owned() } else { value.to_string() };
        Some(match taken(key) {
            Some(taken) => Problem::of(key, format!("{shown} is not accepted; it takes {taken}")),
            None => Problem::of(key, error.to_string()),
        })
    };
    let problems: Vec<Problem> = map.iter().filter_map(misfit).collect();
    let sound = map.into_iter().filter(|(key, _)| !problems.iter().any(|p| p.key == *key));
    let sound: Map<String, Value> = sound.collect();
    match serde_json::from_value(Value::Object(sound)) {
        Ok(settings) => Ok(Some((settings, problems))),
        Err(e) => Err(vec![Problem::of("", e.to_string())]),
    }
}
