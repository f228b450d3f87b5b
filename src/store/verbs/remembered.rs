//! Pieces of what is remembered: kept by file, found by their words. Each engine has its own full text; a piece that has
//! more of the words is found first, by asking for all of them, then for all but one, and so on.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::error::{Result, StoreError};
use crate::memory::{FileNote, IndexedFile, Piece, SoughtWords};
use crate::tx::{Dialect, Spellings, Tx};
use crate::value::{Row, params};
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;

/// So many pieces are read for one choice of words.
const PAGE: i64 = 200;
/// Of so many words, the rarest, choices are made.
const CHOSEN: usize = 5;
/// How often a word stands somewhere is counted up to so many.
const COUNTED: i64 = 1_000;

/// The pieces that have all of some words, the newest first.
const FOUND: Spellings = Spellings {
    sqlite: "SELECT p.id, p.path, p.first, p.last, p.section, p.text, p.trust, p.level, p.words,
                 p.digest
             FROM memory_words w CROSS JOIN memory_piece p ON p.id = w.rowid
             WHERE w.memory_words MATCH ?1 ORDER BY w.rowid DESC LIMIT ?2",
    postgres:
        "SELECT id, path, first, last, section, text, trust, level, words, digest FROM memory_piece
               WHERE terms @@ CAST(CAST(?1 AS TEXT) AS TSQUERY) ORDER BY id DESC LIMIT ?2",
};
/// In how many pieces a word stands.
const COUNT: Spellings = Spellings {
    sqlite: "SELECT COUNT(*) FROM (SELECT rowid FROM memory_words WHERE memory_words MATCH ?1 LIMIT ?2)",
    postgres: "SELECT COUNT(*) FROM (SELECT id FROM memory_piece
               WHERE terms @@ CAST(CAST(?1 AS TEXT) AS TSQUERY) LIMIT ?2) t",
};
/// SQLite's full text is a table of its own.
const ADD: Spellings = Spellings {
    sqlite: "INSERT INTO memory_words (rowid, words) SELECT id, words FROM memory_piece WHERE path = ?1",
    postgres: "",
};
/// What goes has to be told what stood there.
const TAKE: Spellings = Spellings {
    sqlite: "INSERT INTO memory_words (memory_words, rowid, words)
             SELECT 'delete', id, words FROM memory_piece WHERE path = ?1",
    postgres: "",
};

/// Lists the subjects of the index.
pub fn subjects(tx: &mut dyn Tx) -> Result<Vec<String>> {
    tx.column("SELECT name FROM memory_subject ORDER BY name", params![])
}

/// Lists the files of a subject.
pub fn files(tx: &mut dyn Tx, subject: &str) -> Result<Vec<FileNote>> {
    tx.all(
        "SELECT f.path, f.look FROM memory_subject s CROSS JOIN memory_file f ON f.subject = s.id
         WHERE s.name = ?1 ORDER BY f.path",
        params![subject],
        |row| Ok(FileNote { path: row.get(0)?, look: row.get(1)? }),
    )
}

/// Puts a file's pieces in the place of those that it had.
pub fn index(tx: &mut dyn Tx, file: &IndexedFile) -> Result<()> {
    let IndexedFile { subject, note: FileNote { path, look }, pieces } = file;
    clear(tx, path)?;
    let subject = number(tx, subject)?;
    tx.execute_later(
        "INSERT INTO memory_file (path, subject, look) VALUES (?1, ?2, ?3)",
        params![path, subject, look],
    )?;
    for piece in pieces {
        let words = piece.words.split_whitespace().map(|word| own(subject, word));
        let words = words.collect::<Vec<_>>().join(" ");
        tx.execute_later(
            "INSERT INTO memory_piece (path, first, last, section, text, trust, level, words, digest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                path,
                piece.first,
                piece.last,
                &piece.section,
                &piece.text,
                piece.trust.name(),
                piece.level.name(),
                &words,
                &piece.digest
            ],
        )?;
    }
    of_full_text(tx, ADD, path)
}

/// Returns the number of a subject; a new one gets one.
fn number(tx: &mut dyn Tx, subject: &str) -> Result<i64> {
    let known = "SELECT id FROM memory_subject WHERE name = ?1";
    if let Some(id) = tx.first(known, params![subject])? {
        return Ok(id);
    }
    let new = "INSERT INTO memory_subject (name) VALUES (?1) ON CONFLICT (name) DO NOTHING";
    match tx.insert(new, params![subject])? {
        Some(id) => Ok(id),
        None => tx.only(known, params![subject]),
    }
}

/// Takes a file out of the index, and its subject with the last one.
pub fn forget(tx: &mut dyn Tx, path: &str) -> Result<()> {
    let subject: Option<i64> =
        tx.first("SELECT subject FROM memory_file WHERE path = ?1", params![path])?;
    clear(tx, path)?;
    match subject {
        None => Ok(()),
        Some(subject) => tx.execute_later(
            "DELETE FROM memory_subject WHERE id = ?1
                 AND NOT EXISTS (SELECT 1 FROM memory_file WHERE subject = ?1)",
            params![subject],
        ),
    }
}

fn clear(tx: &mut dyn Tx, path: &str) -> Result<()> {
    of_full_text(tx, TAKE, path)?;
    tx.execute_later("DELETE FROM memory_piece WHERE path = ?1", params![path])?;
    tx.execute_later("DELETE FROM memory_file WHERE path = ?1", params![path])
}

/// Changes the full text where it is a table of its own.
fn of_full_text(tx: &mut dyn Tx, change: Spellings, path: &str) -> Result<()> {
    match change.of(tx.dialect()) {
        "" => Ok(()),
        sql => tx.execute_later(sql, params![path]),
    }
}

/// Finds pieces.
pub fn search(tx: &mut dyn Tx, sought: &SoughtWords) -> Result<Vec<Piece>> {
    let is_plain = |word: &&String| !word.is_empty() && word.chars().all(char::is_alphanumeric);
    let words: Vec<&String> = sought.words.iter().filter(is_plain).collect();
    let mut found = Vec::new();
    for subject in &sought.subjects {
        let known = "SELECT id FROM memory_subject WHERE name = ?1";
        if let Some(subject) = tx.first(known, params![subject])? {
            let words: Vec<String> = words.iter().map(|word| own(subject, word)).collect();
            found.extend(of_subject(tx, &words, sought)?);
        }
    }
    Ok(found)
}

/// A word of one memory alone.
fn own(subject: i64, word: &str) -> String {
    format!("{subject}x{word}")
}

/// Finds pieces of one subject, by choices of its words: the most words first.
fn of_subject(tx: &mut dyn Tx, words: &[String], sought: &SoughtWords) -> Result<Vec<Piece>> {
    let mut rare = Vec::new();
    for word in words {
        let count: i64 = tx.only(COUNT.of(tx.dialect()), params![&all(tx, &[word]), COUNTED])?;
        if count > 0 {
            rare.push(Rare { count, word });
        }
    }
    rare.sort_by_key(|rare| rare.count);
    rare.truncate(CHOSEN);
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    // What stands in no piece counts as missing from each.
    for many in (sought.least.clamp(1, CHOSEN)..=rare.len()).rev() {
        for choice in choices(rare.len(), many) {
            let words: Vec<&String> = choice.iter().map(|at| rare[*at].word).collect();
            let asked = all(tx, &words);
            tx.query(FOUND.of(tx.dialect()), params![&asked, PAGE], &mut |row| {
                if known.insert(row.get::<i64>(0)?) {
                    found.push(piece(row)?);
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        if found.len() >= sought.enough {
            break;
        }
    }
    Ok(found)
}

/// A word, and in how many pieces it stands.
struct Rare<'w> {
    count: i64,
    word: &'w String,
}

/// Every choice of so many out of all, by their places.
fn choices(all: usize, many: usize) -> Vec<Vec<usize>> {
    let sets = 0..1_u32 << all.min(CHOSEN);
    let places = |set: u32| (0..all).filter(|at| set & (1 << at) != 0).collect::<Vec<_>>();
    sets.map(places).filter(|choice| choice.len() == many).collect()
}

/// Writes that all of some words are sought.
fn all(tx: &dyn Tx, words: &[&String]) -> String {
    let (quote, between) = match tx.dialect() {
        Dialect::Sqlite => ('"', " AND "),
        Dialect::Postgres => ('\'', " & "),
    };
    let quoted = words.iter().map(|word| format!("{quote}{word}{quote}"));
    quoted.collect::<Vec<_>>().join(between)
}

/// Reads a piece from a row that begins with its number.
pub fn piece(row: &dyn Row) -> Result<Piece> {
    let words: &str = row.get(8)?;
    let plain =
        |word: &str| word.split_once('x').map_or(String::new(), |(_, word)| word.to_owned());
    Ok(Piece {
        path: row.get(1)?,
        first: row.get(2)?,
        last: row.get(3)?,
        section: row.get(4)?,
        text: row.get(5)?,
        trust: Trust::parse(row.get(6)?).ok_or_else(odd)?,
        level: Taint::parse(row.get(7)?).ok_or_else(odd)?,
        words: words.split_whitespace().map(plain).collect::<Vec<_>>().join(" "),
        digest: row.get(9)?,
    })
}

fn odd() -> StoreError {
    StoreError::Corrupt("a piece of memory has a level or trust that there is not".to_owned())
}
