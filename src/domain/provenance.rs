//! Whose words something holds, and what that makes of them to whoever reads it: the one place that says so.

use std::fmt;

use crate::facts::Trust;
use crate::taint::Taint;

/// Whose words something holds: a file, its name, a message of the bot's own, a remembered line, an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The level that they were written with.
    pub level: Taint,
    /// The least trust of those for whom they were written.
    pub trust: Trust,
}

impl Provenance {
    /// Words of an owner, or of this program.
    pub const CLEAN: Self = Self { level: Taint::Clean, trust: Trust::Owner };

    /// Words of anybody.
    pub const RAW: Self = Self { level: Taint::Raw, trust: Trust::Stranger };

    /// Returns the level of the words to a task that answers somebody of this trust: words of people who are trusted less
    /// are others', however they were written.
    pub fn read_by(self, reader: Trust) -> Taint {
        if self.trust < reader { Taint::Raw } else { self.level }
    }

    /// Returns whose words both hold together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { level: self.level.max(other.level), trust: self.trust.min(other.trust) }
    }

    /// Reads what was written. A mark of an earlier version does not say who was trusted how far: it may have been a
    /// stranger.
    pub fn parse(text: &str) -> Option<Self> {
        let (level, trust) = text.split_once(' ').unwrap_or((text, Trust::Stranger.name()));
        Some(Self { level: Taint::parse(level)?, trust: Trust::parse(trust)? })
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.level.name(), self.trust.name())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TRUSTS: [Trust; 3] = [Trust::Stranger, Trust::Allowed, Trust::Owner];

    fn any() -> impl Strategy<Value = Provenance> {
        let level = prop::sample::select(&Taint::ALL[..]);
        (level, prop::sample::select(&TRUSTS[..]))
            .prop_map(|(level, trust)| Provenance { level, trust })
    }

    proptest! {
        #[test]
        fn nothing_is_cleaner_for_a_lesser_writer_or_a_more_trusted_reader(
            whose in any(), other in any(), reader in prop::sample::select(&TRUSTS[..])
        ) {
            let level = whose.read_by(reader);
            prop_assert!(level >= whose.level);
            for trust in TRUSTS {
                if trust <= whose.trust {
                    let lesser = Provenance { trust, ..whose };
                    prop_assert!(lesser.read_by(reader) >= level);
                }
                if trust >= reader {
                    prop_assert!(whose.read_by(trust) >= level);
                }
            }
            for more in Taint::ALL.into_iter().filter(|more| *more >= whose.level) {
                let higher = Provenance { level: more, ..whose };
                prop_assert!(higher.read_by(reader) >= level);
            }
            let both = whose.and(other);
            prop_assert!(both.read_by(reader) >= level.max(other.read_by(reader)));
            prop_assert_eq!(whose.and(Provenance::CLEAN), whose);
            prop_assert_eq!(whose.and(Provenance::RAW), Provenance::RAW);
        }

        #[test]
        fn it_reads_as_it_is_written(whose in any()) {
            prop_assert_eq!(Provenance::parse(&whose.to_string()), Some(whose));
        }
    }

    #[test]
    fn what_does_not_say_for_whom_it_was_written_may_have_been_a_strangers() {
        let old = Provenance::parse("clean").unwrap();
        assert_eq!(old.read_by(Trust::Stranger), Taint::Clean);
        assert_eq!(old.read_by(Trust::Allowed), Taint::Raw);
        for spoilt in ["", "dirty", "clean me", "clean owner now"] {
            assert_eq!(Provenance::parse(spoilt), None, "{spoilt}");
        }
    }
}
