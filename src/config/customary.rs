//! The variables that other programs use too: they rank below everything that is written for selkie.

use serde_json::{Map, Value};

use crate::config::problem::Place;
use crate::config::source::{Environment, Written, put};

/// A variable, the provider it belongs to, and the provider's own address; the first one set is chosen
/// when no model is configured.
const KEYS: [(&str, &str, &str); 2] = [
    ("OPENAI_API_KEY", "openai", "https://api.openai.com/v1"),
    ("ANTHROPIC_API_KEY", "anthropic", "https://api.anthropic.com/v1"),
];
/// The key of Brave's search, and whose server takes it.
const SEARCH: (&str, &str) = ("BRAVE_SEARCH_API_KEY", "https://api.search.brave.com");
/// Who serves a profile that does not say.
const USUAL: &str = "openai";

/// Fills in keys where the merged config has none: for every profile of the provider that asks the
/// provider's own server (a key must not reach another), and, when no model is configured at all, for
/// the provider whose variable is set.
pub fn layer(env: &Environment, merged: &Value) -> Written {
    let mut value = Value::Object(Map::new());
    let keys = KEYS.iter().filter_map(|(variable, provider, _)| {
        env.get(*variable).filter(|k| !k.trim().is_empty()).map(|k| (*provider, k.trim()))
    });
    let llm = merged.get("llm").and_then(Value::as_object);
    let configured = llm.is_some_and(|l| l.values().any(|v| !v.is_null()));
    for (provider, secret) in keys {
        if !configured && value.get("llm").is_none() {
            put(&mut value, &path(&["llm", "provider"]), provider.into());
            put(&mut value, &path(&["llm", "api_key"]), secret.into());
        }
        if llm.is_some_and(|l| is_profile(l) && wants(l, provider)) {
            put(&mut value, &path(&["llm", "api_key"]), secret.into());
        }
        let profiles = llm.and_then(|l| l.get("profiles")).and_then(Value::as_object);
        for (name, profile) in profiles.into_iter().flatten() {
            if profile.as_object().is_some_and(|p| wants(p, provider)) {
                put(&mut value, &path(&["llm", "profiles", name, "api_key"]), secret.into());
            }
        }
    }
    if let Some(secret) = env.get(SEARCH.0).filter(|k| !k.trim().is_empty() && searches(merged)) {
        let at = path(&["tools", "web_search", "brave", "api_key"]);
        put(&mut value, &at, secret.trim().into());
    }
    let provider_of = merged.clone();
    let chosen = value.clone();
    Written { value, place: Box::new(move |path| place(path, &provider_of, &chosen)) }
}

/// Whether a search key is wanted: none is written, and it would reach its own server alone.
fn searches(merged: &Value) -> bool {
    let of = |key: &str| merged.pointer(&format!("/tools/web_search/brave/{key}"));
    of("api_key").is_none_or(Value::is_null)
        && of("base_url")
            .and_then(Value::as_str)
            .is_none_or(|u| u.trim_end_matches('/') == SEARCH.1)
}

/// Whether the section itself is a profile, in the short form.
fn is_profile(llm: &Map<String, Value>) -> bool {
    ["provider", "model"].iter().any(|key| llm.get(*key).is_some_and(|v| !v.is_null()))
}

fn wants(profile: &Map<String, Value>, provider: &str) -> bool {
    let text = |key: &str| profile.get(key).and_then(Value::as_str);
    let home = KEYS.iter().find(|(_, p, _)| *p == provider).map(|(_, _, home)| *home);
    text("provider").unwrap_or(USUAL) == provider
        && profile.get("api_key").is_none_or(Value::is_null)
        && text("endpoint").is_none_or(|e| Some(e.trim_end_matches('/')) == home)
}

fn place(path: &[String], merged: &Value, chosen: &Value) -> Place {
    if path.first().is_some_and(|section| section == "tools") {
        return Place::of(SEARCH.0);
    }
    let section = path.split_last().map_or(path, |(_, parents)| parents);
    let provider = [merged, chosen].into_iter().find_map(|tree| {
        section.iter().try_fold(tree, |v, key| v.get(key))?.get("provider")?.as_str()
    });
    let provider = provider.unwrap_or(USUAL);
    let variable = KEYS.iter().find(|(_, p, _)| *p == provider).map_or(KEYS[0].0, |(v, ..)| v);
    Place::of(variable)
}

fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|k| (*k).to_owned()).collect()
}
