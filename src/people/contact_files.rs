//! The two files of contacts as one list: who stands in which.

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;

use super::contacts::{Contacts, Fields, Shelf};
use super::files::{FileError, Files};
use super::forms::Forms;
use selkie_domain::taint::Taint;

/// The two files, read.
#[derive(Clone, Debug)]
pub struct Shelves {
    /// The contacts of today.
    pub active: Contacts,
    /// Those who were not met for long.
    pub inactive: Contacts,
    /// With which they were written: the worse of both.
    pub level: Taint,
}

/// A contact and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct FoundContact<'s> {
    /// In which file.
    pub shelf: Shelf,
    /// What it says.
    pub fields: &'s Fields,
}

impl Shelves {
    /// Reads both. Blocks.
    ///
    /// # Errors
    /// When one is there and cannot be read.
    pub fn read(files: &Files) -> Result<Self, FileError> {
        let active = files.read(Shelf::Active.file())?;
        let inactive = files.read(Shelf::Inactive.file())?;
        Ok(Self {
            active: Contacts::read(Shelf::Active, &active.text),
            inactive: Contacts::read(Shelf::Inactive, &inactive.text),
            level: active.level.max(inactive.level),
        })
    }

    /// Reads one text as if it were all there is: an earlier version of either file.
    pub fn alone(text: &str) -> Self {
        Self {
            active: Contacts::read(Shelf::Active, text),
            inactive: Contacts::read(Shelf::Inactive, ""),
            level: Taint::Raw,
        }
    }

    /// Returns one of the files.
    pub fn of(&self, shelf: Shelf) -> &Contacts {
        match shelf {
            Shelf::Active => &self.active,
            Shelf::Inactive => &self.inactive,
        }
    }

    /// Lists all contacts, those of today first; who stands in both files counts as of today.
    pub fn all(&self) -> impl Iterator<Item = FoundContact<'_>> {
        let active = self.active.all().map(|fields| FoundContact { shelf: Shelf::Active, fields });
        let inactive =
            self.inactive.all().map(|fields| FoundContact { shelf: Shelf::Inactive, fields });
        active.chain(inactive.filter(|found| self.active.get(found.fields.id()).is_none()))
    }

    /// Finds the contact that a person is, by an id that never changes.
    pub fn of_person(&self, forms: &Forms, person: &PersonId) -> Option<FoundContact<'_>> {
        self.all().find(|found| is(forms, found.fields, person))
    }

    /// Lists who is meant by an id or a name, as people write them: an id, or else a name, or else a word of one.
    pub fn called(&self, forms: &Forms, name: &str) -> Vec<FoundContact<'_>> {
        let name = name.trim().to_lowercase();
        let those = |fits: &dyn Fn(&Fields) -> bool| -> Vec<FoundContact<'_>> {
            self.all().filter(|found| fits(found.fields)).collect()
        };
        let by_id =
            those(&|fields| forms.all_ids(fields).iter().any(|id| id.to_lowercase() == name));
        if name.is_empty() || !by_id.is_empty() {
            return by_id;
        }
        let bare = name.trim_start_matches('@');
        let by_name = those(&|fields| {
            let last = |id: &String| {
                id.rsplit(':').next().map(|last| last.trim_start_matches('@').to_lowercase())
            };
            fields.names().iter().any(|own| own.to_lowercase() == bare)
                || forms.all_ids(fields).iter().any(|id| last(id).as_deref() == Some(bare))
        });
        if !by_name.is_empty() {
            return by_name;
        }
        those(&|fields| {
            fields
                .names()
                .iter()
                .any(|own| own.to_lowercase().split_whitespace().any(|word| word == bare))
        })
    }

    /// Says what of the files could not be read, with the file's name and the line.
    pub fn faults(&self) -> Vec<String> {
        let of = |shelf: Shelf| {
            self.of(shelf).faults().iter().map(move |fault| format!("{}, {fault}", shelf.file()))
        };
        of(Shelf::Active).chain(of(Shelf::Inactive)).collect()
    }
}

/// Whether a contact is a person, by an id that never changes.
pub(super) fn is(forms: &Forms, fields: &Fields, person: &PersonId) -> bool {
    forms.all_ids(fields).iter().any(|id| id == person.as_str())
}

/// Returns when a contact was met last, for lists: those who never were come last.
pub fn met_at(fields: &Fields) -> DateTime<Utc> {
    fields.last_interaction().unwrap_or(DateTime::UNIX_EPOCH)
}
