//! Lists of the state folder that people edit, too: a tool changes them through their one writer, which loses nothing.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::zone::Zone;
use crate::domain::taint::Taint;

/// Writes lists that people edit, too.
pub trait ListWriter: Send + Sync {
    /// Returns the name of a file of the state folder, if it is one of them.
    fn named(&self, relative: &Path) -> Option<&'static str>;

    /// Looks whether a text can be read as this list. Blocks.
    ///
    /// # Errors
    /// In words: the place of what cannot be, unless it stands there already.
    fn check(&self, list: &str, text: &[u8]) -> io::Result<()>;

    /// Puts a text in the list's place; what stands there is kept. Blocks.
    ///
    /// # Errors
    /// When somebody is writing it, or the disk refuses.
    fn replace(&self, list: &str, text: &[u8], level: Taint) -> io::Result<()>;
}

/// The lists of a scope; none where no file of the state folder is one.
#[derive(Clone, Default)]
pub struct Lists(Option<Arc<dyn ListWriter>>);

impl Lists {
    /// Those that this writer knows.
    pub fn of(writer: Arc<dyn ListWriter>) -> Self {
        Self(Some(writer))
    }

    /// Returns a file's list, if it is one.
    pub(super) fn find(&self, zone: Zone, relative: &Path) -> Option<List> {
        let writer = self.0.as_ref().filter(|_| zone == Zone::State)?;
        Some(List { name: writer.named(relative)?, writer: Arc::clone(writer) })
    }
}

impl fmt::Debug for Lists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Lists" } else { "No lists" })
    }
}

/// Scopes are compared by what they open.
impl PartialEq for Lists {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_some() == other.0.is_some()
    }
}

impl Eq for Lists {}

/// One list.
pub(super) struct List {
    name: &'static str,
    writer: Arc<dyn ListWriter>,
}

/// What a list is to say.
pub(super) struct NewList {
    list: List,
    text: Vec<u8>,
    level: Taint,
}

impl NewList {
    /// Takes a text that the list can be.
    ///
    /// # Errors
    /// In words: the place of what cannot be read.
    pub fn of(list: List, text: &[u8], level: Taint) -> io::Result<Self> {
        list.writer.check(list.name, text)?;
        Ok(Self { list, text: text.to_owned(), level })
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// When somebody is writing it, or the disk refuses.
    pub fn commit(self) -> io::Result<()> {
        self.list.writer.replace(self.list.name, &self.text, self.level)
    }
}

/// What keeps a list where it is.
pub(super) fn stays() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "it is a list that is kept: change what it says with edit_file or write_file",
    )
}
