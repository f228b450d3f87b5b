//! The contacts as people see and tidy them: listed, shown, taken together.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::contact_files::{FoundContact, Shelves, met_at};
use super::contacts::{Fields, Shelf};
use super::directory::Directory;
use super::files::{Edit, FileError, Version};
use super::forms::Forms;
use super::merging::{MergedContact, merge, taken};
use super::undone::{RestoredVersion, Texts};
use super::visibility::{Visibility, VisiblePerson};
use selkie_domain::taint::Taint;

/// The files of contacts, and how ids are written in them.
#[derive(Clone)]
pub struct ContactBook {
    /// The files.
    pub directory: Directory,
    /// How ids are written.
    pub forms: Forms,
}

/// A contact in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactView {
    /// Who it is.
    pub contact_id: String,
    /// What people call them; the id where nobody has said.
    pub name: String,
    /// The file it stands in.
    pub file: String,
    /// By which ids they are reached, the preferred first.
    pub ids: Vec<String>,
    /// The ids of chats in which they were met.
    pub chats: Vec<String>,
    /// When they last spoke.
    pub last_interaction_at: Option<DateTime<Utc>>,
    /// All that stands there.
    pub fields: Fields,
    /// What stands beside the fields.
    pub remarks: Vec<String>,
}

/// The contacts, and what could not be read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ContactList {
    /// Those of today, then the others; the latest met first.
    pub contacts: Vec<ContactView>,
    /// What could not be read, with its file and line.
    pub faults: Vec<String>,
}

/// Whom a conversation may hear of.
#[derive(Clone, Debug, Default)]
pub struct KnownList {
    /// They.
    pub known: Vec<VisiblePerson>,
    /// What could not be read, with its file and line.
    pub faults: Vec<String>,
}

/// Why something was not done with a contact.
#[derive(Debug, thiserror::Error)]
pub enum NoContact {
    /// Nobody is called so, or several are; or there is no such version.
    #[error("{0}")]
    Refused(String),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl ContactBook {
    /// Lists the contacts.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub async fn list(&self) -> Result<ContactList, FileError> {
        let book = self.clone();
        let shelves = self.directory.shelves().await?;
        blocking(move || {
            let mut contacts: Vec<ContactView> =
                shelves.all().map(|found| book.view(&shelves, found)).collect();
            contacts.sort_by_key(|view| {
                let is_away = view.file == Shelf::Inactive.file();
                (is_away, std::cmp::Reverse(met_at(&view.fields)))
            });
            Ok(ContactList { contacts, faults: shelves.faults() })
        })
        .await
    }

    /// Lists whom a conversation may hear of, the latest met first, and what could not be read, for who sees all.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub async fn known(&self, circle: Visibility) -> Result<KnownList, FileError> {
        let book = self.clone();
        let shelves = self.directory.shelves().await?;
        blocking(move || {
            let mut known = circle.known(&book.forms, &shelves);
            known.sort_by_key(|known| std::cmp::Reverse(known.last));
            let faults = if circle.is_whole { shelves.faults() } else { Vec::new() };
            Ok(KnownList { known, faults })
        })
        .await
    }

    /// Returns the one contact who is called so.
    ///
    /// # Errors
    /// Nobody is, or several are.
    pub async fn show(&self, who: &str) -> Result<ContactView, NoContact> {
        let book = self.clone();
        let who = who.to_owned();
        let shelves = self.directory.shelves().await?;
        blocking(move || {
            let found = book.one(&shelves, &who)?;
            Ok(book.view(&shelves, found))
        })
        .await
    }

    /// Takes a contact into another one, and out of its file; returns the one that stays.
    ///
    /// # Errors
    /// One of them is not there, or a file cannot be written.
    pub async fn merge(
        &self,
        from: &str,
        into: &str,
        now: DateTime<Utc>,
    ) -> Result<ContactView, NoContact> {
        let book = self.clone();
        let from = from.to_owned();
        let into = into.to_owned();
        let shelves = self.directory.shelves().await?;
        blocking(move || {
            let goes = book.one(&shelves, &from)?;
            let stays = book.one(&shelves, &into)?;
            let id = stays.fields.id().to_owned();
            if goes.fields.id() == id {
                let why = format!("{from} and {into} are the same contact, {id}");
                return Err(NoContact::Refused(why));
            }
            book.directory.files.edit(&book.merging(&shelves, goes, stays), Taint::Clean, now)?;
            let shelves = Shelves::read(&book.directory.files)?;
            let found = book.one(&shelves, &id)?;
            Ok(book.view(&shelves, found))
        })
        .await
    }

    fn merging(
        &self,
        shelves: &Shelves,
        goes: FoundContact<'_>,
        stays: FoundContact<'_>,
    ) -> Vec<Edit> {
        let remarks = shelves.of(goes.shelf).remarks(goes.fields.id());
        let from = MergedContact { fields: goes.fields, remarks: &remarks };
        let mut changes = merge(&self.forms, from, stays.fields);
        let lines = shelves.of(goes.shelf).lines(goes.fields.id());
        let take = lines.map(|lines| taken(goes.fields.id(), lines));
        if goes.shelf == stays.shelf {
            changes.extend(take);
            return vec![Edit::Contacts { shelf: stays.shelf, changes }];
        }
        vec![
            Edit::Contacts { shelf: stays.shelf, changes },
            Edit::Contacts { shelf: goes.shelf, changes: take.into_iter().collect() },
        ]
    }

    /// Lists the earlier versions of a file, the newest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn versions(&self, file: &str) -> Result<Vec<Version>, FileError> {
        let files = Arc::clone(&self.directory.files);
        let file = file.to_owned();
        blocking(move || files.versions(&file)).await
    }

    /// Puts an earlier version of a file in its place, the newest where none is named; what stands there now is kept.
    ///
    /// # Errors
    /// There is none, or the file cannot be written.
    pub async fn undo(
        &self,
        file: &str,
        to: Option<String>,
        now: DateTime<Utc>,
    ) -> Result<RestoredVersion, NoContact> {
        let files = Arc::clone(&self.directory.files);
        let file = file.to_owned();
        blocking(move || {
            let all = files.versions(&file)?;
            let wanted = |version: &&Version| to.as_ref().is_none_or(|to| version.name == *to);
            let Some(version) = all.iter().find(wanted) else {
                return Err(NoContact::Refused(match to {
                    Some(to) => format!(
                        "{file} has no kept version {to}: `selkie undo {file} --list` lists them"
                    ),
                    None => format!(
                        "no earlier version of {file} is kept: selkie has never changed it, or not since a person was last forgotten"
                    ),
                }));
            };
            let text = files.version(&file, &version.name)?;
            let stood = files.read(&file)?.text;
            let undone = RestoredVersion::of(version.clone(), Texts { stood: &stood, stands: &text });
            files.edit(&[Edit::Whole { file, text }], Taint::Clean, now)?;
            Ok(undone)
        })
        .await
    }

    pub(super) fn one<'s>(
        &self,
        shelves: &'s Shelves,
        who: &str,
    ) -> Result<FoundContact<'s>, NoContact> {
        let found = shelves.called(&self.forms, who);
        let refused = |why: String| Err(NoContact::Refused(why));
        match found.as_slice() {
            [one] => Ok(*one),
            [] => {
                refused(format!("no contact is called {who:?}: `selkie contacts list` lists them"))
            }
            several => {
                let ids: Vec<&str> = several.iter().map(|found| found.fields.id()).collect();
                refused(format!(
                    "several contacts are called {who:?}: name one by its id: {}",
                    ids.join(", ")
                ))
            }
        }
    }

    fn view(&self, shelves: &Shelves, found: FoundContact<'_>) -> ContactView {
        let FoundContact { shelf, fields } = found;
        let (ids, chats) =
            self.forms.all_ids(fields).into_iter().partition(|id| self.forms.is_own(id));
        ContactView {
            contact_id: fields.id().to_owned(),
            name: fields.name().to_owned(),
            file: shelf.file().to_owned(),
            ids,
            chats,
            last_interaction_at: fields.last_interaction(),
            fields: fields.clone(),
            remarks: shelves.of(shelf).remarks(fields.id()),
        }
    }
}

pub(super) async fn blocking<T: Send + 'static, E: From<FileError> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(FileError::ended(&error).into()),
    }
}
