//! Files of our own beside those that people edit: closed to others, and replaced in one step.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Opens a file of ours for writing, empty or as it is.
pub(crate) fn private(path: &Path, empty: bool) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(empty).mode(0o600).open(path)
}

/// Puts a file of ours in the place of another one, synced with its folder.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = beside(path);
    let mut file = private(&new, true)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(new, path)?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// The same, not synced.
pub(super) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = beside(path);
    private(&new, true)?.write_all(bytes)?;
    fs::rename(new, path)
}

fn beside(path: &Path) -> PathBuf {
    path.with_added_extension("new")
}

/// Makes a folder of ours.
pub(super) fn made(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// What was not there is gone, too.
pub(super) fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
