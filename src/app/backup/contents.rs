//! What a backup says of itself: a label before everything else, a list of its files behind them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The label's name in the archive.
pub const LABEL: &str = "backup.json";
/// The list's name in the archive.
pub const LIST: &str = "files.json";
/// The database's name in the archive.
pub const DATABASE: &str = "selkie.db";
/// What stands before the names of the state folder's files.
pub const STATE: &str = "state/";
/// What stands before the names of the cache folder's files.
pub const CACHE: &str = "cache/";
/// A config is no part of a life: a backup holds none, and none comes out of one.
pub const CONFIG: &str = "config.yaml";
/// The form that is written.
pub const FORMAT: u32 = 1;

/// What stands first: enough to refuse a backup before anything of it is unpacked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The form of the archive.
    pub format: u32,
    /// Which selkie made it.
    pub selkie: String,
    /// The version of the database's tables.
    pub schema: i64,
    /// Where the rows came from: `sqlite` or `postgres`.
    pub engine: String,
    /// When it was made.
    pub made_at: DateTime<Utc>,
    /// Selkie ran meanwhile.
    pub was_running: bool,
    /// How many files there are at most, and how many bytes they have unpacked.
    pub files: u64,
    /// The same in bytes.
    pub bytes: u64,
    /// How many rows each table has.
    pub rows: BTreeMap<String, u64>,
}

impl Label {
    /// Returns how many rows there are in all.
    pub fn all_rows(&self) -> u64 {
        self.rows.values().fold(0, |all, rows| all.saturating_add(*rows))
    }
}

/// One file of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedFile {
    /// Its name there.
    pub path: String,
    /// How large it is.
    pub bytes: u64,
    /// The digest of its bytes, in hexadecimal digits.
    pub sha256: String,
}
