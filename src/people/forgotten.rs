//! A contact is forgotten: their entry, and every earlier version of the files that could bring it back.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::book::{ContactBook, NoContact, blocking};
use super::contact_files::Shelves;
use super::contacts::Shelf;
use super::files::{Edit, FileError};
use super::merging::taken;
use selkie_domain::taint::Taint;

const SHELVES: [Shelf; 2] = [Shelf::Active, Shelf::Inactive];

impl ContactBook {
    /// Takes a contact out of its file. The version that is kept of it goes with [`Self::forget_versions`].
    ///
    /// # Errors
    /// Nobody is called so, or a file cannot be written.
    pub async fn forget(&self, id: &str, now: DateTime<Utc>) -> Result<(), NoContact> {
        let book = self.clone();
        let id = id.to_owned();
        blocking(move || {
            // Whoever is being forgotten is not brought in once more.
            let shelves = Shelves::read(&book.directory.files)?;
            let found = book.one(&shelves, &id)?;
            let own = found.fields.id();
            let take = shelves.of(found.shelf).lines(own).map(|lines| taken(own, lines));
            let changes = take.into_iter().collect();
            let edit = Edit::Contacts { shelf: found.shelf, changes };
            book.directory.files.edit(&[edit], Taint::Clean, now)?;
            Ok(())
        })
        .await
    }

    /// Counts the earlier versions of both files in which somebody has one of these names or ids.
    ///
    /// # Errors
    /// When one cannot be read.
    pub async fn versions_naming(&self, who: Vec<String>) -> Result<usize, FileError> {
        let book = self.clone();
        blocking(move || {
            let mut count = 0;
            for shelf in SHELVES {
                for version in book.directory.files.versions(shelf.file())? {
                    let text = book.directory.files.version(shelf.file(), &version.name)?;
                    let then = Shelves::alone(&text);
                    let is_there = |who: &String| !then.called(&book.forms, who).is_empty();
                    count += usize::from(who.iter().any(is_there));
                }
            }
            Ok(count)
        })
        .await
    }

    /// Throws away the earlier versions of both files.
    ///
    /// # Errors
    /// When one is there still.
    pub async fn forget_versions(&self) -> Result<(), FileError> {
        let files = Arc::clone(&self.directory.files);
        blocking(move || SHELVES.iter().try_for_each(|shelf| files.forget_versions(shelf.file())))
            .await
    }
}
