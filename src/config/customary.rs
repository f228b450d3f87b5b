//! The variables that other programs use too: they rank below everything that is written for selkie.

use serde_json::{Map, Value};

use crate::config::Written;
use crate::config::env::{Environment, put};
use crate::config::problem::Place;

/// Variable and the provider it belongs to; the first one set is chosen when no model is configured.
const KEYS: [(&str, &str); 2] = [("OPENAI_API_KEY", "openai"), ("ANTHROPIC_API_KEY", "anthropic")];

/// Fills in keys where the merged config has none: for every profile of the provider that asks the
/// provider's own server (a key must not reach another), and, when no model is configured at all, for
/// the provider whose variable is set.
pub fn layer(env: &Environment, merged: &Value) -> Written {
    let mut value = Value::Object(Map::new());
    let keys = KEYS.iter().filter_map(|(variable, provider)| {
        env.get(*variable).filter(|k| !k.trim().is_empty()).map(|k| (*provider, k.trim()))
    });
    let llm = merged.get("llm").and_then(Value::as_object);
    let configured = llm.is_some_and(|l| l.values().any(|v| !v.is_null()));
    for (provider, secret) in keys {
        if !configured && value.get("llm").is_none() {
            put(&mut value, &path(&["llm", "provider"]), provider.into());
            put(&mut value, &path(&["llm", "api_key"]), secret.into());
        }
        if llm.is_some_and(|l| wants(l, provider)) {
            put(&mut value, &path(&["llm", "api_key"]), secret.into());
        }
        let profiles = llm.and_then(|l| l.get("profiles")).and_then(Value::as_object);
        for (name, profile) in profiles.into_iter().flatten() {
            if profile.as_object().is_some_and(|p| wants(p, provider)) {
                put(&mut value, &path(&["llm", "profiles", name, "api_key"]), secret.into());
            }
        }
    }
    let provider_of = merged.clone();
    let chosen = value.clone();
    Written { value, place: Box::new(move |path| place(path, &provider_of, &chosen)) }
}

fn wants(profile: &Map<String, Value>, provider: &str) -> bool {
    let unset = |key: &str| profile.get(key).is_none_or(Value::is_null);
    profile.get("provider").is_some_and(|p| p == provider) && unset("api_key") && unset("endpoint")
}

fn place(path: &[String], merged: &Value, chosen: &Value) -> Place {
    let section = path.split_last().map_or(path, |(_, parents)| parents);
    let provider = [merged, chosen].into_iter().find_map(|tree| {
        section.iter().try_fold(tree, |v, key| v.get(key))?.get("provider")?.as_str()
    });
    let variable = KEYS.iter().find(|(_, p)| Some(*p) == provider).map_or(KEYS[0].0, |(v, _)| v);
    Place::of(variable)
}

fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|k| (*k).to_owned()).collect()
}
