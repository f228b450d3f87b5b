//! Keeps the write-ahead log settled and short, off the hot path.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Connection;

use crate::engine::Purge;
use crate::error::{Result, StoreError};

/// 16 MB of pages: checkpointed even while verbs come.
const LONG: i64 = 4096;
/// 4 MB of pages: worth a checkpoint when idle. Less is left alone, because a log that begins anew
/// costs the next durable commit a second sync.
const WORTH: i64 = 1024;
/// A file of more bytes is cut when idle.
const HUGE: u64 = 64 << 20;
/// Looked at after so many commits or bytes.
const COMMITS: u32 = 64;
const BYTES: usize = 1 << 20;

/// Messages wait while a database is written anew: some two seconds for this much.
const MAX_REWRITTEN: u64 = 256 << 20;
/// What is rewritten goes through a temporary file, and not through memory.
const REWRITE: &str = "PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY;";

/// A reader that is in the way of the last checkpoint is waited for no longer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The log's state as the writer knows it.
#[derive(Debug)]
pub struct Wal {
    path: PathBuf,
    file: Option<File>,
    unsynced: bool,
    commits: u32,
    bytes: usize,
    /// It holds what was taken back.
    purge: bool,
    /// Pages of the database may do so, where nothing uses them.
    stale: bool,
    /// They are written anew at the next rest.
    rewrite: bool,
}

impl Wal {
    /// Knows the log at `path`, which need not be there yet.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            unsynced: false,
            commits: 0,
            bytes: 0,
            purge: false,
            stale: false,
            rewrite: false,
        }
    }

    /// A relaxed commit has written pages.
    pub fn unsynced(&mut self) {
        self.unsynced = true;
    }

    /// A durable commit has synced everything before it.
    pub fn synced(&mut self) {
        self.unsynced = false;
    }

    /// Whether there is something to do when the writer becomes idle.
    pub fn is_restless(&self) -> bool {
        self.unsynced || self.commits > 0 || self.purge
    }

    /// It is to be emptied when there is time, and pages are to be written anew.
    pub fn purge(&mut self, how: Purge) {
        self.purge = true;
        self.stale |= how >= Purge::Pages;
        self.rewrite |= how == Purge::PagesSoon;
    }

    /// Counts a commit, and checkpoints when the log has become long.
    pub fn wrote(&mut self, conn: &Connection, bytes: usize) {
        self.commits += 1;
        self.bytes += bytes;
        if !self.commits.is_multiple_of(COMMITS) && self.bytes < BYTES {
            return;
        }
        self.bytes = 0;
        if let Err(e) = checkpoint_from(conn, LONG) {
            tracing::warn!(error = %e, "the store's log could not be checkpointed");
        }
    }

    /// Syncs what relaxed commits left and shortens the log; tells whether it synced.
    pub fn rest(&mut self, conn: &Connection) -> Result<bool> {
        self.commits = 0;
        self.bytes = 0;
        let settled = self.unsynced;
        if settled {
            self.sync()?;
            self.unsynced = false;
        }
        if std::mem::take(&mut self.rewrite) {
            self.rewrite_pages(conn);
        }
        if self.purge {
            // A reader may be in the way: then the next rest does it.
            self.purge = !emptied(conn)?;
        }
        checkpoint_from(conn, WORTH)?;
        if self.path.metadata().is_ok_and(|m| m.len() > HUGE) {
            checkpoint(conn, "TRUNCATE")?;
        }
        Ok(settled)
    }

    /// Puts everything into the database and closes it: the last connection takes the log away.
    pub fn end(mut self, conn: Connection) {
        if self.stale {
            self.rewrite_pages(&conn);
        }
        drop(self.file);
        let blocked = match conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        {
            Ok(0_i64) => None,
            Ok(_) => Some("somebody still reads it".to_owned()),
            Err(e) => Some(e.to_string()),
        };
        let left = blocked.or_else(|| conn.close().err().map(|(_, e)| e.to_string()));
        if let Some(why) = left {
            let log = self.path.display();
            tracing::warn!(
                why,
                "not everything could be moved into the database: {log} belongs to it, keep both"
            );
        }
    }

    /// Writes every page anew: where rows were moved to another page, `secure_delete` leaves copies behind them.
    fn rewrite_pages(&mut self, conn: &Connection) {
        self.stale = false;
        let file = conn.path().and_then(|path| std::fs::metadata(path).ok());
        let bytes = file.map_or(0, |file| file.len());
        if bytes > MAX_REWRITTEN {
            tracing::info!(
                bytes,
                "the database is too large to be rewritten: pieces of what was \
                deleted may stay in it until they are overwritten"
            );
        } else if let Err(error) = conn.execute_batch(REWRITE) {
            tracing::warn!(%error, "the database could not be rewritten: pieces of what was deleted may stay in it");
        }
    }

    fn sync(&mut self) -> Result<()> {
        let failed =
            |e: std::io::Error| StoreError::Broken(format!("the log cannot be synced: {e}"));
        let file = match self.file.take() {
            Some(file) => file,
            None => File::open(&self.path).map_err(failed)?,
        };
        file.sync_data().map_err(failed)?;
        self.file = Some(file);
        Ok(())
    }
}

/// Empties the log without waiting for readers; whether it is empty.
fn emptied(conn: &Connection) -> Result<bool> {
    conn.busy_timeout(Duration::ZERO)?;
    let busy = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    conn.busy_timeout(TIMEOUT)?;
    Ok(busy? == 0)
}

/// Checkpoints when more than `pages` of the log are not in the database yet.
fn checkpoint_from(conn: &Connection, pages: i64) -> Result<()> {
    let (log, done) = checkpoint(conn, "NOOP")?;
    if log - done > pages {
        checkpoint(conn, "PASSIVE")?;
    }
    Ok(())
}

fn checkpoint(conn: &Connection, mode: &str) -> Result<(i64, i64)> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let mut statement = conn.prepare_cached(&sql)?;
    Ok(statement.query_row([], |row| Ok((row.get(1)?, row.get(2)?)))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of many lengths, in an order that moves them from page to page.
    fn filled(conn: &Connection) {
        conn.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON; CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
             INSERT INTO t SELECT (i * 7919) % 2003, iif(i % 3, 'kept-', 'hush-') || i
                 || substr(hex(zeroblob(600)), 1, (i * 37) % 900) FROM n;
             DELETE FROM t WHERE v LIKE 'hush-%';",
        )
        .unwrap();
    }

    #[test]
    fn nothing_of_what_was_forgotten_stays_in_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let [database, log] = ["a.db", "a.db-wal"].map(|name| folder.path().join(name));
        let conn = Connection::open(&database).unwrap();
        filled(&conn);
        let holds = |file: &std::path::Path| {
            std::fs::read(file).unwrap().windows(5).filter(|bytes| bytes == b"hush-").count()
        };
        let mut wal = Wal::new(log.clone());
        wal.purge(Purge::Log);
        wal.rest(&conn).unwrap();
        assert!(holds(&database) > 0 && holds(&log) == 0, "copies stay behind rows that moved");
        wal.purge(Purge::PagesSoon);
        wal.rest(&conn).unwrap();
        assert_eq!((holds(&database), holds(&log)), (0, 0));
    }

    /// What is taken back is gone at once where it can be found; pages are written anew when nobody waits.
    #[test]
    fn nothing_of_what_was_taken_back_stays_after_a_clean_stop() {
        let folder = tempfile::tempdir().unwrap();
        let [database, log] = ["a.db", "a.db-wal"].map(|name| folder.path().join(name));
        let conn = Connection::open(&database).unwrap();
        filled(&conn);
        let holds =
            || std::fs::read(&database).unwrap().windows(5).filter(|b| b == b"hush-").count();
        let mut wal = Wal::new(log.clone());
        wal.purge(Purge::Pages);
        wal.rest(&conn).unwrap();
        assert!(holds() > 0, "it does not make messages wait");
        wal.end(conn);
        assert_eq!((holds(), log.exists()), (0, false));
        let kept: i64 = Connection::open(&database)
            .unwrap()
            .query_row("SELECT count(*) FROM t WHERE v LIKE 'kept-%'", [], |row| row.get(0))
            .unwrap();
        assert!(kept > 1_000, "{kept}");
    }
}
