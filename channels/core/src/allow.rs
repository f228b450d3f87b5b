//! Whom a channel listens to. An empty list means nobody.

use std::collections::BTreeSet;

/// The places and people of one channel's allow list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowList {
    everyone: bool,
    keys: BTreeSet<String>,
}

impl AllowList {
    /// Lists these place keys (`tg:-100123`) and person ids (`tg:4711`).
    pub fn of(keys: impl IntoIterator<Item = String>) -> Self {
        Self { everyone: false, keys: keys.into_iter().collect() }
    }

    /// Listens to everyone.
    pub fn everyone() -> Self {
        Self { everyone: true, keys: BTreeSet::new() }
    }

    /// Listens to everyone else too; who is listed stays listed.
    #[must_use]
    pub fn and_everyone(self) -> Self {
        Self { everyone: true, ..self }
    }

    /// Whether everyone is listened to.
    pub fn is_everyone(&self) -> bool {
        self.everyone
    }

    /// Whether nobody but the owners is listened to.
    pub fn is_empty(&self) -> bool {
        !self.everyone && self.keys.is_empty()
    }

    /// Whether this key itself stands on the list; everyone's openness does not count.
    pub fn names(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// Puts a moved place's new key beside its old one.
    pub fn alias(&mut self, old: &str, new: &str) {
        if self.keys.contains(old) {
            self.keys.insert(new.to_owned());
        }
    }
}
