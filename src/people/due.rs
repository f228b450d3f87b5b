//! Which items with a time were seen, and the reminder that each has: so that one is made once, and withdrawn with its item.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::files::{kept, private};
use super::todo::{Entry, due};

/// So many items are noted at most; the file holds no more todos with a time than that.
const MAX: usize = 20_000;
/// Bytes of the note.
const MAX_LENGTH: u64 = 8 * 1024 * 1024;

/// What is noted, by the names of the items.
#[derive(Debug)]
pub struct DueNotes {
    path: PathBuf,
    all: BTreeMap<String, ItemNote>,
}

/// What is noted of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemNote {
    /// The key of its reminder.
    pub key: String,
    /// The number of its reminder; nothing for an item that gets none, and before it is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<i64>,
    /// It gets none: it was over when it was first seen, or its maker may have none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub none: bool,
    /// The zone whose clocks its time means, as its reminder has it; nothing where there is no reminder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

impl DueNotes {
    /// Reads what is noted in a state folder. Blocks.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn read(state: &Path) -> io::Result<Self> {
        let path = kept(state)?.join("due.json");
        let length = match fs::metadata(&path) {
            Ok(found) => found.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        let all = match length {
            0 => BTreeMap::new(),
            1..=MAX_LENGTH => {
                serde_json::from_slice(&fs::read(&path)?).map_err(io::Error::other)?
            }
            _ => return Err(io::Error::other(format!("it has {length} bytes"))),
        };
        Ok(Self { path, all })
    }

    /// Returns what is noted of an item.
    pub fn of(&self, name: &str) -> Option<&ItemNote> {
        self.all.get(name)
    }

    /// Lists the names.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.all.keys()
    }

    /// Lists the zones of those that have a reminder, by their names.
    pub fn zones(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all.iter().filter_map(|(name, noted)| Some((name.as_str(), noted.zone.as_deref()?)))
    }

    /// Notes something of an item. Blocks.
    ///
    /// # Errors
    /// When the disk refuses, or too many are noted.
    pub fn note(&mut self, name: String, noted: ItemNote) -> io::Result<()> {
        if self.all.len() >= MAX && !self.all.contains_key(&name) {
            return Err(io::Error::other(format!("{MAX} items with a time are noted already")));
        }
        self.all.insert(name, noted);
        self.write()
    }

    /// Notes the zones that items mean now; one that is not noted stays so. Blocks.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn set_zones(&mut self, zones: BTreeMap<String, String>) -> io::Result<()> {
        for (name, zone) in zones {
            if let Some(noted) = self.all.get_mut(&name) {
                noted.zone = Some(zone);
            }
        }
        self.write()
    }

    /// Notes the same of an item under another name. Blocks.
    ///
    /// # Errors
    /// When the disk refuses, or too many are noted.
    pub fn copy(&mut self, name: &str, other: &str) -> io::Result<()> {
        match self.all.get(name).cloned() {
            Some(noted) => self.note(other.to_owned(), noted),
            None => Ok(()),
        }
    }

    /// Whether a reminder is noted for any item.
    pub fn keeps(&self, schedule: i64) -> bool {
        self.all.values().any(|noted| noted.schedule == Some(schedule))
    }

    /// Forgets an item. Blocks.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn forget(&mut self, name: &str) -> io::Result<Option<ItemNote>> {
        let noted = self.all.remove(name);
        if noted.is_some() {
            self.write()?;
        }
        Ok(noted)
    }

    fn write(&self) -> io::Result<()> {
        let new = self.path.with_extension("new");
        let mut file = private(&new, true)?;
        file.write_all(&serde_json::to_vec(&self.all)?)?;
        file.sync_all()?;
        fs::rename(new, &self.path)?;
        self.path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }
}

/// Names an item with a time by what it says and where it belongs; nothing for one without.
pub fn name(entry: &Entry) -> Option<String> {
    due(&entry.content)?;
    let mut sum = Sha256::new();
    for part in [entry.chat.as_deref().unwrap_or_default(), &entry.content] {
        sum.update(part.len().to_le_bytes());
        sum.update(part.as_bytes());
    }
    Some(sum.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(chat: Option<&str>, content: &str) -> Entry {
        Entry { chat: chat.map(str::to_owned), content: content.to_owned(), ..Entry::default() }
    }

    #[test]
    fn what_is_noted_is_there_later() {
        let home = tempfile::tempdir().unwrap();
        let one = name(&entry(None, "2026-03-05 18:30 Ask")).unwrap();
        let noted = ItemNote { key: "k".to_owned(), schedule: Some(7), ..ItemNote::default() };
        DueNotes::read(home.path()).unwrap().note(one.clone(), noted.clone()).unwrap();
        let mut again = DueNotes::read(home.path()).unwrap();
        assert_eq!((again.of(&one), again.names().count()), (Some(&noted), 1));
        assert_eq!(again.forget(&one).unwrap(), Some(noted));
        assert_eq!(DueNotes::read(home.path()).unwrap().of(&one), None);
        fs::write(home.path().join("kept/due.json"), "{").unwrap();
        assert!(
            DueNotes::read(home.path()).is_err(),
            "what cannot be read is not taken for nothing"
        );
    }

    #[test]
    fn a_name_tells_items_apart() {
        let names = [
            name(&entry(None, "2026-03-05 18:30 Ask")),
            name(&entry(Some("a:1"), "2026-03-05 18:30 Ask")),
            name(&entry(None, "2026-03-05 18:31 Ask")),
        ];
        assert!(names.iter().all(Option::is_some));
        assert!(names[0] != names[1] && names[0] != names[2]);
        assert_eq!(name(&entry(None, "Ask")), None);
    }
}
