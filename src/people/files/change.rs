//! One change of a contact: found by its id, and made only where the file still says what was read. What somebody has
//! written meanwhile stands.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contacts::{Contacts, Fields, MovedLines};

/// A change of a contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// Adds one, where there is none of its id.
    Add {
        /// What is known of them.
        fields: Fields,
    },
    /// Gives a field another value.
    Set {
        /// Whose.
        id: String,
        /// Which.
        key: String,
        /// What it says now; null for nothing.
        from: Value,
        /// What it is to say.
        to: Value,
    },
    /// Adds a text to a field that lists some.
    Include {
        /// Whose.
        id: String,
        /// Which.
        key: String,
        /// The text.
        value: String,
    },
    /// Puts another text in the place of one that a field says, or lists.
    Replace {
        /// Whose.
        id: String,
        /// Which.
        key: String,
        /// The text that stands there.
        from: String,
        /// The text that is to.
        to: String,
    },
    /// Puts lines behind a contact's fields.
    Remark {
        /// Whose.
        id: String,
        /// Which.
        lines: Vec<String>,
    },
    /// Puts the lines of one that stood in the other file, where there is none of its id.
    Put {
        /// Whose.
        id: String,
        /// Their lines.
        lines: MovedLines,
    },
    /// Takes one out whose lines are these.
    Take {
        /// Whose.
        id: String,
        /// Their lines.
        lines: MovedLines,
    },
}

/// Makes changes, in their order; returns of how many something came. A file is read again after each of them, but once
/// for those that follow each other when many come or go.
pub(super) fn apply(changes: &[Change], contacts: &mut Contacts, now: DateTime<Utc>) -> usize {
    changes
        .chunk_by(|one, next| one.is_moving() && next.goes_with(one))
        .map(|alike| match alike {
            [Change::Put { .. }, ..] => put(alike, contacts, now),
            [Change::Take { .. }, ..] => take(alike, contacts, now),
            others => others.iter().filter(|change| change.apply(contacts, now)).count(),
        })
        .sum()
}

fn put(changes: &[Change], contacts: &mut Contacts, now: DateTime<Utc>) -> usize {
    let mut seen = HashSet::new();
    let new: Vec<&MovedLines> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Put { id, lines } if contacts.get(id).is_none() && seen.insert(id) => {
                Some(lines)
            }
            _ => None,
        })
        .collect();
    if !new.is_empty() {
        contacts.put(&new, now);
    }
    new.len()
}

fn take(changes: &[Change], contacts: &mut Contacts, now: DateTime<Utc>) -> usize {
    let theirs: HashSet<&str> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Take { id, lines } if contacts.lines(id).as_ref() == Some(lines) => {
                Some(id.as_str())
            }
            _ => None,
        })
        .collect();
    contacts.take(&theirs, now)
}

impl Change {
    /// Makes the change; says whether anything came of it.
    pub(crate) fn apply(&self, contacts: &mut Contacts, now: DateTime<Utc>) -> bool {
        match self {
            Self::Add { fields } => contacts.add(fields, now),
            Self::Set { id, key, from, to } => {
                let is = contacts.get(id).map(|fields| fields.get(key).unwrap_or(&Value::Null));
                is == Some(from) && contacts.set(id, key, to, now)
            }
            Self::Include { id, key, value } => {
                let Some(mut fields) = contacts.get(id).cloned() else { return false };
                let to = fields.include(key, value).then(|| fields.get(key).cloned()).flatten();
                to.is_some_and(|to| contacts.set(id, key, &to, now))
            }
            Self::Replace { id, key, from, to } => {
                let Some(mut fields) = contacts.get(id).cloned() else { return false };
                let changed = replaced(&mut fields, key, from, to);
                changed.is_some_and(|changed| contacts.set(id, key, &changed, now))
            }
            Self::Remark { id, lines } => contacts.remark(id, lines, now),
            Self::Put { .. } => put(std::slice::from_ref(self), contacts, now) > 0,
            Self::Take { .. } => take(std::slice::from_ref(self), contacts, now) > 0,
        }
    }

    fn is_moving(&self) -> bool {
        matches!(self, Self::Put { .. } | Self::Take { .. })
    }

    fn goes_with(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// What a field says after one of its texts was replaced; `None` where it does not say it.
fn replaced(fields: &mut Fields, key: &str, from: &str, to: &str) -> Option<Value> {
    let mut texts = fields.texts(key);
    let at = texts.iter().position(|text| text == from)?;
    match fields.get(key) {
        Some(Value::Array(_)) if texts.iter().any(|text| text == to) => _ = texts.remove(at),
        Some(Value::Array(_)) => to.clone_into(&mut texts[at]),
        _ => return Some(Value::from(to)),
    }
    Some(Value::from(texts))
}
