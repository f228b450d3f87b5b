//! The history of a conversation: the transcripts of its newest finished tasks.

use super::facts;
use super::rows::load_item;
use crate::domain::facts::Trust;
use crate::domain::transcript::Item;
use crate::store::error::Result;
use crate::store::tx::{Query, Tx, into};
use crate::store::value::{Row, params};

/// How many finished tasks make the history.
pub const HISTORY: i64 = 16;

/// A transcript row: its task, its layout, its text.
pub type RawItem = (i64, u16, String);

/// What finished tasks have left.
#[derive(Debug, Default)]
pub struct RawHistory {
    /// Their items, oldest first.
    pub items: Vec<RawItem>,
    /// The least trust in whom those tasks asked; `None` without a history.
    pub asked_by: Option<Trust>,
}

/// The newest finished tasks of a conversation and epoch, the newest first.
pub const FINISHED: &str = "SELECT id, facts FROM task
     WHERE conversation = ?1 AND epoch = ?2 AND finish IS NOT NULL ORDER BY finish DESC LIMIT ?3";

/// The rows of their transcripts, in no order.
pub const TRANSCRIPTS: &str = "SELECT i.seq, i.task, i.v, i.item FROM
         (SELECT id FROM task WHERE conversation = ?1 AND epoch = ?2 AND finish IS NOT NULL
          ORDER BY finish DESC LIMIT ?3) t
     CROSS JOIN transcript i ON i.task = t.id";

/// The transcript of a task.
pub const ITEMS: &str = "SELECT task, v, item FROM transcript WHERE task = ?1 ORDER BY seq";

/// A finished task, and the trust in whom it asked.
pub fn finished_task(row: &dyn Row) -> Result<(i64, Trust)> {
    Ok((row.get(0)?, facts::trust(row.get(1)?)))
}

/// A row of a transcript with its place there.
pub fn placed_item(row: &dyn Row) -> Result<(i64, RawItem)> {
    Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?)))
}

/// A row of a transcript.
pub fn item(row: &dyn Row) -> Result<RawItem> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

impl RawHistory {
    /// Puts finished tasks, the newest first, and the rows of their transcripts in order.
    pub fn of(tasks: &[(i64, Trust)], mut rows: Vec<(i64, RawItem)>) -> Self {
        let asked_by = tasks.iter().map(|(_, trust)| *trust).min();
        let place = |task: i64| tasks.iter().rev().position(|(known, _)| *known == task);
        rows.sort_by_key(|(seq, (task, ..))| (place(*task), *seq));
        Self { items: rows.into_iter().map(|(_, item)| item).collect(), asked_by }
    }
}

/// Returns the newest finished tasks of a conversation and epoch.
pub fn finished(tx: &mut dyn Tx, conversation: i64, epoch: i64, most: i64) -> Result<RawHistory> {
    let params = params![conversation, epoch, most];
    let (mut tasks, mut rows) = (Vec::new(), Vec::new());
    tx.query_all(&mut [
        Query { sql: FINISHED, params, each: &mut into(&mut tasks, finished_task) },
        Query { sql: TRANSCRIPTS, params, each: &mut into(&mut rows, placed_item) },
    ])?;
    Ok(RawHistory::of(&tasks, rows))
}

/// Reads items task by task; what cannot be read is left out.
pub fn read(rows: &[RawItem]) -> Vec<Vec<Item>> {
    rows.chunk_by(|a, b| a.0 == b.0)
        .map(|rows| readable(rows.iter().map(|(task, v, text)| load_item(*task, *v, text))))
        .collect()
}

/// Keeps what can be read.
pub fn readable<T>(rows: impl Iterator<Item = Result<T>>) -> Vec<T> {
    rows.filter_map(|row| row.inspect_err(|e| tracing::error!(error = %e, "left out")).ok())
        .collect()
}
