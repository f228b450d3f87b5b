//! Facts as rows: where a task speaks stands once for all tasks of that kind, the rest with the task.

use rusqlite::{Connection, OptionalExtension};

use super::rows::{json, load};
use crate::domain::facts::Facts;
use crate::store::{Result, StoreError};

/// What stands in a task's facts for the row that holds their place.
const ELSEWHERE: &str = r#""place":0"#;

/// Facts, written as two texts before they reach the writer.
#[derive(Debug)]
pub struct Written {
    place: String,
    rest: String,
}

impl Written {
    /// Writes facts.
    pub fn new(facts: &Facts) -> Result<Self> {
        let (place, whole) = (json(&facts.place)?, json(facts)?);
        let Some((before, after)) = whole.split_once(&format!(r#""place":{place}"#)) else {
            return Err(StoreError::Corrupt("facts without their place: a defect".to_owned()));
        };
        Ok(Self { rest: format!("{before}{ELSEWHERE}{after}"), place })
    }

    /// Returns what stands with the task.
    pub fn rest(&self) -> &str {
        &self.rest
    }

    /// Returns the row of their place, made when it is new.
    pub fn whereabouts(&self, conn: &Connection) -> Result<i64> {
        let known = conn
            .prepare_cached("SELECT id FROM whereabouts WHERE place = ?1")?
            .query_row([&self.place], |row| row.get(0))
            .optional()?;
        if let Some(row) = known {
            return Ok(row);
        }
        conn.prepare_cached("INSERT INTO whereabouts (place) VALUES (?1)")?
            .execute([&self.place])?;
        Ok(conn.last_insert_rowid())
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        self.rest.len()
    }
}

/// A task's facts as they are stored: its own, and the row of their place.
pub type RawFacts = (String, Option<String>);

/// Reads the facts of a task.
///
/// # Errors
/// `Corrupt` when they cannot be read.
pub fn read(task: i64, (rest, place): &RawFacts) -> Result<Facts> {
    match place {
        Some(place) => load(task, &rest.replacen(ELSEWHERE, &format!(r#""place":{place}"#), 1)),
        None => load(task, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::conformance::facts;

    #[test]
    fn facts_are_put_together_as_they_were() {
        let mut facts = facts();
        facts.summoned = vec![r#"a "place":0 in a text"#.to_owned()];
        let written = Written::new(&facts).unwrap();
        assert!(!written.rest.contains("telegram"), "{}", written.rest);
        assert_eq!(read(1, &(written.rest, Some(written.place))).unwrap(), facts);
        assert_eq!(read(1, &(json(&facts).unwrap(), None)).unwrap(), facts);
    }
}
