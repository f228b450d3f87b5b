//! A new file that holds all of a life: copied from another file as it is at one moment, or filled row by row.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::backup;
use super::check;
use super::lock::holder;
use super::schema::{self, NEWEST};
use super::tx::SqliteTx;
use crate::error::{Result, StoreError};
use crate::tables::{TABLES, Table};
use crate::tx::Tx;

/// The version of the files that this selkie makes.
pub const fn newest_version() -> i64 {
    NEWEST
}

/// Copies a database into a new file, as it is at one moment, beside whoever writes; returns its version. Who holds
/// the store's lock says so: then a file without a log is read as it lies there, and nothing is made beside it.
///
/// # Errors
/// `Newer` and `Damaged` as at a start, `Broken` when one of the files cannot be read or written.
pub fn copy(path: &Path, is_ours: bool, to: &Path) -> Result<i64> {
    check::has_its_file(path).map_err(|error| check::says_what_to_do(path, error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let uri = check::uri(path, is_ours && !check::has_log(path));
    let broken = |e| StoreError::Broken(format!("{} cannot be read: {e}", path.display()));
    let conn = Connection::open_with_flags(uri, flags).map_err(broken)?;
    let version = check::version(&conn).map_err(|error| check::says_what_to_do(path, error))?;
    if version > NEWEST {
        return Err(backup::newer(path, version, NEWEST));
    }
    make(to)?;
    let name = to.to_str().ok_or_else(|| unwritten(to, "its name is no text"))?;
    conn.execute("VACUUM INTO ?1", [name]).map_err(|e| match e.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => unwritten(to, "the disk is full"),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            let what = StoreError::Damaged(e.to_string());
            check::says_what_to_do(path, what)
        }
        _ => unwritten(to, &e.to_string()),
    })?;
    Ok(version)
}

/// Reads a file that nobody has open, and makes nothing beside it.
///
/// # Errors
/// `Broken` when it cannot be read, and its own.
pub fn read<T>(path: &Path, what: impl FnOnce(&mut dyn Tx) -> Result<T>) -> Result<T> {
    check::is_regular(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(check::uri(path, true), flags)?;
    what(&mut SqliteTx::on(&conn))
}

/// Reads a store's file beside whoever has it open, takes nothing and makes nothing.
///
/// # Errors
/// `Broken` when it cannot be read, and its own.
pub fn read_beside<T>(path: &Path, what: impl FnOnce(&mut dyn Tx) -> Result<T>) -> Result<T> {
    check::is_regular(path)?;
    let is_open = holder(&path.with_file_name("selkie.lock")).is_some();
    if !is_open && !check::has_log(path) {
        return read(path, what);
    }
    let conn = schema::open_reader(path)?;
    let open = conn.unchecked_transaction()?;
    let read = what(&mut SqliteTx::on(&conn));
    drop(open);
    read
}

/// Looks whether a file holds nothing that acts by itself when it is used.
///
/// # Errors
/// `Damaged` when it does.
pub fn is_inert(path: &Path) -> Result<()> {
    let acts = "SELECT COUNT(*) FROM sqlite_schema
         WHERE type NOT IN ('table', 'index') OR (sql LIKE 'CREATE VIRTUAL%' AND name <> 'memory_words')";
    match read(path, |tx| tx.only::<i64>(acts, &[]))? {
        0 => Ok(()),
        _ => Err(StoreError::Damaged(
            "its database holds triggers, views or virtual tables, which are not selkie's"
                .to_owned(),
        )),
    }
}

/// Looks whether a file of today's version has all tables of that version, with their columns.
///
/// # Errors
/// `Damaged` when it has not.
pub fn has_its_tables(path: &Path) -> Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(check::uri(path, true), flags)?;
    for Table { name, columns, .. } in TABLES {
        let sql = format!("SELECT {columns} FROM {name} LIMIT 0");
        conn.prepare(&sql).map_err(|error| {
            StoreError::Damaged(format!("its database is not what its version says: {error}"))
        })?;
    }
    Ok(())
}

/// A file that is being filled. Until it is finished it is of no use.
pub struct NewFile(Connection);

impl NewFile {
    /// Makes it, with the tables of today.
    ///
    /// # Errors
    /// `Broken` when it cannot be written.
    pub fn make(path: &Path, now: DateTime<Utc>) -> Result<Self> {
        make(path)?;
        let conn = schema::open_writer(path, now)?;
        // Who does not get it to its end throws it away.
        conn.execute_batch("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 4000;")?;
        Ok(Self(conn))
    }

    /// Runs something in a transaction.
    ///
    /// # Errors
    /// Its own: then nothing of it is written.
    pub fn write<T>(&self, what: impl FnOnce(&mut dyn Tx) -> Result<T>) -> Result<T> {
        let open = self.0.unchecked_transaction()?;
        let done = what(&mut SqliteTx::on(&self.0))?;
        open.commit()?;
        Ok(done)
    }

    /// Puts everything into the one file.
    ///
    /// # Errors
    /// `Broken` when it cannot be written.
    pub fn finish(self) -> Result<()> {
        self.0.execute_batch("PRAGMA journal_mode = DELETE;")?;
        self.0.close().map_err(|(_, error)| error.into())
    }
}

/// Makes an empty file for us alone: SQLite fills it.
fn make(path: &Path) -> Result<()> {
    let made: std::io::Result<File> =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    made.map(drop).map_err(|e| unwritten(path, &e.to_string()))
}

fn unwritten(path: &Path, why: &str) -> StoreError {
    StoreError::Broken(format!("{} cannot be written: {why}", path.display()))
}
