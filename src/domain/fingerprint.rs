//! What a text says, however it is written: its words in one case. So what an editor has made of somebody's words (another
//! case, other white space, dashes, escapes, a part of them, more around them, a letter changed) is known as theirs.

mod cells;
mod fold;
mod likeness;

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

pub use likeness::{Gists, Like};

/// What a text says. Two say the same when their words are the same, or their signs where there are no words.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Gist(
    /// Words and signs with one space between them.
    String,
);

impl Gist {
    /// Reads a text.
    pub fn of(text: &str) -> Self {
        Self(fold::folded(text))
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns its words and signs.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its words alone.
    fn words(&self) -> impl Iterator<Item = &str> {
        self.signs().filter(|one| one.starts_with(char::is_alphanumeric))
    }

    /// Words and signs.
    fn signs(&self) -> impl Iterator<Item = &str> {
        self.0.split(' ').filter(|one| !one.is_empty())
    }

    /// What it is known by.
    fn said(&self) -> impl Iterator<Item = &str> {
        let signs_alone = self.words().next().is_none();
        self.signs().filter(move |one| signs_alone || one.starts_with(char::is_alphanumeric))
    }
}

impl PartialEq for Gist {
    fn eq(&self, other: &Self) -> bool {
        self.said().eq(other.said())
    }
}

impl Eq for Gist {}

impl Hash for Gist {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.said().for_each(|one| one.hash(state));
    }
}

#[cfg(test)]
mod tests;
