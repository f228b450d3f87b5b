//! The words that a task is to read when it came from no message.

use selkie_channel_core::PersonId;

use super::rows::{millis, time};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::words::Words;

/// Keeps the words of a new task.
pub fn keep(tx: &mut dyn Tx, task: i64, words: &Words) -> Result<()> {
    let Words { person, name, at, text, note, fixed, agent } = words;
    tx.execute_later(
        "INSERT INTO task_words (task, person, name, at, text, note, fixed, agent)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![task, person.as_str(), name, millis(*at), text, note, *fixed, agent],
    )
}

/// Returns the words that a task is to read, if it has any of its own.
pub fn of_task(tx: &mut dyn Tx, task: i64) -> Result<Option<Words>> {
    tx.optional(
        "SELECT person, name, at, text, note, fixed, agent FROM task_words WHERE task = ?1",
        params![task],
        |row| {
            Ok(Words {
                person: PersonId::new(row.get::<&str>(0)?),
                name: row.get(1)?,
                at: time(row.get(2)?),
                text: row.get::<Option<String>>(3)?.unwrap_or_default(),
                note: row.get(4)?,
                fixed: row.get(5)?,
                agent: row.get(6)?,
            })
        },
    )
}
