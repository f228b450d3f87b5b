//! What the readers of a file note beside it: it goes where the file goes, and with it.

use std::fs;
use std::io::{self, ErrorKind, Read as _};

use super::Files;
use super::error::{FileError, written};
use super::kept_versions::{self, Keep};
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
    /// Reads what is noted beside a file: lost is what a command may have changed that nothing kept off it. Blocks.
    ///
    /// # Errors
    /// When it cannot be read, or cannot be noted as lost.
    pub fn note(&self, file: &str) -> Result<Note, FileError> {
        if self.is_of_commands(file)? {
            self.lose_note(file)?;
        }
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

    pub(super) fn note_now(&self, file: &str) -> io::Result<Note> {
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
            (SealCheck::Whole, Some(note)) => Note::These(note),
            (SealCheck::Never, None) => Note::Nothing,
            _ => Note::Lost,
        })
    }

    /// Takes everything that is noted, as it stands there, for the newest: a life that was moved or restored. Blocks.
    ///
    /// # Errors
    /// When something cannot be read or written.
    pub fn seal_all(&self) -> Result<(), FileError> {
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        kept_versions::seal_all(&self.state).map_err(|source| written("seals", source))
    }

    /// Whether what every note was known by is gone; a folder of which nothing was ever noted is the same. Blocks.
    pub fn has_no_notes(&self) -> bool {
        !seal::is_any(&self.state)
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

    /// Lets a file look as if we had written it now, its words as they are. Blocks.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn touch(&self, file: &str) -> Result<(), FileError> {
        let touched = fs::OpenOptions::new().append(true).open(self.state.join(file));
        let now = self.time.now();
        let noted = touched.and_then(|touched| {
            touched.set_modified(now)?;
            Keep::of(&self.state, file).note(Look::of(&touched.metadata()?))
        });
        noted.map_err(|source| written(file, source))
    }

    /// Whether a command that nothing kept off a file ran when somebody else changed it last. Blocks.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn is_of_commands(&self, file: &str) -> Result<bool, FileError> {
        let failed = |source| FileError::Io { file: file.to_owned(), done: "read", source };
        let path = self.state.join(file);
        let found = match path.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            found => found.map_err(failed)?,
        };
        let is_ours = Keep::of(&self.state, file).is_ours(Look::of(&found));
        Ok(!is_ours && self.commands.ran_around(&path, &found))
    }

    /// Notes something beside a file that looks so still; says whether it did, or need not. Blocks.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_note(&self, file: &str, look: Option<&str>, note: &[u8]) -> Result<bool, FileError> {
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
        Keep::of(&self.state, file).set_note(note).map_err(failed)?;
        Ok(true)
    }
}
