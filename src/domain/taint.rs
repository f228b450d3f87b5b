//! How far words come from people who did not ask: carried by every item that a model reads. It never falls.

use serde::{Deserialize, Deserializer, Serialize};

use crate::named::named;

named! {
    /// Whose words something holds. Ordered: more is further from the person who asks.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Taint {
        /// What people asked, the program's words, the bot's own out of these.
        #[default]
        Clean = "clean",
        /// The bot's own words, written while it read others'.
        Derived = "derived",
        /// Others' words: quotes, forwards, group talk, web pages, attachments and downloads, what a program
        /// printed that may have reached the network.
        Raw = "raw",
    }
}

impl Taint {
    /// Whether it is the least one, which need not be written.
    pub fn is_clean(&self) -> bool {
        *self == Self::Clean
    }

    /// Whether words of others are in play at all.
    pub fn is_any(self) -> bool {
        self > Self::Clean
    }

    /// Returns what the bot writes while it reads this.
    #[must_use]
    pub fn written(self) -> Self {
        self.min(Self::Derived)
    }

    /// What the bot said in rows that are older than levels.
    pub(crate) const fn of_old_words() -> Self {
        Self::Derived
    }

    /// What tools answered in such rows.
    pub(crate) const fn of_old_answers() -> Self {
        Self::Raw
    }
}

/// Rows of earlier versions know only whether there were words of others.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredTaint {
    Old(bool),
    Name(String),
}

impl<'de> Deserialize<'de> for Taint {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match StoredTaint::deserialize(from)? {
            StoredTaint::Old(false) => Ok(Self::Clean),
            StoredTaint::Old(true) => Ok(Self::Raw),
            StoredTaint::Name(name) => Self::parse(&name)
                .ok_or_else(|| serde::de::Error::custom(format!("there is no level {name}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_written_by_name_and_old_rows_are_read() {
        for level in Taint::ALL {
            let written = serde_json::to_string(&level).unwrap();
            assert_eq!(serde_json::from_str::<Taint>(&written).unwrap(), level);
        }
        let read = |text| serde_json::from_str::<Taint>(text).unwrap();
        assert_eq!((read("true"), read("false")), (Taint::Raw, Taint::Clean));
        assert!(serde_json::from_str::<Taint>("\"dirty\"").is_err());
    }
}
