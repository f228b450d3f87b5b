//! The history of a conversation: the transcripts of its newest finished tasks.

use std::ops::ControlFlow;

use super::facts;
use super::rows::load_item;
use crate::domain::facts::Trust;
use crate::domain::transcript::Item;
use crate::store::error::Result;
use crate::store::tx::Tx;
use crate::store::value::params;

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

/// Returns the newest finished tasks of a conversation and epoch.
pub fn finished(tx: &mut dyn Tx, conversation: i64, epoch: i64, most: i64) -> Result<RawHistory> {
    let by = params![conversation, epoch, most];
    let mut asked_by: Option<Trust> = None;
    let mut order: Vec<i64> = tx.all(
        "SELECT id, facts FROM task
         WHERE conversation = ?1 AND epoch = ?2 AND finish IS NOT NULL ORDER BY finish DESC LIMIT ?3",
        by,
        |row| {
            let trust = facts::trust(row.get(1)?);
            asked_by = Some(asked_by.map_or(trust, |least| least.min(trust)));
            row.get(0)
        },
    )?;
    if order.is_empty() {
        return Ok(RawHistory::default());
    }
    order.reverse();
    let mut found: Vec<(i64, RawItem)> = tx.all(
        "SELECT i.seq, i.task, i.v, i.item FROM
             (SELECT id FROM task WHERE conversation = ?1 AND epoch = ?2 AND finish IS NOT NULL
              ORDER BY finish DESC LIMIT ?3) t
         CROSS JOIN transcript i ON i.task = t.id",
        by,
        |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?))),
    )?;
    let place = |task: i64| order.iter().position(|known| *known == task);
    found.sort_by_key(|(seq, (task, ..))| (place(*task), *seq));
    Ok(RawHistory { items: found.into_iter().map(|(_, item)| item).collect(), asked_by })
}

/// Adds the transcript of a task.
pub fn items(tx: &mut dyn Tx, task: i64, to: &mut Vec<RawItem>) -> Result<()> {
    let sql = "SELECT task, v, item FROM transcript WHERE task = ?1 ORDER BY seq";
    tx.query(sql, params![task], &mut |row| {
        to.push((row.get(0)?, row.get(1)?, row.get(2)?));
        Ok(ControlFlow::Continue(()))
    })
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
