//! What was answered so far: settings by their dotted keys, and secrets apart from them.

use std::collections::BTreeMap;
use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};

use selkie_config::Flag;
use selkie_config::source::{put, split};

/// What a config is made of. No secret of it can be printed.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    settings: Map<String, Value>,
    secrets: BTreeMap<String, SecretString>,
    /// What the command line gave before anything was asked, secrets with it.
    given: WizardAnswers,
}

/// What was given: nobody prints it.
#[derive(Clone, Default)]
struct WizardAnswers(Value);

impl fmt::Debug for WizardAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Given(…)")
    }
}

impl Answers {
    /// Sets a key that holds no secret.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        let mut all = Value::Object(std::mem::take(&mut self.settings));
        put(&mut all, &split(key), value.into());
        if let Value::Object(map) = all {
            self.settings = map;
        }
    }

    /// Sets a key that holds one.
    pub fn hide(&mut self, key: &str, secret: SecretString) {
        self.secrets.insert(key.to_owned(), secret);
    }

    /// Whether a key has an answer.
    pub fn has(&self, key: &str) -> bool {
        self.secrets.contains_key(key) || self.at(key).is_some()
    }

    /// Returns the text that a key without a secret has.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.at(key)?.as_str()
    }

    /// Whether anything of a section is answered.
    pub fn has_section(&self, name: &str) -> bool {
        let within = format!("{name}.");
        self.settings.contains_key(name) || self.secrets.keys().any(|key| key.starts_with(&within))
    }

    /// Takes an answer back.
    pub fn forget(&mut self, key: &str) {
        self.secrets.remove(key);
        let path = split(key);
        let Some((last, parents)) = path.split_last() else { return };
        let mut at = Some(&mut self.settings);
        for parent in parents {
            at = at.and_then(|map| map.get_mut(parent)?.as_object_mut());
        }
        if let Some(map) = at {
            map.remove(last);
        }
    }

    /// Takes all of a section back.
    pub fn forget_section(&mut self, name: &str) {
        let within = format!("{name}.");
        self.settings.remove(name);
        self.secrets.retain(|key, _| !key.starts_with(&within));
    }

    /// Adds an owner.
    pub fn own(&mut self, person: &str) {
        let mut owners = self.owners();
        if !owners.iter().any(|owner| owner == person) {
            owners.push(person.to_owned());
        }
        self.set("owners", owners);
    }

    /// Lists the owners.
    pub fn owners(&self) -> Vec<String> {
        let owners = self.settings.get("owners").and_then(Value::as_array).into_iter().flatten();
        owners.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Returns the settings without secrets.
    pub fn settings(&self) -> &Map<String, Value> {
        &self.settings
    }

    /// Returns the secret that a key has.
    pub fn secret(&self, key: &str) -> Option<&SecretString> {
        self.secrets.get(key)
    }

    /// Lists the keys of the secrets.
    pub fn secrets(&self) -> impl Iterator<Item = (&str, &SecretString)> {
        self.secrets.iter().map(|(key, secret)| (key.as_str(), secret))
    }

    fn at(&self, key: &str) -> Option<&Value> {
        let mut parts = key.split('.');
        let first = self.settings.get(parts.next()?)?;
        parts.try_fold(first, |value, key| value.get(key))
    }

    /// Notes that all there is so far came from the command line.
    #[must_use]
    pub fn given(self) -> Self {
        let given = WizardAnswers(self.whole());
        Self { given, ..self }
    }

    /// Returns all of it as flags, each by the name of who said it: how it is tried before it stands in a file.
    pub fn flags(&self) -> Vec<Flag> {
        let SectionSplit { same, other } = SectionSplit::of(self.whole(), &self.given.0);
        let said = [("the command line", same), ("your answers", other)];
        let said = said.into_iter().filter(|(_, value)| *value != json!({}));
        said.map(|(name, value)| Flag { name: name.to_owned(), value }).collect()
    }

    fn whole(&self) -> Value {
        let mut value = Value::Object(self.settings.clone());
        for (key, secret) in &self.secrets {
            put(&mut value, &split(key), secret.expose_secret().into());
        }
        value
    }
}

/// What of a section is as it was before, and what is not.
struct SectionSplit {
    same: Value,
    other: Value,
}

impl SectionSplit {
    fn of(now: Value, before: &Value) -> Self {
        let mut same = Map::new();
        let mut other = Map::new();
        let keys = if let Value::Object(keys) = now { keys } else { Map::new() };
        for (key, value) in keys {
            let old = before.get(&key);
            if old == Some(&value) {
                same.insert(key, value);
            } else if value.is_object() && old.is_some_and(Value::is_object) {
                let within = Self::of(value, &before[&key]);
                let parts = [(&mut same, within.same), (&mut other, within.other)];
                for (to, part) in parts.into_iter().filter(|(_, part)| *part != json!({})) {
                    to.insert(key.clone(), part);
                }
            } else {
                other.insert(key, value);
            }
        }
        Self { same: same.into(), other: other.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_answered_can_be_taken_back_and_no_secret_is_printed() {
        let mut answers = Answers::default();
        answers.set("a.b", "c");
        answers.hide("a.token", SecretString::from("hunter2"));
        answers.own("p:1");
        answers.own("p:1");
        assert!(!format!("{:?}", answers.clone().given()).contains("hunter2"));
        let all = json!({ "a": { "b": "c", "token": "hunter2" }, "owners": ["p:1"] });
        let told = |answers: &Answers| {
            let flags = answers.flags().into_iter().map(|flag| (flag.name, flag.value));
            flags.collect::<Vec<_>>()
        };
        assert_eq!(told(&answers), [("your answers".to_owned(), all.clone())]);
        assert!(answers.has("a.token") && answers.text("a.b") == Some("c"));
        answers.forget("a.b");
        assert!(!answers.has("a.b") && answers.has_section("a"));
        answers.forget_section("a");
        assert_eq!(told(&answers)[0].1, json!({ "owners": ["p:1"] }));
    }

    #[test]
    fn what_the_command_line_gave_is_no_answer() {
        let mut answers = Answers::default();
        answers.set("a.b", "c");
        answers.set("a.d", "e");
        answers.own("p:1");
        let mut answers = answers.given();
        answers.set("a.d", "another");
        answers.hide("f.token", SecretString::from("hunter2"));
        let [given, answered]: [Flag; 2] = answers.flags().try_into().unwrap();
        assert_eq!(given.name, "the command line");
        assert_eq!(given.value, json!({ "a": { "b": "c" }, "owners": ["p:1"] }));
        let said = json!({ "a": { "d": "another" }, "f": { "token": "hunter2" } });
        assert_eq!((answered.name.as_str(), answered.value), ("your answers", said));
    }
}
