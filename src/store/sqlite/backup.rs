//! A copy of the database beside it, made before its tables change.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use rusqlite::{Connection, ErrorCode};

use crate::error::{Result, StoreError};

/// So many copies are kept.
const KEPT: usize = 3;
/// What stands between the database's name and the date.
const MARK: &str = ".backup-";

/// Copies a database as it is now, then removes all but the newest copies.
///
/// # Errors
/// `Broken` when there is no room for the copy, or it cannot be written: nothing has changed.
pub fn make(conn: &Connection, path: &Path, version: i64, now: DateTime<Utc>) -> Result<()> {
    let target = named(path, &format!("{}-v{version}", now.format("%Y%m%dT%H%M%SZ")));
    let part = named(path, "part");
    let bytes = path.metadata().map_or(0, |m| m.len());
    if let Err(why) = copy(conn, &part, &target) {
        // A half copy is of no use to anybody, and takes the room.
        drop(fs::remove_file(&part));
        return Err(StoreError::Broken(format!(
            "{} is of version {version} and has to be changed, and the copy before that cannot be created: {why}. \
             Make room for {} MB there and start again",
            path.display(),
            bytes.div_ceil(1 << 20).max(1)
        )));
    }
    tracing::info!(backup = %target.display(), version, "the database was copied before it is changed");
    for old in all(path).iter().rev().skip(KEPT) {
        if let Err(error) = fs::remove_file(old) {
            tracing::warn!(path = %old.display(), %error, "an old backup cannot be removed");
        }
    }
    Ok(())
}

/// Returns the newest copy.
pub fn newest(path: &Path) -> Option<PathBuf> {
    all(path).pop()
}

/// Says that a newer selkie wrote a database, with the newest copy that this one can use.
pub fn newer(path: &Path, found: i64, known: i64) -> StoreError {
    let usable = |copy: &PathBuf| version(copy).is_some_and(|version| version <= known);
    match all(path).into_iter().rfind(usable) {
        None => StoreError::newer(found, known),
        Some(copy) => {
            let back =
                format!("`selkie restore {} --force`, the copy that was made then", copy.display());
            StoreError::Newer { found, known, back }
        }
    }
}

/// Reads the version in a copy's name.
fn version(copy: &Path) -> Option<i64> {
    copy.to_str()?.rsplit_once("-v")?.1.parse().ok()
}

fn copy(conn: &Connection, part: &Path, target: &Path) -> std::result::Result<(), String> {
    let said = |e: io::Error| e.to_string();
    // SQLite fills an empty file, which has the rights that it is to have.
    drop(fs::remove_file(part));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(part);
    let file = file.map_err(said)?;
    let name = part.to_str().ok_or("the folder's name is no text")?;
    conn.execute("VACUUM INTO ?1", [name]).map_err(|e| match e.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full".to_owned(),
        _ => StoreError::from(e).to_string(),
    })?;
    file.sync_all().map_err(said)?;
    fs::rename(part, target).map_err(said)?;
    let folder = target.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(said)
}

/// The copies there are, oldest first: their names begin with their date.
fn all(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name().and_then(|n| n.to_str()) else { return Vec::new() };
    let start = format!("{name}{MARK}2");
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|n| n.starts_with(&start)))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

fn named(path: &Path, what: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(MARK);
    name.push(what);
    PathBuf::from(name)
}
