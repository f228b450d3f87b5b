//! The ledger over SQLite: one process, one writing thread, two readers.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use rusqlite::Connection;
use writer::Class;

use crate::domain::clock::{SharedClock, SystemClock};
use crate::store::{Ledger, Result, Since, StoreError};

mod accept;
mod backup;
mod check;
mod claimed;
mod command;
mod conversations;
mod delivery;
mod facts;
mod fetched;
mod gate;
mod gauge;
mod holds;
mod inflow;
mod intake;
mod janitor;
mod lanes;
mod late;
mod lock;
mod moved;
mod notes;
mod outbox;
mod place;
mod question;
mod questions;
mod quoted;
mod read;
mod readers;
mod rows;
mod run;
mod schema;
mod settle;
mod tasks;

mod spending;
mod spent;
mod status;
#[cfg(test)]
mod tests;
mod trace;
mod unreadable;
mod unsend;
mod wal;
mod work;
mod writer;

/// What a store may be told when it is opened.
#[derive(Clone)]
pub struct Options {
    /// The time, for the verbs that are not handed one.
    pub clock: SharedClock,
}

impl Default for Options {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock) }
    }
}

/// The ledger in one SQLite file. Dropping it finishes the verbs it was given and frees the lock.
pub struct Sqlite {
    // Dropped in this order: the writer is the last to close the file, and ends before the lock is free.
    readers: readers::Readers,
    writer: writer::Writer,
    place: place::Place,
    clock: SharedClock,
    lock: lock::StoreLock,
}

impl Sqlite {
    /// Opens the file, made (0600, its folder 0700) when it is not there, and brings it to today's
    /// version. The lock `selkie.lock` beside it, and one on their folder, keep other processes out.
    ///
    /// # Errors
    /// `Held` when another process has the store, `Newer` when a newer selkie wrote it, `Damaged` when it
    /// is not whole or not ours, `Broken` when it cannot be written.
    pub fn open(path: &Path, options: Options) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("."));
        make(folder, path)?;
        let lock = lock::StoreLock::take(&folder.join("selkie.lock"))?;
        let conn = schema::open_writer(path, options.clock.now()).map_err(|e| named(path, e))?;
        let writer = writer::Writer::start(conn, path)?;
        let readers = readers::Readers::new(path.to_owned());
        let place = place::Place::of(path);
        Ok(Self { writer, readers, place, clock: options.clock, lock })
    }

    /// Lets the file grow to at most its size now plus `pages`, as on a disk that is full then.
    #[cfg(test)]
    pub(crate) async fn limit_growth(&self, pages: i64) {
        let verb = move |conn: &rusqlite::Connection| {
            let now: i64 = conn.query_row("PRAGMA page_count", [], |row| row.get(0))?;
            conn.query_row(&format!("PRAGMA max_page_count = {}", now + pages), [], |_| Ok(()))?;
            Ok(())
        };
        self.writer.run(writer::Class::Relaxed, 0, verb).await.unwrap();
    }

    /// Returns how often relaxed commits were synced while the writer was idle: off the hot path, and
    /// not part of [`Ledger::syncs`].
    pub fn settles(&self) -> u64 {
        self.writer.gauge().settles()
    }
}

#[async_trait]
impl Ledger for Sqlite {
    fn syncs(&self) -> u64 {
        self.writer.gauge().syncs()
    }

    fn lag(&self) -> Duration {
        self.writer.gauge().lag()
    }

    async fn forget_old(&self, since: Since) -> Result<u64> {
        let verb = move |conn: &Connection| janitor::step(conn, &since);
        let rows = self.writer.run(Class::Relaxed, 0, verb).await?;
        if rows > 0 {
            self.writer.purge();
        }
        Ok(rows)
    }

    async fn at_work(&self) -> Result<Vec<(i64, DateTime<Utc>)>> {
        self.readers.run(lanes::at_work).await
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
