//! Lists of the state folder that people edit, too: a tool changes them through their one writer, which loses nothing.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use super::zone::Zone;
use selkie_domain::taint::Taint;

/// Bytes of a list whose level is looked up; what is longer cannot be read.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Writes lists that people edit, too.
pub trait ListWriter: Send + Sync {
    /// Returns the name of a file of the state folder, if it is one of them.
    fn named(&self, relative: &Path) -> Option<&'static str>;

    /// Returns the highest level of what a text of this list says; `own`: the chat whose items are no others'. Blocks.
    fn level(&self, list: &str, text: &[u8], own: Option<&str>) -> Taint;

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
pub struct Lists {
    writer: Option<Arc<dyn ListWriter>>,
    own: Option<String>,
}

impl Lists {
    /// Those that this writer knows.
    pub fn of(writer: Arc<dyn ListWriter>) -> Self {
        Self { writer: Some(writer), own: None }
    }

    /// The same for a task of this chat: its items are no others'.
    #[must_use]
    pub fn seen_from(&self, chat: String) -> Self {
        Self { writer: self.writer.clone(), own: Some(chat) }
    }

    /// Returns a file's list, if it is one.
    pub(super) fn find(&self, zone: Zone, relative: &Path) -> Option<List> {
        let writer = self.writer.as_ref().filter(|_| zone == Zone::State)?;
        let name = writer.named(relative)?;
        Some(List { name, writer: Arc::clone(writer), own: self.own.clone() })
    }
}

impl fmt::Debug for Lists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.writer.is_some() { "Lists" } else { "No lists" })
    }
}

/// Scopes are compared by what they open.
impl PartialEq for Lists {
    fn eq(&self, other: &Self) -> bool {
        self.writer.is_some() == other.writer.is_some() && self.own == other.own
    }
}

impl Eq for Lists {}

/// One list.
pub(super) struct List {
    name: &'static str,
    writer: Arc<dyn ListWriter>,
    own: Option<String>,
}

impl List {
    /// Returns the level of what an open file of it says, wherever it is read from.
    pub fn level(&self, file: &File) -> Taint {
        let mut text = Vec::new();
        // By its number of bytes, and one more, which shows that somebody writes it.
        let length = file.metadata().map_or(0, |found| found.len()).min(MAX_BYTES);
        let read = At { file, at: 0 }.take(length + 1).read_to_end(&mut text);
        match read {
            Ok(bytes) if bytes as u64 == length => {
                self.writer.level(self.name, &text, self.own.as_deref())
            }
            _ => Taint::Raw,
        }
    }
}

/// Reads an open file from its beginning, and leaves where others read on.
struct At<'f> {
    file: &'f File,
    at: u64,
}

impl Read for At<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read_at(room, self.at)?;
        self.at += bytes as u64;
        Ok(bytes)
    }
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
