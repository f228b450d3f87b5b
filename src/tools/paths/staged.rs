//! New content of a file: on the disk beside it first, then in its place. Several files change together by
//! staging all of them before the first is put in place.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;

use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::beneath::{FILE, FOLDER, open, ours_alone, regular, temporary_name};
use super::lists::{NewList, stays};
use super::{Location, level};

/// Content that waits beside its file. Dropped without [`StagedContent::commit`] it leaves nothing behind.
pub struct StagedContent(StageState);

/// How it waits.
enum StageState {
    /// Beside its file.
    File(StagedFile),
    /// For the writer of the list that it is.
    List(NewList),
}

/// A file that waits beside another one.
struct StagedFile {
    folder: OwnedFd,
    temporary: String,
    name: OsString,
    in_place: bool,
}

/// Content that is still being written beside its file. Dropped, it leaves nothing behind.
pub struct StageWriter {
    staged: StagedFile,
    file: File,
    mode: Option<Mode>,
}

impl StageWriter {
    /// Writes on.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        self.file.write_all(piece)
    }

    /// Gives it its mode and syncs it.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn done(self) -> io::Result<StagedContent> {
        if let Some(mode) = self.mode {
            fs::fchmod(&self.file, mode)?;
        }
        self.file.sync_all()?;
        Ok(StagedContent(StageState::File(self.staged)))
    }
}

impl Location {
    /// Writes new content beside the file, with the folders it needs. The mode is the file's own; a
    /// file that is not there yet takes it from `like`.
    ///
    /// # Errors
    /// When something else than a file of one name stands there, or the disk refuses.
    pub fn stage(&self, content: &[u8], like: Option<&Self>) -> io::Result<StagedContent> {
        if let Some(list) = self.kept_list() {
            // What stands there already keeps its own level, line by line.
            let whose = like.map_or_else(
                || self.level.writes(),
                |like| self.level.writes().and(like.written()),
            );
            return Ok(StagedContent(StageState::List(NewList::of(list, content, whose.level)?)));
        }
        let mut filling = self.begin(like)?;
        filling.push(content)?;
        filling.done()
    }

    /// Begins new content beside the file, for what comes piece by piece; else as [`Location::stage`].
    ///
    /// # Errors
    /// As [`Location::stage`].
    pub fn begin(&self, like: Option<&Self>) -> io::Result<StageWriter> {
        if self.kept_list().is_some() {
            return Err(stays());
        }
        let whose = like.map_or_else(|| self.written(), |like| self.written().and(like.written()));
        let (folder, name) = self.make_folders()?;
        let mode = match (mode_at(&folder, name)?, like) {
            (None, Some(like)) => like.mode()?,
            (own, _) => own,
        };
        let temporary = temporary_name();
        let create = FILE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let file = fs::openat(&folder, &temporary, create, self.file_mode())?;
        let staged = StagedFile { folder, temporary, name: name.to_owned(), in_place: false };
        level::mark(&file, whose, self.zone)?;
        Ok(StageWriter { staged, file: File::from(file), mode })
    }

    /// Removes a file.
    ///
    /// # Errors
    /// When it is no regular file, or the disk refuses.
    pub fn remove(&self) -> io::Result<()> {
        if self.kept_list().is_some() {
            return Err(stays());
        }
        let Some((parent, name)) = self.parts() else {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        };
        let folder = open(self, parent, FOLDER, Mode::empty())?;
        regular(&fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?)?;
        fs::unlinkat(&folder, name, AtFlags::empty())?;
        Ok(fs::fsync(&folder)?)
    }

    fn mode(&self) -> io::Result<Option<Mode>> {
        let Some((parent, name)) = self.parts() else { return Ok(None) };
        mode_at(&open(self, parent, FOLDER, Mode::empty())?, name)
    }
}

impl StagedContent {
    /// Puts the content in the file's place.
    ///
    /// # Errors
    /// When the disk refuses; then the file is as it was.
    pub fn commit(self) -> io::Result<()> {
        match self.0 {
            StageState::File(file) => file.commit(),
            StageState::List(list) => list.commit(),
        }
    }
}

impl StagedFile {
    fn commit(mut self) -> io::Result<()> {
        fs::renameat(&self.folder, &self.temporary, &self.folder, &self.name)?;
        self.in_place = true;
        Ok(fs::fsync(&self.folder)?)
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if !self.in_place {
            // What failed is said; that its remains could not be removed would say nothing more.
            let _ = fs::unlinkat(&self.folder, &self.temporary, AtFlags::empty());
        }
    }
}

/// The mode of a file that may be replaced; `None` when there is none.
fn mode_at(folder: &OwnedFd, name: &OsStr) -> io::Result<Option<Mode>> {
    match fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => {
            ours_alone(&stat)?;
            Ok(Some(Mode::from_raw_mode(stat.st_mode)))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
