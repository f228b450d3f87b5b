//! One process per store: an exclusive lock on the folder, which nobody deletes while it is used, and on a file in
//! it that says who has it. The database itself is not opened for it: closing it would let go of SQLite's locks.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::place::Place;
use crate::error::{Result, StoreError};

/// How often, and after which time, a lock that is held is tried again: half a second in all.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(25);

/// Holds the store for this process until it is dropped.
#[derive(Debug)]
pub struct StoreLock {
    file: File,
    folder: File,
    place: Place,
    /// That the file is gone was said.
    told: AtomicBool,
}

impl StoreLock {
    /// Takes the lock, waiting a moment for a process that is just ending, and writes this process's id into the file.
    ///
    /// # Errors
    /// `Held` when another process has it, `Broken` when the file cannot be made.
    pub fn take(path: &Path) -> Result<Self> {
        let broken = |e: io::Error| {
            StoreError::Broken(format!("the lock file {} cannot be used: {e}", path.display()))
        };
        let folder = folder(path)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            // What a link leads to is not ours to write into.
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)
            .map_err(|e| match Errno::from_io_error(&e) {
                Some(Errno::LOOP) => broken(io::Error::other("it is a link: remove it")),
                _ => broken(e),
            })?;
        match locked(&file) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(held(path)),
            Err(e) => return Err(broken(e.into())),
        }
        file.set_len(0).map_err(broken)?;
        file.write_all(format!("{}\n", std::process::id()).as_bytes()).map_err(broken)?;
        let place = Place::of(path);
        let told = AtomicBool::new(false);
        Ok(Self { file, folder, place, told })
    }

    /// Says, once, that the file does not lie where it was made.
    pub fn look(&self) {
        let gone = self.place.is_there().is_err();
        if self.told.swap(gone, Ordering::Relaxed) || !gone {
            return;
        }
        let file = self.place.path().display();
        tracing::error!(
            %file,
            "the lock file was deleted or replaced while selkie was running. Its folder is locked, too, so no second \
             selkie can use the store; restart this one to make the file again"
        );
    }
}

impl Drop for StoreLock {
    /// Lets go at once. Closing alone would not: a program that this process is starting holds copies of the files
    /// until it runs.
    fn drop(&mut self) {
        for held in [&self.file, &self.folder] {
            if let Err(error) = flock(held, FlockOperation::Unlock) {
                tracing::debug!(%error, "the store's lock goes with its files");
            }
        }
    }
}

/// Says who holds a store, without taking or making anything; `None` when nobody does.
pub fn holder(path: &Path) -> Option<String> {
    let file = path.is_file().then(|| File::open(path).ok()).flatten()?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Some(who(path)),
        // It goes with the file.
        _ => None,
    }
}

/// Locks the folder: a lock file can be deleted, and the next one is another file.
fn folder(path: &Path) -> Result<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let broken = |e: io::Error| {
        StoreError::Broken(format!("the folder {} cannot be used: {e}", folder.display()))
    };
    let opened = File::open(folder).map_err(broken)?;
    match locked(&opened) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Err(held(path)),
        // Some file systems lock no folders.
        Err(error) => tracing::debug!(%error, "the file alone keeps other processes out"),
    }
    Ok(opened)
}

/// Locks a file. A process that was killed holds it until the system has taken it down: whoever starts again at once
/// waits for that.
fn locked(file: &File) -> rustix::io::Result<()> {
    locked_after(file, || thread::sleep(PAUSE))
}

fn locked_after(file: &File, mut pause: impl FnMut()) -> rustix::io::Result<()> {
    for _ in 0..TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => pause(),
            done => return done,
        }
    }
    flock(file, FlockOperation::NonBlockingLockExclusive)
}

fn who(path: &Path) -> String {
    match std::fs::read_to_string(path) {
        Ok(pid) if !pid.trim().is_empty() => format!("process {}", pid.trim()),
        _ => "another process".to_owned(),
    }
}

fn held(path: &Path) -> StoreError {
    let who = who(path);
    let folder = path.parent().unwrap_or(path).display();
    StoreError::Held(format!(
        "{who} holds the store in {folder}: stop it first, or name another state folder"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_its_files_does_not_hold_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("selkie.lock");
        let lock = StoreLock::take(&path).unwrap();
        let _copies = [lock.file.try_clone().unwrap(), lock.folder.try_clone().unwrap()];
        assert!(matches!(StoreLock::take(&path), Err(StoreError::Held(_))));
        drop(lock);
        StoreLock::take(&path).unwrap();
    }

    #[test]
    fn a_link_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("selkie.lock"), folder.path().join("other"));
        std::fs::write(&other, "words").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        let why = StoreLock::take(&path).unwrap_err().to_string();
        assert!(why.ends_with("it is a link: remove it"), "{why}");
        assert_eq!(std::fs::read_to_string(other).unwrap(), "words");
    }

    #[test]
    fn who_is_just_ending_is_waited_for_and_who_stays_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("selkie.lock");
        let mut holder = Some(StoreLock::take(&path).unwrap());
        let file = File::open(&path).unwrap();
        let mut pauses = 0;
        let held = locked_after(&file, || pauses += 1);
        assert_eq!((held, pauses), (Err(Errno::WOULDBLOCK), TRIES));
        assert_eq!(locked_after(&file, || drop(holder.take())), Ok(()));
    }
}
