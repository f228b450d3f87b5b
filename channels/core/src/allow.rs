//! Whom a channel listens to. An empty list means nobody.

use std::collections::BTreeSet;
use std::ops::Bound;

/// The places and people of one channel's allow list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowList {
    everyone: bool,
    keys: BTreeSet<String>,
}

impl AllowList {
    /// Lists these place keys (`tg:-100123`) and person ids (`tg:4711`). A `*` lets everyone else in, too;
    /// who is listed stays listed. One that begins with `*` stands for every key with that ending: `*:C2`
    /// where the middle of `slack:T1:C2` is not known yet.
    pub fn of(keys: impl IntoIterator<Item = String>) -> Self {
        let mut keys: BTreeSet<String> = keys.into_iter().collect();
        Self { everyone: keys.remove("*"), keys }
    }

    /// Listens to everyone.
    pub fn everyone() -> Self {
        Self { everyone: true, keys: BTreeSet::new() }
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
        let ends = |known: &String| known.strip_prefix('*').is_some_and(|end| key.ends_with(end));
        let starred = (Bound::Included("*"), Bound::Excluded("+"));
        self.keys.contains(key) || self.keys.range::<str, _>(starred).any(ends)
    }

    /// Lists one key more.
    pub fn let_in(&mut self, key: &str) {
        self.keys.insert(key.to_owned());
    }

    /// Takes a key from the list.
    pub fn shut_out(&mut self, key: &str) {
        self.keys.remove(key);
    }

    /// Puts a moved place's new key beside its old one.
    pub fn alias(&mut self, old: &str, new: &str) {
        if self.names(old) {
            self.keys.insert(new.to_owned());
        }
    }
}
