//! Whose words a file holds: kept with the file itself, as an extended attribute, so that it goes where the
//! file goes and lives as long.

use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::path::{Component, Path};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::fs::{XattrFlags, fgetxattr, fsetxattr, getxattr, lgetxattr};
use rustix::io::Errno;

use super::commands::{CommandLog, OpenRun};
use super::zone::Zone;
use selkie_domain::clock::SharedClock;
use selkie_domain::facts::Trust;
use selkie_domain::provenance::Provenance;
use selkie_domain::taint::Taint;

/// The attribute's name.
const NAME: &str = "user.selkie.level";
/// The longest mark fits.
const ROOM: usize = 32;

/// Whose task a call belongs to, whose words it writes, and the highest level of what it has read.
#[derive(Clone)]
pub struct Level {
    task: Taint,
    trust: Trust,
    writes: Taint,
    read: Arc<AtomicU8>,
    commands: Arc<CommandLog>,
}

impl fmt::Debug for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Level({})", self.writes())
    }
}

impl PartialEq for Level {
    fn eq(&self, other: &Self) -> bool {
        (self.task, self.writes()) == (other.task, other.writes())
    }
}

impl Eq for Level {}

impl Default for Level {
    /// Of an owner's call that has read nothing.
    fn default() -> Self {
        Self::of_task(Taint::Clean, Trust::Owner)
    }
}

impl Level {
    /// Of a call of a task that reads what is of this level and answers somebody of this trust.
    pub fn of_task(task: Taint, trust: Trust) -> Self {
        Self { task, trust, writes: task.written(), read: Arc::default(), commands: Arc::default() }
    }

    /// The same where commands are noted.
    #[must_use]
    pub fn noting(self, commands: &Arc<CommandLog>) -> Self {
        Self { commands: Arc::clone(commands), ..self }
    }

    /// Returns the highest level of the files that were read.
    pub fn read(&self) -> Taint {
        let read = usize::from(self.read.load(Ordering::Relaxed));
        Taint::ALL.get(read).copied().unwrap_or(Taint::Raw)
    }

    /// Returns whom the task answers.
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// Notes what was read.
    pub(super) fn saw(&self, level: Taint) {
        self.read.fetch_max(level as u8, Ordering::Relaxed);
    }

    /// Returns whose words the call writes.
    pub fn writes(&self) -> Provenance {
        Provenance { level: self.writes, trust: self.trust }
    }

    /// Returns the level of words to this call.
    pub(super) fn of(&self, whose: Provenance) -> Taint {
        whose.read_by(self.trust)
    }

    /// The same for content of others.
    pub(super) fn foreign(&self) -> Self {
        Self { writes: Taint::Raw, ..self.clone() }
    }

    /// Returns whose words an open file holds: those that its mark says, and what a command may have put there.
    pub(super) fn whose(&self, file: &File, path: &Path, zone: Zone) -> Provenance {
        let mut room = [0; ROOM];
        let length = fgetxattr(file, NAME, &mut room);
        self.marked(FileMark::of(length, &room), file.metadata(), path, zone)
    }

    /// Returns whose words a file's name is: whoever wrote what it holds has called it so.
    pub(super) fn whose_name(&self, path: &Path, zone: Zone) -> Provenance {
        let mut room = [0; ROOM];
        let length = lgetxattr(path, NAME, &mut room);
        self.marked(FileMark::of(length, &room), path.symlink_metadata(), path, zone)
    }

    /// The same of what stands at a real path, without opening it.
    pub(super) fn whose_path(&self, path: &Path, zone: Zone) -> Provenance {
        let mut room = [0; ROOM];
        let length = getxattr(path, NAME, &mut room);
        self.marked(FileMark::of(length, &room), path.metadata(), path, zone)
    }

    /// Notes that a command starts, unless it can bring nobody's words but an owner's clean ones into files.
    ///
    /// # Errors
    /// As [`CommandLog::starts`].
    pub(super) fn starts(
        &self,
        folders: &[&Path],
        reads: Taint,
        clock: &SharedClock,
    ) -> io::Result<Option<OpenRun>> {
        let wrote = Provenance { level: self.task.max(reads), trust: self.trust };
        self.commands.starts(folders, wrote, clock)
    }

    fn marked(
        &self,
        mark: FileMark,
        file: io::Result<Metadata>,
        path: &Path,
        zone: Zone,
    ) -> Provenance {
        let Ok(file) = file else { return Provenance::RAW };
        let around = self.commands.around(path, &file);
        match mark {
            FileMark::Of(whose) => whose.and(around),
            // A command made it: what others send is marked when it comes.
            FileMark::Nothing if self.commands.ran_at(path, &file) => around,
            _ => unmarked(zone).and(around),
        }
    }
}

/// What the mark of a file says.
enum FileMark {
    Of(Provenance),
    /// There is none, and there could be one.
    Nothing,
    /// It cannot be read, or not be kept here.
    Unknown,
}

impl FileMark {
    fn of(length: rustix::io::Result<usize>, room: &[u8]) -> Self {
        match length {
            Ok(length) => named(&room[..length]).map_or(Self::Unknown, Self::Of),
            Err(Errno::NODATA) => Self::Nothing,
            Err(_) => Self::Unknown,
        }
    }
}

/// Whose words a file without a mark holds: the cache is where downloads and attachments lie, everything else is people's.
pub(super) fn unmarked(zone: Zone) -> Provenance {
    if zone == Zone::Own { Provenance::RAW } else { Provenance::CLEAN }
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
    // What of the skills is none that is known was reviewed by nobody.
    let is_shared = first.is_some_and(|first| SHARED.contains(&&*first) || first == "skills");
    if zone == Zone::State && is_shared { Taint::Raw } else { Taint::Clean }
}

/// Returns the level with which a file of the state folder was written that is kept by its own writer.
pub fn level_of(file: impl AsFd) -> Taint {
    let mut room = [0; ROOM];
    let length = fgetxattr(file, NAME, &mut room).ok();
    length.and_then(|n| named(&room[..n])).unwrap_or(Provenance::CLEAN).level
}

/// Marks such a file.
///
/// # Errors
/// When the file system keeps no marks and the file would seem to be cleaner than it is.
pub fn mark_level(file: impl AsFd, level: Taint) -> io::Result<()> {
    match level {
        Taint::Clean => Ok(()),
        level => mark(file, Provenance { level, trust: Trust::Owner }, Zone::State),
    }
}

/// Marks an open file or folder.
///
/// # Errors
/// When the file system keeps no marks and the file would seem to be cleaner than it is.
pub(super) fn mark(file: impl AsFd, whose: Provenance, zone: Zone) -> io::Result<()> {
    match fsetxattr(file, NAME, whose.to_string().as_bytes(), XattrFlags::empty()) {
        Err(_) if unmarked(zone).and(whose) != unmarked(zone) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this file system cannot mark other people's words (it has no extended attributes): write to \
             file_cache_dir/<path>",
        )),
        _ => Ok(()),
    }
}

fn named(bytes: &[u8]) -> Option<Provenance> {
    Provenance::parse(std::str::from_utf8(bytes).ok()?)
}
