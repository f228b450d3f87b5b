//! Looks whether a database file is ours and whole before anything is written to it: little is read after
//! a clean stop, more after a crash, never for longer than two seconds.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::backup;
use crate::error::{Result, StoreError};

/// "SELK": what our files carry as `PRAGMA application_id`; those of version 1 carry none.
const OURS: i64 = 0x5345_4c4b;
/// A file of at most so many bytes is looked through at every start: two or three milliseconds.
const SMALL: u64 = 1 << 20;
/// After a crash a file is looked through for so long at most.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The tables without which nothing works.
const TABLES: [&str; 8] =
    ["conversation", "inbox", "lane", "meta", "outbound", "part", "task", "transcript"];
/// So many findings are told.
const MAX_FINDINGS: usize = 3;

/// Whether a log lies beside the file, as a crash leaves it: a clean stop takes it away.
pub fn has_log(path: &Path) -> bool {
    log_of(path).metadata().is_ok_and(|m| m.len() > 0)
}

/// A log without its database, which is gone or was cut to nothing: a new one would take the log away, and with it
/// what was heard last.
///
/// # Errors
/// `Damaged` when it is so.
pub fn has_its_file(path: &Path) -> Result<()> {
    is_regular(path)?;
    let is_empty = path.metadata().is_ok_and(|m| m.len() == 0);
    if is_empty && has_log(path) {
        return Err(damaged("it is empty or missing, and its log, selkie.db-wal, is there"));
    }
    Ok(())
}

/// Looks whether what stands in the place of a database, and of its log, are files: a pipe would be waited for without
/// an end.
///
/// # Errors
/// `Broken` when one of them is something else.
pub fn is_regular(path: &Path) -> Result<()> {
    for path in [path, &log_of(path)] {
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(StoreError::Broken(format!(
                "{} is not a regular file, but a folder, a pipe, a socket or a device: move it away, and put the \
                 database \
                 in its place where you have one",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Returns the path of a database's log.
pub fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    PathBuf::from(log)
}

/// The file as SQLite is to open it. Without a log nothing can be newer than the file: then nothing is made beside it.
pub fn uri(path: &Path, immutable: bool) -> String {
    let path = path.to_string_lossy();
    let path = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let how = if immutable { "?immutable=1" } else { "" };
    format!("file:{path}{how}")
}

/// Returns the version of a file that is ours; 0 for an empty one.
///
/// # Errors
/// `Damaged` when it is something else.
pub fn version(conn: &Connection) -> Result<i64> {
    let one = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0));
    let version = one("PRAGMA user_version")?;
    let whose = one("PRAGMA application_id")?;
    if whose != 0 && whose != OURS {
        return Err(damaged("it is the database of another program"));
    }
    if version < 0 || (version == 0 && one("SELECT count(*) FROM sqlite_schema")? > 0) {
        return Err(damaged(&format!("it has tables, but {version} where its version should be")));
    }
    Ok(version)
}

/// Looks at the tables and at the first page of each; through all of a small file, and of any file for a
/// while when the last stop was not clean.
///
/// # Errors
/// `Damaged` with what was found.
pub fn look(conn: &mut Connection, path: &Path, stopped_clean: bool) -> Result<()> {
    roots(conn, path, stopped_clean)?;
    let bytes = path.metadata().map_or(0, |m| m.len());
    if stopped_clean && bytes > SMALL {
        return Ok(());
    }
    match through_within(conn, TIMEOUT)? {
        CheckDepth::Through => {}
        CheckDepth::Partly => tracing::info!(
            bytes,
            seconds = TIMEOUT.as_secs(),
            "the database was looked at for a while after a stop that was not clean, and nothing is wrong with it \
             so far; `sqlite3 selkie.db 'PRAGMA quick_check'` looks through all of it while selkie is stopped"
        ),
    }
    Ok(())
}

/// How much of a file was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckDepth {
    /// All of it.
    Through,
    /// As much as there was time for.
    Partly,
}

/// Looks through a file for so long at most.
///
/// # Errors
/// `Damaged` with what was found.
pub fn through_within(conn: &mut Connection, patience: Duration) -> Result<CheckDepth> {
    let since = Instant::now();
    conn.progress_handler(10_000, Some(move || since.elapsed() > patience))?;
    let looked = through(conn);
    conn.progress_handler(0, None::<fn() -> bool>)?;
    looked
}

fn through(conn: &Connection) -> Result<CheckDepth> {
    let mut statement = conn.prepare(&format!("PRAGMA quick_check({MAX_FINDINGS})"))?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0));
    let found: rusqlite::Result<Vec<String>> = rows.and_then(Iterator::collect);
    match found {
        Ok(found) if found.iter().all(|line| line == "ok") => Ok(CheckDepth::Through),
        // What was found before the time was up counts; that it was up does not.
        Ok(found) => {
            let lines: Vec<&str> =
                found.iter().map(String::as_str).filter(|l| !l.contains("interrupted")).collect();
            if lines.is_empty() { Ok(CheckDepth::Partly) } else { Err(damaged(&lines.join("; "))) }
        }
        Err(e) if e.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) => {
            Ok(CheckDepth::Partly)
        }
        Err(e) => Err(e.into()),
    }
}

/// Every table that must be there is, and every table and index begins with a page of its kind. A log
/// holds newer pages than the file: then SQLite is asked for the first row of each table.
///
/// # Errors
/// `Damaged` with what was found.
pub fn roots(conn: &Connection, path: &Path, stopped_clean: bool) -> Result<()> {
    let known: Vec<(String, String, u32)> = conn
        .prepare("SELECT name, type, rootpage FROM sqlite_schema WHERE rootpage > 0")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    if let Some(table) = TABLES.iter().find(|t| !known.iter().any(|(name, ..)| name == *t)) {
        return Err(damaged(&format!("the table {table} is missing")));
    }
    let size: u32 = conn.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let file = File::open(path)
        .map_err(|e| StoreError::Broken(format!("{} cannot be read: {e}", path.display())))?;
    for (name, kind, root) in known {
        if kind == "table" {
            conn.prepare(&format!("SELECT 1 FROM \"{name}\" LIMIT 1"))?.exists([])?;
        }
        if stopped_clean && !begins_a_tree(&file, u64::from(size) * u64::from(root - 1)) {
            return Err(damaged(&format!("the first page of the {kind} {name} cannot be read")));
        }
    }
    Ok(())
}

/// Whether a page of a table or an index stands there.
fn begins_a_tree(file: &File, at: u64) -> bool {
    let mut kind = [0];
    file.read_exact_at(&mut kind, at).is_ok() && matches!(kind[0], 2 | 5 | 10 | 13)
}

fn damaged(what: &str) -> StoreError {
    StoreError::Damaged(what.to_owned())
}

/// Names the file and tells what to do about it.
pub fn says_what_to_do(path: &Path, error: StoreError) -> StoreError {
    let StoreError::Damaged(what) = error else { return error };
    let copy = match backup::newest(path) {
        Some(copy) => format!("; {} is a copy from before an upgrade", copy.display()),
        None => String::new(),
    };
    let folder = path.parent().unwrap_or(path).display();
    StoreError::Damaged(format!(
        "{0} cannot be used: {what}. Nothing was changed. Restore your newest backup with `selkie restore FILE --force --state \
         {folder}`, which moves what is there now into a folder of its own; then `selkie resume --state {folder}` puts selkie \
         back to work{copy}. Without a backup, `sqlite3 {0} .recover` prints what can still be read",
        path.display()
    ))
}
