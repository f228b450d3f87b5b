//! What the readers of a file note beside it: it goes where the file goes, and with it.

use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};

use super::Files;
use super::error::{FileError, written};
use super::keep::{Keep, private};
use super::rest::Look;
use selkie_channel_core::locked;

/// Bytes of a note that are read.
const LONGEST: u64 = 8 * 1024 * 1024;

impl Files {
    /// Reads what is noted beside a file; `None` where nothing is. Blocks.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn note(&self, file: &str) -> Result<Option<Vec<u8>>, FileError> {
        let mut bytes = Vec::new();
        let path = Keep::of(&self.state, file).noted();
        match fs::File::open(path).and_then(|note| note.take(LONGEST).read_to_end(&mut bytes)) {
            Ok(_) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => {
                Err(FileError::Io { file: format!("kept/{file}"), done: "read", source })
            }
        }
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

    /// Notes something beside a file that looks so still, or nothing more; says whether it did. Blocks.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_note(
        &self,
        file: &str,
        look: Option<&str>,
        note: Option<&[u8]>,
    ) -> Result<bool, FileError> {
        let _one = locked(&self.one);
        let _lock = self.lock()?;
        let failed = |source: io::Error| written(&format!("kept/{file}"), source);
        let now = Look::at(&self.state.join(file)).map_err(failed)?.map(|look| look.line());
        if now.as_deref() != look {
            return Ok(false);
        }
        let keep = Keep::of(&self.state, file);
        match note {
            Some(note) => put(&keep, note),
            None => keep.forget_note(),
        }
        .map_err(failed)?;
        Ok(true)
    }
}

fn put(keep: &Keep, note: &[u8]) -> io::Result<()> {
    keep.made()?;
    let new = keep.noted().with_extension("new");
    let mut file = private(&new, true)?;
    file.write_all(note)?;
    file.sync_all()?;
    fs::rename(new, keep.noted())
}
