//! What the readers of a file note beside it: it goes where the file goes, and with it.

use std::fs;
use std::io::{self, ErrorKind, Read as _};

use super::Files;
use super::error::{FileError, written};
use super::kept_versions::{self, Keep};
use super::marks::{MarkLookup, Marks};
use super::provenance::WHOSE;
use super::save_in_progress::Look;
use super::seal::{self, SealCheck};
use selkie_channel_core::locked;

/// Bytes of a note that are read.
const MAX_LENGTH: u64 = 8 * 1024 * 1024;

/// What is noted of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Nothing, and nothing ever was as far as is known.
    Nothing,
    /// This.
    These(Vec<u8>),
    /// What was noted last is gone.
    Lost,
}

impl Files {
    /// Reads what is noted beside a file. Blocks.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn note(&self, file: &str) -> Result<Note, FileError> {
        let _one = locked(&self.one);
        let failed = |source| FileError::Io { file: format!("kept/{file}"), done: "read", source };
        let note = self.note_now(file).map_err(failed)?;
        if note != Note::Lost {
            return Ok(note);
        }
        // Another process may be replacing it and its seal. Whoever only looks makes no lock.
        let _lock = self.notes.then(|| self.lock()).transpose()?;
        self.note_now(file).map_err(failed)
    }

    fn note_now(&self, file: &str) -> io::Result<Note> {
        let keep = Keep::of(&self.state, file);
        let note = match fs::File::open(keep.noted()) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            opened => {
                let mut bytes = Vec::new();
                opened?.take(MAX_LENGTH).read_to_end(&mut bytes)?;
                Some(bytes)
            }
        };
        Ok(match (keep.sealed(note.as_deref())?, note) {
            (SealCheck::Broken, _) => Note::Lost,
            (_, Some(note)) => Note::These(note),
            (_, None) => Note::Nothing,
        })
    }

    /// Takes everything that is noted, as it stands there, for the newest: a life that was moved or restored. Blocks.
    ///
    /// # Errors
    /// When something cannot be read or written.
    pub fn seal_all(&self) -> Result<(), FileError> {
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        let sealed = kept_versions::seal_all(&self.state).and_then(|()| Marks::seal(&self.state));
        sealed.map_err(|source| written("seals", source))
    }

    /// Whether what was noted of every file is gone, and what it was known by with it; a folder of which nothing was ever noted
    /// is the same. Blocks.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn has_no_notes(&self) -> Result<bool, FileError> {
        let failed = |source| FileError::Io { file: WHOSE.to_owned(), done: "read", source };
        let has_marks = matches!(Marks::read(&self.state).map_err(failed)?, MarkLookup::These(_));
        Ok(!has_marks && !seal::is_any(&self.state))
    }

    /// Notes that nobody knows any more what was noted beside a file. Blocks.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn lose_note(&self, file: &str) -> Result<(), FileError> {
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        let lost = Keep::of(&self.state, file).lose_note();
        lost.map_err(|source| written(&format!("kept/{file}"), source))
    }

    /// Lets a file look as if it had been written now, its words as they are. Blocks.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn touch(&self, file: &str) -> Result<(), FileError> {
        let touched = fs::OpenOptions::new().append(true).open(self.state.join(file));
        let now = self.time.now();
        touched.and_then(|file| file.set_modified(now)).map_err(|source| written(file, source))
    }

    /// Whether we have written a file, and somebody else since. Blocks.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn is_others_since(&self, file: &str) -> Result<bool, FileError> {
        let failed = |source| FileError::Io { file: file.to_owned(), done: "read", source };
        let look = Look::at(&self.state.join(file)).map_err(failed)?;
        let keep = Keep::of(&self.state, file);
        Ok(keep.has_ours() && look.is_some_and(|look| !keep.is_ours(look)))
    }

    /// Notes something beside a file that looks so still, or nothing more; says whether it did, or need not. Blocks.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_note(
        &self,
        file: &str,
        look: Option<&str>,
        note: Option<&[u8]>,
    ) -> Result<bool, FileError> {
        if !self.notes {
            return Ok(true);
        }
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        let failed = |source: io::Error| written(&format!("kept/{file}"), source);
        let now = Look::at(&self.state.join(file)).map_err(failed)?.map(|look| look.line());
        if now.as_deref() != look {
            return Ok(false);
        }
        let keep = Keep::of(&self.state, file);
        match note {
            Some(note) => keep.set_note(note),
            None => keep.forget_note(),
        }
        .map_err(failed)?;
        Ok(true)
    }
}
