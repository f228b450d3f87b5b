//! Secrets: which keys hold one, and where else than in the config file they may come from.

use std::io;
use std::path::{Path, PathBuf};

use selkie_channel_core::{ChannelKit, redact};
use serde_json::Value;

use crate::problem::{Place, Problem};
use crate::source::{Environment, SourceValues, at, at_mut, key, put, split};
use crate::{read, urls};
use selkie_domain::spelling::nearest;

/// The config's own name among credentials.
const CONFIG: &str = "config.yaml";

/// Our own keys that hold a secret; `*` is any name.
const OWN: [&str; 12] = [
    "images.api_key",
    "llm.api_key",
    "llm.profiles.*.api_key",
    "mcp.servers.*.oauth.client_secret",
    "memory.embeddings.api_key",
    "secrets.auth_profiles.*.credential",
    "speech.api_key",
    "store.password",
    "telemetry.otlp.authorization",
    "tools.web_search.brave.api_key",
    "transcription.api_key",
    "webhooks.hooks.*.secret",
];
/// Stands for a secret whose file cannot be read: that is told, and nothing else of the secret.
const UNREAD: &str = "cannot-be-read";
/// Keys that may hold one and have no `_file`: only hidden.
const HIDDEN: [&str; 4] =
    ["acp.agents.*.env.*", "llm.headers.*", "llm.profiles.*.headers.*", "mcp.servers.*.env.*"];

/// Which keys hold secrets.
#[derive(Clone, Debug)]
pub struct Secrets {
    keys: Vec<Vec<String>>,
    hidden: Vec<Vec<String>>,
}

impl Secrets {
    /// Gathers our own and the kits'.
    pub fn of(kits: &[ChannelKit]) -> Self {
        let also = kits.iter().flat_map(|kit| kit.also.iter().map(|also| also.written));
        let kits =
            kits.iter().flat_map(|k| k.secrets.iter().map(move |s| format!("{}.{s}", k.name)));
        let also = also.map(|(section, key)| format!("{section}.{key}"));
        let keys = OWN.iter().map(|k| (*k).to_owned()).chain(kits).chain(also);
        Self {
            keys: keys.map(|k| split(&k)).collect(),
            hidden: HIDDEN.iter().map(|k| split(k)).collect(),
        }
    }

    /// Lists the keys that have a `<key>_file` beside them.
    pub fn with_files(&self) -> &[Vec<String>] {
        &self.keys
    }

    /// Whether a value must not be shown.
    pub fn hides(&self, path: &[String]) -> bool {
        self.keys.iter().chain(&self.hidden).any(|pattern| fits(pattern, path))
    }

    /// Lists the secrets that a value holds, for the redactor.
    pub fn values(&self, value: &Value) -> Vec<String> {
        let patterns = self.keys.iter().chain(&self.hidden);
        let own = patterns
            .flat_map(|pattern| paths(pattern, value))
            .filter_map(|path| at(value, &path)?.as_str().map(str::to_owned));
        own.chain(urls::secrets(value)).collect()
    }

    /// Lists the keys whose secret is so short or so much like a word that it is not hidden everywhere.
    pub fn weak(&self, value: &Value) -> Vec<String> {
        let patterns = self.keys.iter().chain(&self.hidden);
        let own = patterns.flat_map(|pattern| paths(pattern, value));
        let is_weak = |path: &Vec<String>| {
            let Some(secret) = at(value, path).and_then(Value::as_str) else { return false };
            // Of a profile's user and password, the password alone is a secret, too.
            let password = secret.split_once(':').map(|(_, password)| password);
            let password = password.filter(|_| path.first().is_some_and(|key| key == "secrets"));
            redact::is_weak(secret.trim()) || password.is_some_and(|it| redact::is_weak(it.trim()))
        };
        let mut weak: Vec<String> = own.filter(is_weak).map(|path| key(&path)).collect();
        in_urls(value, &mut Vec::new(), &mut weak);
        weak.sort();
        weak.dedup();
        weak
    }

    /// Lists the paths of secrets that are the name of a variable: nothing puts its value there.
    pub fn unexpanded(&self, value: &Value) -> Vec<Vec<String>> {
        let is_letter = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let is_name = |text: &str| match text.trim().strip_prefix('$') {
            Some(name) if name.starts_with('{') => name.ends_with('}'),
            Some(name) => !name.is_empty() && name.chars().all(is_letter),
            None => false,
        };
        let found = self.keys.iter().flat_map(|pattern| paths(pattern, value));
        found.filter(|path| at(value, path).and_then(Value::as_str).is_some_and(is_name)).collect()
    }

    /// Replaces every `<key>_file` by the trimmed content of the file; `folder` is where relative names
    /// begin.
    pub fn read_files(&self, written: &mut SourceValues, folder: &Path) -> Vec<Problem> {
        let mut problems = Vec::new();
        for pattern in &self.keys {
            let Some((last, parents)) = pattern.split_last() else { continue };
            for parent in paths(parents, &written.value) {
                if let Err(problem) = read_one(written, &parent, last, folder) {
                    problems.push(problem);
                }
            }
        }
        problems
    }

    /// Reads systemd's credentials: `$CREDENTIALS_DIRECTORY/<key>`, e.g. `telegram.bot_token`. One that nearly
    /// names a key is a problem; others are another program's. An empty one stands for a file that is not there.
    pub fn credentials(&self, env: &Environment) -> (SourceValues, Vec<Problem>) {
        let mut value = Value::Object(serde_json::Map::new());
        let mut problems = Vec::new();
        let folder = env.get("CREDENTIALS_DIRECTORY").map(Path::new);
        let entries = folder.map_or(Ok(Vec::new()), |folder| {
            std::fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>())
        });
        let entries = entries.unwrap_or_else(|error| {
            let place = Place::of("CREDENTIALS_DIRECTORY".to_owned());
            let message = format!("names a folder that cannot be read: {error}");
            problems.push(Problem { place, key: String::new(), message });
            Vec::new()
        });
        for entry in entries {
            // A name that is no text is none of ours; it may nearly be one.
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == CONFIG {
                // The unit hands the config over beside its secrets.
                continue;
            }
            let path = split(&name);
            let told = if self.keys.iter().any(|pattern| fits(pattern, &path)) {
                match read::text(&entry.path(), read::SECRET, read::Pipes::None) {
                    Ok(text) if text.trim().is_empty() => None,
                    Ok(text) => {
                        put(&mut value, &path, Value::String(text.trim().to_owned()));
                        None
                    }
                    Err(why) => Some(why),
                }
            } else {
                self.strange_credential(&name)
            };
            let place = Place::of(format!("credential {name}"));
            problems.extend(told.map(|message| Problem { place, key: String::new(), message }));
        }
        let place = |path: &[String]| Place::of(format!("credential {}", path.join(".")));
        (SourceValues { value, place: Box::new(place) }, problems)
    }

    /// Says why a credential's name is a mistake; `None` when it means nothing of ours: it has no dot, as our keys have,
    /// and is like none of them.
    fn strange_credential(&self, name: &str) -> Option<String> {
        let known: Vec<String> = self.keys.iter().map(|key| key.join(".")).collect();
        let near = nearest(name, known.iter().map(String::as_str));
        let is_dotted = name.trim_matches('.').contains('.');
        let hint = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
        (is_dotted || near.is_some()).then(|| {
            format!("is not read: no secret has this name ({hint}takes {})", known.join(", "))
        })
    }
}

/// Whether the secret that a `<key>_file` names is still the one that could not be read.
pub fn is_unread(value: &Value, file_key: &str) -> bool {
    let path = split(file_key.strip_suffix("_file").unwrap_or(file_key));
    at(value, &path).and_then(Value::as_str) == Some(UNREAD)
}

/// Lists the files that `<key>_file` keys name, wherever they stand.
pub fn named_files(value: &Value, folder: &Path) -> Vec<PathBuf> {
    match value {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, inner)| match inner {
                Value::String(path) if key.ends_with("_file") => vec![folder.join(path)],
                inner => named_files(inner, folder),
            })
            .collect(),
        Value::Array(all) => all.iter().flat_map(|inner| named_files(inner, folder)).collect(),
        _ => Vec::new(),
    }
}

fn read_one(
    written: &mut SourceValues,
    parent: &[String],
    last: &str,
    folder: &Path,
) -> Result<(), Problem> {
    let named = format!("{last}_file");
    let Some(section) = at_mut(&mut written.value, parent).and_then(Value::as_object_mut) else {
        return Ok(());
    };
    // What is no text stays: the schema says what is taken.
    let Some(name) = section.get(&named).and_then(Value::as_str).map(str::to_owned) else {
        return Ok(());
    };
    // Whatever is wrong with it is told here, and by nobody else.
    section.remove(&named);
    let both = section.get(last).is_some_and(|v| !v.is_null());
    let path: Vec<String> = parent.iter().cloned().chain([named.clone()]).collect();
    let problem =
        |message: String| Problem { place: (written.place)(&path), key: key(&path), message };
    if both {
        return Err(problem(format!("and {last} are both set: keep one of them")));
    }
    let file = folder.join(&name);
    let text = read::text(&file, read::SECRET, read::Pipes::None)
        .and_then(|text| match text.trim() {
            "" => Err("is empty".to_owned()),
            secret => Ok(secret.to_owned()),
        })
        .map_err(|why| problem(format!("names {}, which {why}", file.display())));
    let secret = text.as_ref().map_or(UNREAD, String::as_str).to_owned();
    section.insert(last.to_owned(), Value::String(secret));
    text.map(|_| ())
}

/// Adds the keys of URLs with such a password.
fn in_urls(value: &Value, path: &mut Vec<String>, weak: &mut Vec<String>) {
    let Value::Object(map) = value else {
        if urls::secrets(value).iter().any(|secret| redact::is_weak(secret)) {
            weak.push(key(path));
        }
        return;
    };
    for (name, inner) in map {
        path.push(name.clone());
        in_urls(inner, path, weak);
        path.pop();
    }
}

fn fits(pattern: &[String], path: &[String]) -> bool {
    pattern.len() == path.len() && pattern.iter().zip(path).all(|(p, k)| p == "*" || p == k)
}

/// Lists the paths of a value that a pattern fits.
fn paths(pattern: &[String], value: &Value) -> Vec<Vec<String>> {
    let Some((first, rest)) = pattern.split_first() else { return vec![Vec::new()] };
    let Some(map) = value.as_object() else { return Vec::new() };
    map.iter()
        .filter(|(key, _)| first == "*" || *key == first)
        .flat_map(|(key, inner)| {
            paths(rest, inner).into_iter().map(|mut path| {
                path.insert(0, key.clone());
                path
            })
        })
        .collect()
}
