//! What outlives a restart: which troubles were told and last, and which lives did not end in order.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// How long a life that did not end in order counts.
const COUNTS: TimeDelta = TimeDelta::hours(1);
/// So many of them are kept.
const MAX: usize = 50;
/// More than the file ever has: what is longer is none of ours.
const LARGEST: u64 = 256 << 10;

/// The file's contents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Book {
    /// Troubles that last, each since when.
    raised: BTreeMap<String, DateTime<Utc>>,
    /// When lives began that have not ended in order, this one included.
    begun: Vec<DateTime<Utc>>,
}

/// The file.
#[derive(Debug)]
pub(super) struct AlertFile {
    path: PathBuf,
    book: Book,
    since: DateTime<Utc>,
}

impl AlertFile {
    /// Reads it, and notes that a life begins.
    pub(super) fn begin(path: PathBuf, now: DateTime<Utc>) -> Self {
        let mut book = read(&path).unwrap_or_else(|error| {
            tracing::warn!(path = %path.display(), %error, "cannot be read: alerts may be told again");
            Book::default()
        });
        book.begun.retain(|at| (now - at).abs() < COUNTS);
        let surplus = (book.begun.len() + 1).saturating_sub(MAX);
        book.begun.drain(..surplus);
        book.begun.push(now);
        let mut kept = Self { path, book, since: now };
        kept.write();
        kept
    }

    /// How many lives before this one have ended within the last hour, and not in order.
    pub(super) fn crashes(&self, now: DateTime<Utc>) -> u32 {
        let before = self.book.begun.iter().filter(|at| **at != self.since);
        let counted = before.filter(|at| (now - **at).abs() < COUNTS).count();
        u32::try_from(counted).unwrap_or(u32::MAX)
    }

    /// Whether this trouble was raised and lasts.
    pub(super) fn stands(&self, key: &str) -> bool {
        self.book.raised.contains_key(key)
    }

    /// Since when a trouble lasts: from now on, where it is new. What says so is written before this returns.
    pub(super) fn raise(&mut self, key: &str, now: DateTime<Utc>) -> DateTime<Utc> {
        if let Some(since) = self.book.raised.get(key) {
            return *since;
        }
        self.book.raised.insert(key.to_owned(), now);
        self.write();
        now
    }

    /// Forgets the troubles that are over, and returns them.
    pub(super) fn settle(&mut self, lasts: impl Fn(&str) -> bool) -> Vec<String> {
        let over: Vec<String> =
            self.book.raised.keys().filter(|key| !lasts(key)).cloned().collect();
        if !over.is_empty() {
            self.book.raised.retain(|key, _| !over.contains(key));
            self.write();
        }
        over
    }

    /// Notes that this life ends in order.
    pub(super) fn end(&mut self) {
        self.book.begun.retain(|at| *at != self.since);
        self.write();
    }

    fn write(&mut self) {
        if let Err(error) = replace(&self.path, &self.book) {
            tracing::warn!(path = %self.path.display(), %error, "cannot be written: after a restart alerts may be told again");
        }
    }
}

fn read(path: &Path) -> io::Result<Book> {
    match fs::metadata(path) {
        Ok(found) if found.len() > LARGEST => Err(io::Error::other("it is too long")),
        Ok(_) => Ok(serde_json::from_slice(&fs::read(path)?)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Book::default()),
        Err(error) => Err(error),
    }
}

/// Puts the new file in the place of the old one, whole or not at all.
fn replace(path: &Path, book: &Book) -> io::Result<()> {
    let part = path.with_extension("part");
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file: File =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    file.write_all(&serde_json::to_vec(book)?)?;
    file.sync_all()?;
    fs::rename(part, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(minutes * 60, 0).unwrap()
    }

    #[test]
    fn what_was_raised_is_known_after_a_restart_until_it_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/alerts.json");
        let mut first = AlertFile::begin(path.clone(), at(0));
        assert_eq!(first.raise("disk", at(1)), at(1));
        let mut second = AlertFile::begin(path.clone(), at(2));
        assert!(second.stands("disk") && !second.stands("crashes"));
        assert_eq!(second.raise("disk", at(3)), at(1), "the same trouble");
        assert_eq!(second.settle(|_| false), ["disk"]);
        let mut third = AlertFile::begin(path, at(4));
        assert_eq!(third.raise("disk", at(5)), at(5), "another one");
    }

    #[test]
    fn lives_that_did_not_end_in_order_count_for_an_hour() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("alerts.json");
        for minute in 0..3 {
            AlertFile::begin(path.clone(), at(minute));
        }
        let mut fourth = AlertFile::begin(path.clone(), at(10));
        assert_eq!((fourth.crashes(at(10)), fourth.crashes(at(61))), (3, 1));
        fourth.end();
        let fifth = AlertFile::begin(path.clone(), at(11));
        assert_eq!(fifth.crashes(at(11)), 3, "the fourth has ended in order");
        fs::write(&path, "{").unwrap();
        assert_eq!(AlertFile::begin(path, at(12)).crashes(at(12)), 0);
    }
}
