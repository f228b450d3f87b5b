//! Opens connections and brings the tables to today's version, forward only.

use std::fs::File;
use std::path::Path;

use chrono::{DateTime, Utc};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{backup, check};
use crate::error::{Result, StoreError};

/// The tables of a new store: what all steps come to.
const TODAY: &str = include_str!("schema.sql");
/// Every step from the first version to today; a released one is never changed.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_start.sql"),
    include_str!("migrations/0002_whose.sql"),
    include_str!("migrations/0003_lean.sql"),
    include_str!("migrations/0004_retention.sql"),
    include_str!("migrations/0005_spent.sql"),
    include_str!("migrations/0006_quoted.sql"),
    include_str!("migrations/0007_command.sql"),
    include_str!("migrations/0008_columns.sql"),
    include_str!("migrations/0009_approval.sql"),
    include_str!("migrations/0010_words.sql"),
    include_str!("migrations/0011_schedule.sql"),
    include_str!("migrations/0012_times.sql"),
    include_str!("migrations/0013_post.sql"),
    include_str!("migrations/0014_settled.sql"),
    include_str!("migrations/0016_begun.sql"),
    include_str!("migrations/0017_met.sql"),
    include_str!("migrations/0018_memory.sql"),
    include_str!("migrations/0019_cut.sql"),
    include_str!("migrations/0020_vector.sql"),
    include_str!("migrations/0021_summary.sql"),
    include_str!("migrations/0022_streamed.sql"),
    include_str!("migrations/0023_pairing.sql"),
    include_str!("migrations/0024_restored.sql"),
    include_str!("migrations/0025_used.sql"),
    include_str!("migrations/0026_called.sql"),
    include_str!("migrations/0027_beginning.sql"),
    include_str!("migrations/0028_copied.sql"),
    include_str!("migrations/0029_unsent.sql"),
    include_str!("migrations/0030_mute.sql"),
    include_str!("migrations/0031_own_form.sql"),
    include_str!("migrations/0032_choice.sql"),
    include_str!("migrations/0033_spoken.sql"),
    include_str!("migrations/0034_agents.sql"),
    include_str!("migrations/0035_agent.sql"),
    include_str!("migrations/0036_skills.sql"),
];

/// The version written today (`PRAGMA user_version`).
pub const NEWEST: i64 = MIGRATIONS.len() as i64;

/// Opens the one connection that writes, looks whether the file is whole, and migrates it: a file that
/// was there before is copied first.
///
/// # Errors
/// `Newer` for a file of a newer selkie, `Damaged` for one that is not whole or not ours (both are left
/// as they are), `Broken` for everything else.
pub fn open_writer(path: &Path, now: DateTime<Utc>) -> Result<Connection> {
    let stopped_clean = !check::has_log(path);
    check::has_its_file(path).map_err(|e| check::says_what_to_do(path, e))?;
    let mut conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    let found = check::version(&conn).map_err(|e| check::says_what_to_do(path, e))?;
    if found > NEWEST {
        return Err(backup::newer(path, found, NEWEST));
    }
    if conn.is_readonly("main")? {
        return Err(StoreError::Broken(format!("{} is read-only", path.display())));
    }
    conn.set_prepared_statement_cache_capacity(128);
    keep_plans(&conn)?;
    // Nothing is in a new file that its making could lose: it is synced once, below.
    let syncing = if found == 0 { "OFF" } else { "NORMAL" };
    conn.execute_batch(&format!(
        "PRAGMA synchronous = {syncing}; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
         PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2000; PRAGMA secure_delete = ON;",
    ))?;
    if found > 0 {
        check::look(&mut conn, path, stopped_clean).map_err(|e| check::says_what_to_do(path, e))?;
    } else {
        sync(path)?;
    }
    if found > 0 && found < NEWEST {
        backup::make(&conn, path, found, now)?;
    }
    // A version that a power failure takes back is made again: it need not be waited for.
    migrate(&conn, found)?;
    conn.execute_batch("PRAGMA synchronous = FULL;")?;
    Ok(conn)
}

/// Syncs a new file and its name: SQLite throws away the log of a file that is empty.
fn sync(path: &Path) -> Result<()> {
    let failed = |e: std::io::Error| StoreError::Broken(format!("it cannot be synced: {e}"));
    File::open(path).and_then(|file| file.sync_all()).map_err(failed)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    folder.sync_all().map_err(failed)
}

/// Opens a connection that only reads, with a cache of 1 MB.
///
/// # Errors
/// When the file cannot be read.
pub fn open_reader(path: &Path) -> Result<Connection> {
    let conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    keep_plans(&conn)?;
    conn.execute_batch("PRAGMA cache_size = -1000; PRAGMA temp_store = MEMORY;")?;
    Ok(conn)
}

/// Lets a prepared statement stay prepared: else SQLite makes a new plan wherever a bound value might make
/// another one better, and ten statements of every message were compiled again.
fn keep_plans(conn: &Connection) -> Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Brings the file to the newest version in one transaction: a crash leaves the one it had, or the newest.
fn migrate(conn: &Connection, found: i64) -> Result<()> {
    if found == NEWEST {
        return Ok(());
    }
    let steps = match usize::try_from(found).unwrap_or_default() {
        0 => TODAY.to_owned(),
        done => MIGRATIONS.get(done..).unwrap_or_default().join("\n"),
    };
    let all = format!("BEGIN IMMEDIATE;\n{steps}\nPRAGMA user_version = {NEWEST};\nCOMMIT;");
    if let Err(e) = conn.execute_batch(&all).map_err(StoreError::from) {
        if !conn.is_autocommit() {
            conn.execute_batch("ROLLBACK")?;
        }
        return Err(StoreError::Broken(format!(
            "the migration from version {found} to {NEWEST} failed: {e}"
        )));
    }
    match found {
        0 => tracing::info!(version = NEWEST, "the store was made"),
        _ => {
            tracing::info!(from = found, version = NEWEST, "the store was brought to a new version")
        }
    }
    Ok(())
}

/// Makes a file as an earlier version left it.
#[cfg(test)]
pub fn make_version(path: &Path, version: usize) {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    for sql in &MIGRATIONS[..version] {
        conn.execute_batch(sql).unwrap();
    }
    conn.pragma_update(None, "user_version", version as i64).unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_store_has_the_tables_that_an_old_one_comes_to() {
        let tables = |sql: &[&str]| {
            let conn = Connection::open_in_memory().unwrap();
            sql.iter().for_each(|sql| conn.execute_batch(sql).unwrap());
            let words =
                "SELECT type || ' ' || name || ' ' || sql FROM sqlite_schema WHERE sql IS NOT NULL
                 UNION ALL SELECT format('meta %d %d %d', id, checked_at, blanked) FROM meta
                 UNION ALL SELECT 'application ' || application_id FROM pragma_application_id
                 ORDER BY 1";
            let mut statement = conn.prepare(words).unwrap();
            let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
            let plain = |row: String| row.split_whitespace().collect::<String>();
            rows.map(|row| plain(row.unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(tables(&[TODAY]), tables(MIGRATIONS));
    }
}
