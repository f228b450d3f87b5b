//! The ledger in one SQLite file: opened, asked, closed.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::check;
use super::lock::StoreLock;
use super::place::Place;
use super::readers::Readers;
use super::schema;
use super::writer::Writer;
use crate::engine::{Engine, Job, Purge, Verb};
use crate::error::{Result, StoreError};

/// The ledger in one SQLite file. Dropping it finishes the verbs it was given and frees the lock.
#[derive(Debug)]
pub struct Sqlite {
    // Dropped in this order: the writer is the last to close the file, and ends before the lock is free.
    readers: Readers,
    writer: Writer,
    place: Place,
    lock: StoreLock,
}

impl Sqlite {
    /// Opens the file, made (0600, its folder 0700) when it is not there, and brings it to today's
    /// version. The lock `selkie.lock` beside it, and one on their folder, keep other processes out.
    /// `now` names the copy that is made before a migration.
    ///
    /// # Errors
    /// `Held` when another process has the store, `Newer` when a newer selkie wrote it, `Damaged` when it
    /// is not whole or not ours, `Broken` when it cannot be written.
    pub fn open(path: &Path, now: DateTime<Utc>) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("."));
        check::is_regular(path)?;
        make(folder, path)?;
        let lock = StoreLock::take(&folder.join("selkie.lock"))?;
        let conn = schema::open_writer(path, now).map_err(|e| named(path, e))?;
        let writer = Writer::start(conn, path)?;
        let readers = Readers::new(path.to_owned());
        Ok(Self { writer, readers, place: Place::of(path), lock })
    }

    /// Returns how often relaxed commits were synced while the writer was idle: off the hot path, and
    /// not part of [`Engine::syncs`].
    pub fn settles(&self) -> u64 {
        self.writer.gauge().settles()
    }
}

#[async_trait]
impl Engine for Sqlite {
    fn write(&self, verb: Verb) {
        self.writer.take(verb);
    }

    async fn read(&self, job: Box<dyn Job>) {
        self.readers.run(job).await;
    }

    fn purge(&self, how: Purge) {
        self.writer.purge(how);
    }

    fn syncs(&self) -> u64 {
        self.writer.gauge().syncs()
    }

    fn lag(&self) -> Duration {
        self.writer.gauge().lag()
    }

    async fn close(&self) {
        // A reader that is still there would keep the log alive.
        self.readers.close().await;
        self.writer.close().await;
    }

    fn in_place(&self) -> Result<()> {
        self.lock.look();
        self.place.is_there()
    }
}

/// Makes folder and file with the rights they are to have; SQLite gives its log the file's rights.
fn make(folder: &Path, path: &Path) -> Result<()> {
    let broken = |what: &Path, e: std::io::Error| {
        StoreError::Broken(format!("{} cannot be written: {e}", what.display()))
    };
    if !folder.as_os_str().is_empty() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|e| broken(folder, e))?;
    }
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map(drop)
        .map_err(|e| broken(path, e))
}

fn named(path: &Path, error: StoreError) -> StoreError {
    match error {
        StoreError::Broken(why) => StoreError::Broken(format!("{}: {why}", path.display())),
        other => other,
    }
}
