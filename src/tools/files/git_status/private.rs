//! A git folder of our own making, over a foreign repository's files: the commit, a copy of its index, and
//! settings that we wrote. Its own settings, hooks, filters, attributes and remotes are never read.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};

use super::found::{Repository, broken, open_regular};
use crate::ToolError;
use crate::paths::Stop;

/// Bytes of an index: about half a million files.
const INDEX: u64 = 64 * 1024 * 1024;
/// Entries of the folder of objects.
const OBJECTS: usize = 1_000_000;
/// Folders of objects nest so deep: `objects/info/commit-graphs`.
const DEPTH: usize = 3;
/// What a killed daemon left behind is removed after this.
const STALE: TimeDelta = TimeDelta::hours(1);
/// Where it lies in the cache, which no conversation owns.
const FOLDER: &str = ".git-status";

/// What git may know. Nothing in it names a program; no filter is defined, whatever attributes ask for.
const SETTINGS: &str = "\
\tbare = false
\tfsmonitor = false
\thooksPath = /dev/null
\texcludesFile = /dev/null
\tattributesFile = /dev/null
\tuntrackedCache = false
\tcommitGraph = false
\tpackedGitWindowSize = 16m
\tpackedGitLimit = 256m
\tquotePath = false
[gc]
\tauto = 0
[color]
\tui = false
[status]
\trelativePaths = true
\tsubmoduleSummary = false
[diff]
\tignoreSubmodules = all
[submodule]
\trecurse = false
";

/// The folder, removed when it is dropped.
pub(super) struct Private {
    /// `GIT_DIR`.
    pub(super) folder: PathBuf,
    /// `GIT_OBJECT_DIRECTORY`: the repository's own, looked through.
    pub(super) objects: PathBuf,
    /// The id of the empty tree: where attributes are read from.
    pub(super) empty_tree: &'static str,
}

impl Drop for Private {
    fn drop(&mut self) {
        // What is left is removed by a later call.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Private {
    /// Makes it, below the cache.
    ///
    /// # Errors
    /// For the model: the repository holds what is not looked at, or the disk refuses.
    pub(super) fn of(
        repository: &Repository,
        cache: &Path,
        now: DateTime<Utc>,
        stop: &Stop,
    ) -> Result<Self, ToolError> {
        let refused =
            |e: io::Error| ToolError::tell(format!("git_status needs the cache folder: {e}"));
        let head = repository.head()?;
        let objects = repository.common.join("objects");
        look_through(&objects, stop)?;
        let long = head.as_ref().is_some_and(|id| id.len() == 64);
        let empty_tree = if long {
            "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
        } else {
            "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
        };
        let folder = made(cache, now).map_err(refused)?;
        let private = Self { folder, objects, empty_tree };
        private.fill(head.as_deref(), long).map_err(refused)?;
        private.take_index(&repository.own.join("index"))?;
        Ok(private)
    }

    fn fill(&self, head: Option<&str>, long: bool) -> io::Result<()> {
        let (version, extensions) =
            if long { (1, "[extensions]\n\tobjectFormat = sha256\n") } else { (0, "") };
        let settings =
            format!("[core]\n\trepositoryFormatVersion = {version}\n{SETTINGS}{extensions}");
        fs::write(self.folder.join("config"), settings)?;
        let head = head.unwrap_or("ref: refs/heads/none");
        fs::write(self.folder.join("HEAD"), format!("{head}\n"))?;
        fs::create_dir(self.folder.join("refs"))
    }

    /// The copy keeps the index's time: by it git knows which files may have changed since.
    fn take_index(&self, index: &Path) -> Result<(), ToolError> {
        let from = match open_regular(index) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(broken(&format!("its index cannot be read: {error}"))),
        };
        let copied = copy(from, &self.folder.join("index"));
        match copied.map_err(|e| broken(&format!("its index cannot be copied: {e}")))? {
            true => Ok(()),
            false => Err(broken(&format!("its index is larger than {} MiB", INDEX / 1024 / 1024))),
        }
    }
}

/// Copies a file that is not too large.
fn copy(from: File, to: &Path) -> io::Result<bool> {
    let about = from.metadata()?;
    let mut copy = File::create_new(to)?;
    let copied = io::copy(&mut from.take(INDEX + 1), &mut copy)?;
    copy.flush()?;
    copy.set_modified(about.modified()?)?;
    Ok(copied <= INDEX)
}

fn made(cache: &Path, now: DateTime<Utc>) -> io::Result<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let all = cache.join(FOLDER);
    DirBuilder::new().recursive(true).mode(0o700).create(&all)?;
    for left in fs::read_dir(&all)?.filter_map(Result::ok) {
        let since = left.metadata().and_then(|m| m.modified());
        if since.is_ok_and(|since| now - DateTime::<Utc>::from(since) > STALE) {
            // Another call may be removing it, too.
            let _ = fs::remove_dir_all(left.path());
        }
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = all.join(format!("{}-{number}", std::process::id()));
    // A dead process had the same number.
    let _ = fs::remove_dir_all(&folder);
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

/// Git opens what lies among its objects by name: nothing but folders and files may, and no way to
/// another repository's.
fn look_through(objects: &Path, stop: &Stop) -> Result<(), ToolError> {
    let unreadable = |e: io::Error| broken(&format!("its objects cannot be listed: {e}"));
    let mut waiting = vec![(objects.to_owned(), 0)];
    let mut seen = 0;
    if !objects.symlink_metadata().map_err(unreadable)?.is_dir() {
        return Err(broken("its folder of objects is a link"));
    }
    while let Some((folder, depth)) = waiting.pop() {
        stop.check().map_err(unreadable)?;
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let kind = entry.file_type().map_err(unreadable)?;
            seen += 1;
            if seen > OBJECTS {
                return Err(broken(&format!("it has more than {OBJECTS} files of objects")));
            }
            if kind.is_dir() && depth < DEPTH {
                waiting.push((entry.path(), depth + 1));
            } else if !kind.is_file() {
                return Err(broken("a link, a pipe or a device lies among its objects"));
            } else if entry.file_name() == "alternates" {
                return Err(broken("it takes objects from another repository"));
            }
        }
    }
    Ok(())
}
