//! Looks at a database file that nobody has open, and changes nothing of it.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::backup;
use super::check::{self, CheckDepth};
use super::schema::NEWEST;
use crate::error::{Result, StoreError};
use crate::restored::RestoreOrigin;

/// What was found of a file that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// Its version.
    pub version: i64,
    /// The version that this selkie writes: the next start brings the file to it.
    pub newest: i64,
    /// How many bytes it takes on the disk.
    pub bytes: u64,
    /// It was looked through to its end.
    pub is_through: bool,
    /// What it was restored from, while nobody has let it go on.
    pub restored: Option<RestoreOrigin>,
}

/// How many bytes a database takes on the disk: what was just written stands in the log beside its file alone.
pub fn bytes_of(path: &Path) -> Option<u64> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let log = Path::new(&log).metadata().map_or(0, |log| log.len());
    Some(path.metadata().ok()?.len() + log)
}

/// Looks at a file for so long at most.
///
/// # Errors
/// `Newer` and `Damaged` as at a start, `Broken` when it cannot be read.
pub fn examine(path: &Path, patience: Duration) -> Result<FileReport> {
    looked(path, patience).map_err(|error| check::says_what_to_do(path, error))
}

fn looked(path: &Path, patience: Duration) -> Result<FileReport> {
    check::has_its_file(path)?;
    let stopped_clean = !check::has_log(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let broken = |e| StoreError::Broken(format!("{} cannot be read: {e}", path.display()));
    let mut conn =
        Connection::open_with_flags(check::uri(path, stopped_clean), flags).map_err(broken)?;
    let version = check::version(&conn)?;
    if version > NEWEST {
        return Err(backup::newer(path, version, NEWEST));
    }
    if version > 0 {
        check::roots(&conn, path, stopped_clean)?;
    }
    let looked = check::through_within(&mut conn, patience)?;
    let bytes = bytes_of(path).unwrap_or_default();
    let is_through = looked == CheckDepth::Through;
    Ok(FileReport { version, newest: NEWEST, bytes, is_through, restored: restored(&conn)? })
}

/// Older files have no place for it.
fn restored(conn: &Connection) -> Result<Option<RestoreOrigin>> {
    let has_it = "SELECT count(*) FROM pragma_table_info('meta') WHERE name = 'restored'";
    if conn.query_row(has_it, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(None);
    }
    let text = conn.query_row("SELECT restored FROM meta WHERE id = 1", [], |row| row.get(0))?;
    RestoreOrigin::stored(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema::open_writer;
    use selkie_domain::clock::{Clock as _, SystemClock};

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_whole_file_is_looked_through_and_nothing_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a #%?.db");
        std::fs::File::create(&path).unwrap();
        drop(open_writer(&path, SystemClock.now()).unwrap());
        let before = (std::fs::read(&path).unwrap(), names(folder.path()));
        let found = examine(&path, Duration::from_secs(5)).unwrap();
        assert_eq!((found.version, found.newest, found.is_through), (NEWEST, NEWEST, true));
        assert_eq!((std::fs::read(&path).unwrap(), names(folder.path())), before);
    }

    #[test]
    fn what_stands_in_the_log_alone_counts_for_the_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("selkie.db");
        assert_eq!(bytes_of(&path), None);
        std::fs::File::create(&path).unwrap();
        let conn = open_writer(&path, SystemClock.now()).unwrap();
        let size = |path: &Path| std::fs::metadata(path).unwrap().len();
        let log = size(&folder.path().join("selkie.db-wal"));
        assert!(log > 0, "nothing was written to the log");
        assert_eq!(bytes_of(&path), Some(size(&path) + log));
        drop(conn);
    }

    #[test]
    fn what_is_no_database_of_ours_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("selkie.db");
        std::fs::write(&path, "x".repeat(9000)).unwrap();
        assert!(examine(&path, Duration::from_secs(5)).is_err());
        std::fs::remove_file(&path).unwrap();
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch("CREATE TABLE other (a); PRAGMA user_version = 99;").unwrap();
        drop(conn);
        assert!(matches!(examine(&path, Duration::from_secs(5)), Err(StoreError::Newer { .. })));
    }
}
