//! Where a file lies, and how another one takes its place.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::disk::made;
use super::error::{FileError, written};
use super::kept_versions::Keep;
use super::links::leads_elsewhere;
use super::save_in_progress::Look;
use crate::text::MAX_BYTES;
use selkie_domain::taint::Taint;
use selkie_tools::paths::{level_of, mark_level};

/// A file of the state folder.
pub(super) struct Place {
    file: String,
    path: PathBuf,
    keep: Keep,
    is_elsewhere: bool,
}

/// What came of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Out {
    /// There was no file, and what was staged is one now.
    Nothing,
    /// What was there lies where the staged file lay.
    Moved,
    /// The file came or went in between: nothing has changed.
    Other,
}

impl Place {
    pub fn of(state: &Path, file: &str) -> Self {
        Self {
            file: file.to_owned(),
            path: state.join(file),
            keep: Keep::of(state, file),
            is_elsewhere: leads_elsewhere(state, file),
        }
    }

    /// Reads the file; `None` where there is none.
    pub fn bytes(&self) -> Result<Option<Vec<u8>>, FileError> {
        if self.mode()?.is_none() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        // One byte more than is taken shows that there is more.
        let read = File::open(&self.path)
            .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.failed("read", source)),
        }
    }

    /// Looks at the file from outside.
    pub fn look(&self) -> Result<Option<Look>, FileError> {
        Look::at(&self.path).map_err(|source| self.failed("read", source))
    }

    /// Whether nobody is writing what looks so; what we wrote rests.
    pub fn rests(&self, look: Option<Look>, now: SystemTime) -> bool {
        look.is_none_or(|look| self.keep.is_ours(look) || look.rests(self.keep.had_words(), now))
    }

    /// Whether somebody has taken out all that was in what looks so.
    pub fn is_emptied(&self, look: Option<Look>) -> bool {
        look.is_some_and(|look| look.size == 0) && self.keep.had_words()
    }

    /// Whether nobody is writing what came out.
    pub fn out_rests(&self, now: SystemTime) -> Result<bool, FileError> {
        let look = Look::at(&self.keep.path()).map_err(|source| self.failed("read", source))?;
        Ok(self.rests(look, now))
    }

    /// Reads what came out.
    pub fn came_out(&self) -> Result<Vec<u8>, FileError> {
        let read = self.keep.staged().map_err(|source| self.failed("read", source))?;
        Ok(read.unwrap_or_default())
    }

    /// Returns the level of the file.
    pub fn level(&self) -> Taint {
        File::open(&self.path).map_or(Taint::Clean, |file| level_of(&file))
    }

    /// Writes new content beside the file, safe on the disk.
    pub fn stage(&self, text: &str, level: Taint) -> Result<(), FileError> {
        let mode = self.mode()?.unwrap_or(0o600);
        let staged = self.fill(text, mode, level);
        staged.map_err(|source| {
            // What failed is said; that its remains could not be removed would say nothing more.
            let _ = fs::remove_file(self.keep.part());
            written(&self.file, source)
        })
    }

    fn fill(&self, text: &str, mode: u32, level: Taint) -> io::Result<()> {
        self.keep.made()?;
        // One that was cut off is nobody's; what is staged is whole.
        let part = self.keep.part();
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        file.write_all(text.as_bytes())?;
        mark_level(&file, level)?;
        file.set_permissions(Permissions::from_mode(mode))?;
        file.sync_all()?;
        self.keep.note(Look::of(&file.metadata()?))?;
        fs::rename(part, self.keep.path())
    }

    /// Puts what is staged in the file's place; `there`: whether there was a file.
    pub fn exchange(&self, there: bool) -> Result<Out, FileError> {
        let out = self.swap(there).map_err(|source| written(&self.file, source))?;
        let folder = self.path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all());
        folder.map_err(|source| written(&self.file, source))?;
        Ok(out)
    }

    fn swap(&self, there: bool) -> io::Result<Out> {
        let (flags, out) = match there {
            true => (RenameFlags::EXCHANGE, Out::Moved),
            false => (RenameFlags::NOREPLACE, Out::Nothing),
        };
        if !there && let Some(folder) = self.path.parent() {
            made(folder)?;
        }
        match renameat_with(CWD, self.keep.path(), CWD, &self.path, flags) {
            Ok(()) => Ok(out),
            Err(Errno::NOENT | Errno::EXIST) => Ok(Out::Other),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.swap_in_steps(there),
            Err(error) => Err(error.into()),
        }
    }

    /// Where the file system knows no exchange: between two of these steps there is no file of that name.
    fn swap_in_steps(&self, there: bool) -> io::Result<Out> {
        let staged = self.keep.path();
        let old = self.keep.old();
        if there {
            match fs::rename(&self.path, &old) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Out::Other),
                moved => moved?,
            }
        }
        match fs::hard_link(&staged, &self.path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && !there => {
                return Ok(Out::Other);
            }
            linked => linked?,
        }
        match there {
            true => fs::rename(old, staged).map(|()| Out::Moved),
            false => fs::remove_file(staged).map(|()| Out::Nothing),
        }
    }

    /// Ends an exchange in steps that a crash has cut off.
    pub fn mend(&self) -> Result<(), FileError> {
        let old = self.keep.old();
        if !old.exists() {
            return Ok(());
        }
        let to = if self.path.exists() { self.keep.path() } else { self.path.clone() };
        fs::rename(old, to).map_err(|source| written(&self.file, source))
    }

    /// Returns the mode of a file that may be replaced; `None` where there is none.
    fn mode(&self) -> Result<Option<u32>, FileError> {
        let odd = |why| Err(FileError::Odd { file: self.file.clone(), why });
        if self.is_elsewhere {
            return odd("lies in a folder that is a link");
        }
        match fs::symlink_metadata(&self.path) {
            Ok(found) if found.is_symlink() => odd("is a link to another file"),
            Ok(found) if !found.is_file() => odd("is not a file"),
            Ok(found) if found.nlink() > 1 => odd("has several names (hard links)"),
            Ok(found) => Ok(Some(found.permissions().mode() & 0o777)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.failed("read", source)),
        }
    }

    fn failed(&self, done: &'static str, source: io::Error) -> FileError {
        FileError::Io { file: self.file.clone(), done, source }
    }
}
