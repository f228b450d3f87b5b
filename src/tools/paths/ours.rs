//! What is the bot's own on this machine: closed to every tool by where it lies and by what it is (device
//! and inode), whatever it is called and however many names it has.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::form::real_or_same;

/// Folders below the state folder that the daemon keeps for itself.
pub const CREDENTIALS: &str = "credentials";
/// How deep, and how many files, a closed folder is known by their inodes; by its place it is closed
/// altogether.
const DEEP: usize = 4;
const MANY: usize = 1_000;
/// Said of what is closed.
pub(super) const SAYS: &str = "it is the bot's own: no tool touches it";

/// Where the bot's own things lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ours(Arc<Places>);

#[derive(Debug, Default, PartialEq, Eq)]
struct Places {
    state: Option<PathBuf>,
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Ours {
    /// Names the state folder, folders of secrets and single files: the config and what it reads. They
    /// need not be there yet.
    pub fn new(state: PathBuf, mut folders: Vec<PathBuf>, files: Vec<PathBuf>) -> Self {
        folders.extend([CREDENTIALS, "run"].map(|name| state.join(name)));
        Self(Arc::new(Places { state: Some(state), folders, files }))
    }

    /// The state folder: a root of its own even where it is closed.
    pub(super) fn state(&self) -> Option<&Path> {
        self.0.state.as_deref()
    }

    /// Returns every path of it, those that are not there included.
    pub fn all(&self) -> Vec<PathBuf> {
        let Places { state, folders, files } = &*self.0;
        state.iter().chain(folders).chain(files).cloned().collect()
    }

    /// Looks at the disk: what is closed now.
    pub(crate) fn closed(&self) -> ClosedPaths {
        let mut closed = ClosedPaths::default();
        let Places { state, folders, files } = &*self.0;
        for folder in folders {
            closed.every_file(folder, DEEP);
            closed.folders.push(real_or_same(folder));
        }
        // The database, what it is written through, its copies, lock and socket.
        let entries = state.iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten().flatten();
        let daemons = entries.filter(|e| e.file_name().to_string_lossy().starts_with("selkie."));
        for file in files.iter().cloned().chain(daemons.map(|entry| entry.path())) {
            closed.file(&file);
            closed.files.insert(real_or_same(&file));
        }
        closed
    }
}

/// What is closed at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClosedPaths {
    folders: Vec<PathBuf>,
    files: BTreeSet<PathBuf>,
    /// Device and inode.
    known: BTreeSet<(u64, u64)>,
}

impl ClosedPaths {
    /// Whether a real path is closed by where it lies.
    pub(super) fn place(&self, real: &Path) -> bool {
        self.files.contains(real) || self.folders.iter().any(|folder| real.starts_with(folder))
    }

    /// Whether it is closed by where it lies or by what lies there.
    pub(crate) fn holds(&self, real: &Path) -> bool {
        let known = || fs::symlink_metadata(real).is_ok_and(|found| self.is(&found));
        self.place(real) || (!self.known.is_empty() && known())
    }

    /// Whether a path as it is written leads to what is closed; it need not be there yet.
    pub(crate) fn leads_to(&self, path: &Path) -> bool {
        self.holds(&real_or_same(path))
    }

    /// Refuses what was opened when it is closed: other names of it lead to it, too.
    pub(super) fn check(&self, found: &Metadata) -> io::Result<()> {
        match self.is(found) {
            true => Err(io::Error::new(io::ErrorKind::PermissionDenied, SAYS)),
            false => Ok(()),
        }
    }

    fn is(&self, found: &Metadata) -> bool {
        self.known.contains(&(found.dev(), found.ino()))
    }

    fn file(&mut self, file: &Path) {
        if let Ok(found) = fs::metadata(file) {
            self.known.insert((found.dev(), found.ino()));
        }
    }

    fn every_file(&mut self, folder: &Path, deep: usize) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if self.known.len() >= MANY {
                return;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && deep > 1 => self.every_file(&entry.path(), deep - 1),
                Ok(kind) if kind.is_dir() => {}
                _ => self.file(&entry.path()),
            }
        }
    }
}
