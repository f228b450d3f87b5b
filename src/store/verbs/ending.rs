//! The end of a task, and what it wakes.

use super::usage::cost;
use super::{approving, lanes};
use crate::domain::usage::Usage;
use crate::store::error::Result;
use crate::store::tx::Tx;
use crate::store::value::params;

/// How a task ends.
#[derive(Clone, Copy, Debug)]
pub struct Ending<'a> {
    /// The name of its last state.
    pub state: &'a str,
    /// Why, for who looks at it later.
    pub why: Option<&'a str>,
    /// When, in milliseconds.
    pub at: i64,
}

/// Ends a task's row and returns what it cost in all; its lane is free after a refresh. Endings are counted in a
/// conversation and epoch; one that was never claimed has no epoch and no place among them.
pub fn end(tx: &mut dyn Tx, task: i64, ending: Ending<'_>) -> Result<Usage> {
    tx.execute_later(
        "UPDATE task SET state = ?2, why = ?3, ended_at = ?4, instance = NULL, start_at = NULL,
             child = NULL, finish = 1 + COALESCE((SELECT MAX(e.finish) FROM task e
                 WHERE e.conversation = task.conversation AND e.epoch = task.epoch
                   AND e.finish IS NOT NULL), 0)
         WHERE id = ?1",
        params![task, ending.state, ending.why, ending.at],
    )?;
    approving::withdraw_of(tx, task, ending.at)?;
    wake_parent(tx, task)?;
    cost(tx, task)
}

/// A task parked on this one as its child goes on.
fn wake_parent(tx: &mut dyn Tx, child: i64) -> Result<()> {
    let parent: Option<(i64, i64)> = tx.optional(
        "SELECT id, lane FROM task WHERE child = ?1 AND state = 'parked'",
        params![child],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some((parent, lane)) = parent else { return Ok(()) };
    tx.execute_later(
        "UPDATE task SET state = 'waiting', start_at = 0, child = NULL WHERE id = ?1",
        params![parent],
    )?;
    lanes::refresh(tx, lane)
}
