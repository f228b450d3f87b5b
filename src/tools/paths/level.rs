//! Whose words a file holds: kept with the file itself, as an extended attribute, so that it goes where the
//! file goes and lives as long.

use std::io;
use std::os::fd::AsFd;
use std::path::{Component, Path};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::fs::{XattrFlags, fgetxattr, fsetxattr, getxattr, lgetxattr};

use super::zone::Zone;
use crate::domain::taint::Taint;

/// The attribute's name.
const NAME: &str = "user.selkie.level";
/// The longest level's name fits.
const ROOM: usize = 16;
/// So many entries of a folder are looked at for what a command may read.
const MANY: usize = 1_000;
/// So many words of a command.
const WORDS: usize = 300;

/// The level of what one call writes, and the highest of what it has read.
#[derive(Clone, Debug, Default)]
pub struct Level {
    writes: Taint,
    read: Arc<AtomicU8>,
}

impl PartialEq for Level {
    fn eq(&self, other: &Self) -> bool {
        self.writes == other.writes
    }
}

impl Eq for Level {}

impl Level {
    /// Of a call that writes what is of this level.
    pub fn writing(writes: Taint) -> Self {
        Self { writes, read: Arc::default() }
    }

    /// Returns the highest level of the files that were read.
    pub fn read(&self) -> Taint {
        let read = usize::from(self.read.load(Ordering::Relaxed));
        Taint::ALL.get(read).copied().unwrap_or(Taint::Raw)
    }

    /// Notes what was read.
    pub(super) fn saw(&self, level: Taint) {
        self.read.fetch_max(level as u8, Ordering::Relaxed);
    }

    /// Returns the level of what the call writes.
    pub fn writes(&self) -> Taint {
        self.writes
    }

    /// The same for content of others.
    pub(super) fn foreign(&self) -> Self {
        Self { writes: Taint::Raw, read: Arc::clone(&self.read) }
    }
}

/// What a file without a mark holds: the cache is where downloads and attachments lie, everything else is
/// people's.
pub(super) fn unmarked(zone: Zone) -> Taint {
    if zone == Zone::Own { Taint::Raw } else { Taint::Clean }
}

/// What of the state folder everybody writes into, whom the bot listens to: its first names, in small letters.
const SHARED: [&str; 4] = ["todo.md", "todo.done.md", "contacts", "kept"];

/// Returns the least level of a file by where it lies: the lists hold the words of many, and whoever edits them by hand
/// may leave them without a mark.
pub(super) fn of_place(zone: Zone, relative: &Path) -> Taint {
    let first = relative.components().find_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
        _ => None,
    });
    let is_shared = first.is_some_and(|first| SHARED.contains(&&*first));
    if zone == Zone::State && is_shared { Taint::Raw } else { Taint::Clean }
}

/// Returns the level of an open file.
pub(super) fn of(file: impl AsFd, zone: Zone) -> Taint {
    let mut room = [0; ROOM];
    let length = fgetxattr(file, NAME, &mut room);
    length.ok().and_then(|n| named(&room[..n])).unwrap_or_else(|| unmarked(zone))
}

/// Returns the level of a file's name: whoever wrote what it holds has called it so, and a name without a mark is
/// people's.
pub(super) fn of_name(path: &Path) -> Taint {
    let mut room = [0; ROOM];
    let length = lgetxattr(path, NAME, &mut room);
    length.ok().and_then(|n| named(&room[..n])).unwrap_or_default().written()
}

/// Returns the level of a file of the state folder that is kept by its own writer.
pub fn level_of(file: impl AsFd) -> Taint {
    of(file, Zone::State)
}

/// Marks such a file.
///
/// # Errors
/// When the file system keeps no marks and the file would seem to be cleaner than it is.
pub fn mark_level(file: impl AsFd, level: Taint) -> io::Result<()> {
    if level == Taint::Clean { Ok(()) } else { mark(file, level, Zone::State) }
}

/// Marks a folder that was made by whoever writes what is of this level; one of the cache is no cleaner for it.
///
/// # Errors
/// As [`mark`].
pub(super) fn mark_folder(folder: impl AsFd, level: Taint, zone: Zone) -> io::Result<()> {
    match level {
        Taint::Clean => Ok(()),
        level => mark(folder, level.max(unmarked(zone)), zone),
    }
}

/// Marks an open file.
///
/// # Errors
/// When the file system keeps no marks and the file would seem to be cleaner than it is.
pub(super) fn mark(file: impl AsFd, level: Taint, zone: Zone) -> io::Result<()> {
    match fsetxattr(file, NAME, level.name().as_bytes(), XattrFlags::empty()) {
        Err(_) if level > unmarked(zone) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this file system cannot mark other people's words (it has no extended attributes): write to \
             file_cache_dir/<path>",
        )),
        _ => Ok(()),
    }
}

/// Returns the level of the files that a command may read: those it names, and all of the conversation's
/// own folder when it stands there and may sweep over it. What names the state folder or a list of it may read what many
/// have written.
pub fn of_command(cmd: &str, folder: &Path, own: &Path, state: Option<&Path>) -> Taint {
    if reads_lists(cmd, folder, own, state) {
        return Taint::Raw;
    }
    let named = words(cmd).take(WORDS).map(|word| of_path(&folder.join(word), own)).max();
    let stands_there = folder.starts_with(own) || cmd.contains(&*own.to_string_lossy());
    let swept = if stands_there && sweeps(cmd) { of_entries(own) } else { Taint::Clean };
    named.unwrap_or_default().max(swept)
}

fn reads_lists(cmd: &str, folder: &Path, own: &Path, state: Option<&Path>) -> bool {
    // The conversation's own folder may lie below the state folder.
    let cmd = cmd.replace(&*own.to_string_lossy(), "").to_lowercase();
    let names = |path: &Path| cmd.contains(&path.to_string_lossy().to_lowercase());
    let stands_in = |state: &Path| folder.starts_with(state) && !folder.starts_with(own);
    cmd.contains("todo.md")
        || cmd.contains("todo.done.md")
        || cmd.contains("file_state_dir")
        || state.is_some_and(|state| names(state) || stands_in(state))
}

fn words(cmd: &str) -> impl Iterator<Item = &str> {
    let between = |c: char| c.is_whitespace() || "'\"`;|&<>()$={}".contains(c);
    cmd.split(between).filter(|word| !word.is_empty() && !word.starts_with('-'))
}

/// Whether a command may read files that it does not name.
fn sweeps(cmd: &str) -> bool {
    let many = ["find", "xargs", "rg", "tar", "zip", "git"];
    cmd.contains(['*', '?', '['])
        || cmd.split_whitespace().any(|word| {
            many.contains(&word)
                || matches!(word, "." | "--recursive")
                || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']))
        })
}

fn of_path(path: &Path, own: &Path) -> Taint {
    let Ok(found) = std::fs::metadata(path) else { return Taint::Clean };
    if !found.is_file() {
        return Taint::Clean;
    }
    let mut room = [0; ROOM];
    let marked = getxattr(path, NAME, &mut room).ok().and_then(|n| named(&room[..n]));
    let inside = path
        .canonicalize()
        .is_ok_and(|real| own.canonicalize().is_ok_and(|own| real.starts_with(own)));
    marked.unwrap_or_else(|| unmarked(if inside { Zone::Own } else { Zone::Workspace }))
}

fn of_entries(own: &Path) -> Taint {
    let entries = std::fs::read_dir(own).into_iter().flatten().flatten();
    let levels = entries.take(MANY).map(|entry| match entry.file_type() {
        // What lies deeper is not looked at.
        Ok(kind) if kind.is_dir() => Taint::Raw,
        _ => of_path(&entry.path(), own),
    });
    levels.max().unwrap_or_default()
}

fn named(bytes: &[u8]) -> Option<Taint> {
    Taint::parse(std::str::from_utf8(bytes).ok()?)
}
