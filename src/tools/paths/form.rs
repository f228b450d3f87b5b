//! The words of a path: what form they may have, which alias they begin with, where they would lead.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization as _;

use crate::ToolError;

/// Longest path and longest name that Linux takes, in bytes.
const MAX_PATH: usize = 4095;
const MAX_NAME: usize = 255;

/// Refuses what cannot be a path.
pub(super) fn check_form(written: &str) -> Result<(), ToolError> {
    if written.is_empty() {
        return Err(ToolError::tell("path is required"));
    }
    if written.contains('\0') {
        return Err(ToolError::tell("invalid path: it contains a NUL character"));
    }
    if written.len() > MAX_PATH || written.split('/').any(|name| name.len() > MAX_NAME) {
        return Err(ToolError::tell(format!(
            "invalid path: too long (a name takes {MAX_NAME} bytes, a path {MAX_PATH})"
        )));
    }
    Ok(())
}

/// Returns what follows an alias; `None` when the path does not begin with it.
pub(super) fn alias<'a>(written: &'a str, name: &str) -> Result<Option<&'a str>, ToolError> {
    let Some(rest) = written.strip_prefix(name) else { return Ok(None) };
    if !rest.is_empty() && !rest.starts_with('/') {
        return Ok(None);
    }
    let rest = rest.trim_start_matches('/');
    if rest.is_empty() {
        return Err(ToolError::tell("invalid path: alias requires a relative file path"));
    }
    Ok(Some(rest))
}

/// Entries of a folder that are looked at for a name in another form.
const ENTRIES: usize = 20_000;

/// Returns a path that exists as it is written, or in the other form of its letters: `é` is one character or two, and
/// who types a name cannot see which.
pub(super) fn in_any_form(path: &Path) -> PathBuf {
    if path.as_os_str().is_ascii() || path.symlink_metadata().is_ok() {
        return path.to_owned();
    }
    let mut found = PathBuf::new();
    for component in path.components() {
        let whole = found.join(component);
        found = match component {
            Component::Normal(name) if whole.symlink_metadata().is_err() => {
                twin(&found, name).unwrap_or(whole)
            }
            _ => whole,
        };
    }
    found
}

/// Finds the entry of a folder whose name is the same in letters.
fn twin(folder: &Path, name: &OsStr) -> Option<PathBuf> {
    let wanted: String = name.to_str().filter(|name| !name.is_ascii())?.nfc().collect();
    let entries = folder.read_dir().ok()?.take(ENTRIES).flatten();
    let same = |other: &OsStr| other.to_str().is_some_and(|other| other.nfc().eq(wanted.chars()));
    entries.map(|entry| entry.file_name()).find(|other| same(other)).map(|other| folder.join(other))
}

/// Where a file would really be made: the deepest folder that exists, and plain names below it.
pub(super) fn settle(path: &Path, written: &str) -> Result<PathBuf, ToolError> {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        match existing.canonicalize() {
            Ok(real) => {
                return Ok(missing.iter().rev().fold(real, |at, name| at.join(name)));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(cannot_reach(written, &error));
            }
            Err(_) if existing.is_symlink() => {
                return Err(ToolError::tell(format!("{written} is a link that leads nowhere")));
            }
            Err(_) => {}
        }
        let Some((name, parent)) = existing.file_name().zip(existing.parent()) else {
            return Err(ToolError::tell(format!("invalid path: {written}")));
        };
        missing.push(name);
        existing = parent;
    }
}

/// Takes `.` and `..` out by the words alone.
pub(super) fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// A root may not be made yet: then its real place is below the real place of what is there.
pub(super) fn real_or_same(root: &Path) -> PathBuf {
    match (root.canonicalize(), root.parent(), root.file_name()) {
        (Ok(real), ..) => real,
        (Err(_), Some(parent), Some(name)) => real_or_same(parent).join(name),
        _ => root.to_owned(),
    }
}

/// Says why a path leads nowhere.
pub(super) fn cannot_reach(written: &str, error: &io::Error) -> ToolError {
    let why = match error.kind() {
        io::ErrorKind::NotFound => return ToolError::tell(format!("no such file: {written}")),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "a part of it is a file, not a folder".to_owned(),
        _ => error.to_string(),
    };
    ToolError::tell(format!("{written} cannot be reached: {why}"))
}

/// Says what the disk refused.
pub fn refused(shown: &str, error: &io::Error) -> ToolError {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "it is gone".to_owned(),
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_some() => {
            "permission denied".to_owned()
        }
        io::ErrorKind::StorageFull => "the disk is full: nothing was written".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only".to_owned(),
        _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            "a link stands in its place".to_owned()
        }
        _ => error.to_string(),
    };
    ToolError::tell(format!("{shown}: {why}"))
}
