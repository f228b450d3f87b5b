//! The end of a task, and what it wakes.

use super::usage::{COST, usage};
use super::{approving, lanes};
use crate::domain::usage::Usage;
use crate::store::error::Result;
use crate::store::tx::{Query, Tx, into};
use crate::store::value::{Row, params};

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
    let (mut parent, mut cost) = (Vec::new(), Vec::new());
    let params = params![task];
    tx.query_all(&mut [
        Query { sql: PARENT, params, each: &mut into(&mut parent, parked) },
        Query { sql: COST, params, each: &mut into(&mut cost, |row| usage(row, 0)) },
    ])?;
    if let Some(parent) = parent.pop() {
        wake(tx, &parent)?;
    }
    Ok(cost.pop().unwrap_or_default())
}

/// The task that is parked on this one as its child.
const PARENT: &str = "SELECT id, lane FROM task WHERE child = ?1 AND state = 'parked'";

struct Parked {
    task: i64,
    lane: i64,
}

fn parked(row: &dyn Row) -> Result<Parked> {
    Ok(Parked { task: row.get(0)?, lane: row.get(1)? })
}

/// A task parked on its child goes on.
fn wake(tx: &mut dyn Tx, parent: &Parked) -> Result<()> {
    tx.execute_later(
        "UPDATE task SET state = 'waiting', start_at = 0, child = NULL WHERE id = ?1",
        params![parent.task],
    )?;
    lanes::refresh(tx, parent.lane)
}
