//! Lists that tools write as a whole: what cannot be read is refused with its place, what stood there is kept.

use std::io::{self, ErrorKind};
use std::path::Path;

use super::Files;
use super::edit::Edit;
use super::error::FileError;
use crate::contacts::{Contacts, Shelf};
use crate::fault::Fault;
use crate::text::decode;
use crate::todo::{List, Todos};
use selkie_domain::taint::Taint;
use selkie_tools::paths::ListWriter;

/// So many faults are told.
const MAX_TOLD: usize = 3;

/// A list of the state folder.
#[derive(Clone, Copy)]
enum Kind {
    Todos(List),
    Contacts(Shelf),
}

impl Kind {
    const ALL: [Self; 4] = [
        Self::Todos(List::Open),
        Self::Todos(List::Done),
        Self::Contacts(Shelf::Active),
        Self::Contacts(Shelf::Inactive),
    ];

    const fn file(self) -> &'static str {
        match self {
            Self::Todos(list) => list.file(),
            Self::Contacts(shelf) => shelf.file(),
        }
    }

    fn named(file: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.file() == file)
    }

    fn faults(self, text: &str) -> Vec<Fault> {
        match self {
            Self::Todos(list) => Todos::read(list, text).faults().to_vec(),
            Self::Contacts(shelf) => Contacts::read(shelf, text).faults().to_vec(),
        }
    }
}

impl ListWriter for Files {
    fn named(&self, relative: &Path) -> Option<&'static str> {
        Kind::ALL.into_iter().map(Kind::file).find(|file| Path::new(file) == relative)
    }

    fn level(&self, list: &str, text: &[u8], own: Option<&str>) -> Taint {
        match Kind::named(list) {
            Some(Kind::Todos(list)) => self.level_of_list(list, text, own),
            // Contacts hold what people call themselves.
            Some(Kind::Contacts(_)) | None => Taint::Raw,
        }
    }

    fn check(&self, list: &str, text: &[u8]) -> io::Result<()> {
        let Some(kind) = Kind::named(list) else { return Err(ErrorKind::NotFound.into()) };
        let text = decode(text).map_err(refused)?;
        // What somebody has left broken stands there already, and is none of the change.
        let before = self.read(list).map(|content| kind.faults(&content.text)).unwrap_or_default();
        let is_new = |fault: &&Fault| !before.iter().any(|known| known.what == fault.what);
        let all = kind.faults(text);
        let new: Vec<String> = all.iter().filter(is_new).map(Fault::to_string).collect();
        match new.as_slice() {
            [] => Ok(()),
            new => Err(refused(format!(
                "nothing was written, for {list} could not be read then: {}",
                new[..new.len().min(MAX_TOLD)].join("; ")
            ))),
        }
    }

    fn replace(&self, list: &str, text: &[u8], level: Taint) -> io::Result<()> {
        let text = decode(text).map_err(refused)?.to_owned();
        let edit = Edit::Whole { file: list.to_owned(), text };
        let now = self.time.clock.now();
        self.edit(&[edit], level, now)
            .map(drop)
            .map_err(|why: FileError| io::Error::other(why.to_string()))
    }
}

fn refused(why: impl std::fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why.to_string())
}
