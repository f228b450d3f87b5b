//! The config as it takes effect: every key, its value, and where the value came from. Secrets never.

use serde::Serialize;
use serde_json::{Value, json};

use crate::paths::{FolderPaths, Folders, From};
use crate::{RawConfig, urls};

/// One key as it takes effect.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Its path.
    pub key: String,
    /// Its value as JSON; `"[set]"` for a secret and in the place of one inside a URL, null when nothing is
    /// set. What stands under an unknown key is not shown.
    pub value: Value,
    /// `config.yaml:7`, a variable, a flag, or `default`.
    pub from: String,
}

/// Lists every key in the schema's order; keys of named entries (profiles, groups) where they are written.
pub fn lines(reading: &RawConfig) -> Vec<Line> {
    let found = reading.folders();
    let mut walk = Walk { reading, found: found.as_ref(), lines: Vec::new() };
    // Most defaults stand in the schema; which model answers hangs on several keys.
    let effect = reading.settings.as_ref().zip(found.as_ref()).map(|(s, found)| {
        let Folders { state, cache } = &found.folders;
        json!({ "llm": s.llm.in_effect(), "file_state_dir": state, "file_cache_dir": cache })
    });
    walk.section("", Some(&reading.value), effect.as_ref(), &mut Vec::new());
    walk.lines
}

fn is_no_url(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.contains("://"))
}

struct Walk<'a> {
    reading: &'a RawConfig,
    found: Option<&'a FolderPaths>,
    lines: Vec<Line>,
}

impl Walk<'_> {
    /// Walks the keys of a section: those of the schema, then those that are only written.
    fn section(
        &mut self,
        at: &str,
        written: Option<&Value>,
        default: Option<&Value>,
        path: &mut Vec<String>,
    ) {
        let reading = self.reading;
        let known = reading.schema.pointer(&format!("{at}/properties")).and_then(Value::as_object);
        let mut keys: Vec<&String> = known.into_iter().flat_map(|k| k.keys()).collect();
        let extra = written.and_then(Value::as_object).into_iter().flat_map(|w| w.keys());
        keys.extend(extra.filter(|k| known.is_none_or(|known| !known.contains_key(*k))));
        for key in keys {
            path.push(key.clone());
            let own = known.and_then(|k| k.get(key)).and_then(|s| s.get("default"));
            let default = default.and_then(|d| d.get(key)).or(own);
            self.key(written.and_then(|w| w.get(key)), default, path);
            path.pop();
        }
    }

    fn key(&mut self, written: Option<&Value>, default: Option<&Value>, path: &mut Vec<String>) {
        let reading = self.reading;
        let at = super::schema::find(&reading.schema, path);
        let nested = at.as_ref().filter(|at| {
            let has = |word: &str| reading.schema.pointer(&format!("{at}/{word}"));
            has("properties").is_some()
                || (has("additionalProperties").is_some_and(Value::is_object)
                    && written.and_then(Value::as_object).is_some_and(|w| !w.is_empty()))
        });
        if let Some(at) = nested {
            return self.section(at, written, default, path);
        }
        let twin = path.last().and_then(|k| k.strip_suffix("_file")).is_some_and(|secret| {
            let mut twin = path.clone();
            twin.pop();
            twin.push(secret.to_owned());
            reading.secrets.hides(&twin)
        });
        if twin {
            // Its content stands at the secret's own key.
            return;
        }
        let value = written.or(default).cloned().unwrap_or(Value::Null);
        let secret = reading.secrets.hides(path) && !value.is_null();
        // A mistyped key can hold a secret as well as the right one.
        let unknown = at.is_none() && written.is_some();
        let from =
            written.map_or_else(|| self.by_itself(path), |_| reading.place(path).to_string());
        let file = super::key(&super::file_twin(path));
        let unread = secret && reading.problems.iter().any(|p| p.key == file);
        let value = match (secret, unknown) {
            _ if unread => Value::Null,
            (true, _) => Value::String("[set]".to_owned()),
            (_, true) => Value::String("[not shown: no such key]".to_owned()),
            // Whatever it is: what is no URL here was meant to be one, with its password.
            _ if path.iter().eq(["store", "url"]) && is_no_url(&value) => {
                Value::String("[set]".to_owned())
            }
            _ => urls::without_secrets(value),
        };
        self.lines.push(Line { key: super::key(path), value, from });
    }

    /// Says where a value comes from that nobody wrote.
    fn by_itself(&self, path: &[String]) -> String {
        let from = self.found.and_then(|found| match path {
            [key] if key == "file_state_dir" => Some(found.state),
            [key] if key == "file_cache_dir" => Some(found.cache),
            _ => None,
        });
        match from {
            Some(From::Variable(name)) if name != "HOME" => name.to_owned(),
            _ => "default".to_owned(),
        }
    }
}
