//! Who owns the bot: whom the config names, and who was paired since.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use selkie_channel_core::PersonId;

/// The owners, as they are at the moment they are looked at; all clones tell the same.
///
/// Every list that there was stays where it is until the end: who reads one takes no lock, and owners seldom change.
#[derive(Clone, Debug, Default)]
pub struct Owners(Arc<Version>);

#[derive(Debug, Default)]
struct Version {
    people: Vec<PersonId>,
    next: OnceLock<Box<Self>>,
}

impl Owners {
    /// These, the first of whom gets notices.
    pub fn of(people: Vec<PersonId>) -> Self {
        Self(Arc::new(Version { people, next: OnceLock::new() }))
    }

    /// Adds somebody behind the others; `false` when they are one already.
    pub fn add(&self, person: &PersonId) -> bool {
        self.change(|people| {
            if !people.contains(person) {
                people.push(person.clone());
            }
        })
    }

    /// Takes somebody out; `false` when they are none.
    pub fn remove(&self, person: &PersonId) -> bool {
        self.change(|people| people.retain(|one| one != person))
    }

    /// These from now on, in this order.
    pub fn put(&self, all: &[PersonId]) {
        self.change(|people| *people = all.to_vec());
    }

    fn newest(&self) -> &Version {
        let mut version = &*self.0;
        while let Some(next) = version.next.get() {
            version = next;
        }
        version
    }

    fn change(&self, change: impl Fn(&mut Vec<PersonId>)) -> bool {
        loop {
            let version = self.newest();
            let mut people = version.people.clone();
            change(&mut people);
            if people == version.people {
                return false;
            }
            // Somebody else may have been quicker: then theirs is changed.
            if version.next.set(Box::new(Version { people, next: OnceLock::new() })).is_ok() {
                return true;
            }
        }
    }
}

impl Deref for Owners {
    type Target = [PersonId];

    fn deref(&self) -> &[PersonId] {
        &self.newest().people
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_clones_tell_the_same_and_what_was_read_stays() {
        let owners = Owners::of(vec![PersonId::new("tg:1")]);
        let clone = owners.clone();
        let before: &[PersonId] = &clone;
        assert!(owners.add(&PersonId::new("tg:2")) && !owners.add(&PersonId::new("tg:2")));
        assert_eq!((before.len(), clone.len()), (1, 2));
        assert!(clone.remove(&PersonId::new("tg:1")) && !clone.remove(&PersonId::new("tg:1")));
        assert_eq!(&*owners, [PersonId::new("tg:2")]);
    }
}
