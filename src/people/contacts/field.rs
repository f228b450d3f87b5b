//! The fields of one contact, whichever platform named them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Keys that mean the same on every platform. The others are their channels' own.
pub mod keys {
    /// Who it is.
    pub const ID: &str = "contact_id";
    /// What people call them.
    pub const NICKNAME: &str = "nickname";
    /// A person or a program.
    pub const KIND: &str = "kind";
    /// The channel they are usually met on.
    pub const CHANNEL: &str = "channel";
    /// What else people call them.
    pub const ALIASES: &str = "aliases";
    /// Ids of contacts that were taken together with this one.
    pub const MERGED: &str = "merged_ids";
    /// When they last spoke.
    pub const LAST: &str = "last_interaction_at";
}

/// What a contact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A person.
    Human,
    /// A program that speaks for somebody.
    Agent,
}

impl Kind {
    /// Its name in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Agent => "agent",
        }
    }
}

/// The fields of a contact, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// Takes fields as they stand in a block.
    pub fn new(fields: Map<String, Value>) -> Self {
        Self(fields)
    }

    /// Returns who it is.
    pub fn id(&self) -> &str {
        self.get(keys::ID).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns what people call them; their id where nobody has said.
    pub fn name(&self) -> &str {
        let nickname = self.get(keys::NICKNAME).and_then(Value::as_str).unwrap_or_default();
        if nickname.trim().is_empty() { self.id() } else { nickname }
    }

    /// Lists what people call them: the nickname first.
    pub fn names(&self) -> Vec<String> {
        self.text(keys::NICKNAME).into_iter().chain(self.texts(keys::ALIASES)).collect()
    }

    /// Returns what they are: a person where nothing else stands.
    pub fn kind(&self) -> Kind {
        match self.text(keys::KIND).as_deref() {
            Some("agent") => Kind::Agent,
            _ => Kind::Human,
        }
    }

    /// Returns when they last spoke.
    pub fn last_interaction(&self) -> Option<DateTime<Utc>> {
        self.text(keys::LAST)?.parse().ok()
    }

    /// Returns a field as it stands.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Returns a field's text; an id that somebody wrote as a number is one, too.
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(text).filter(|text| !text.is_empty())
    }

    /// Returns a field's texts: those of a list, or the one that stands there.
    pub fn texts(&self, key: &str) -> Vec<String> {
        match self.get(key) {
            Some(Value::Array(list)) => list.iter().filter_map(text).collect(),
            Some(one) => text(one).into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// The fields of another one with this value alone in one of them.
    #[must_use]
    pub(crate) fn with(mut self, others: &Self, key: &str, value: &str) -> Self {
        self.0 = others.0.clone();
        self.0.insert(key.to_owned(), Value::from(value));
        self
    }

    /// Sets a field.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    /// Adds a text to a field that lists some; says whether it was not there.
    pub fn include(&mut self, key: &str, value: &str) -> bool {
        let mut texts = self.texts(key);
        let is_new = !texts.iter().any(|text| text == value);
        if is_new {
            texts.push(value.to_owned());
            self.set(key, texts);
        }
        is_new
    }

    /// Lists all.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter()
    }
}

/// Whether a key can be written as it is.
pub(super) fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
