//! The end of a task, and what it wakes.

use super::rows::small;
use super::usage::cost;
use super::{approving, lanes, own_form};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::{Row, params};
use selkie_domain::usage::Usage;

/// How a task ends.
#[derive(Clone, Copy, Debug)]
pub struct EndRecord<'a> {
    /// The name of its last state.
    pub state: &'a str,
    /// Why, for who looks at it later.
    pub why: Option<&'a str>,
    /// When, in milliseconds.
    pub at: i64,
}

/// Ends a task's row and returns what it cost in all; its lane is free after a refresh. Endings are counted in a
/// conversation and epoch; one that was never claimed has no epoch and no place among them.
pub fn end(tx: &mut dyn Tx, task: i64, ending: EndRecord<'_>) -> Result<Usage> {
    tx.execute_later(
        "UPDATE task SET state = ?2, why = ?3, ended_at = ?4, instance = NULL, start_at = NULL,
             child = NULL, finish = 1 + COALESCE((SELECT MAX(e.finish) FROM task e
                 WHERE e.conversation = task.conversation AND e.epoch = task.epoch
                   AND e.finish IS NOT NULL), 0)
         WHERE id = ?1",
        params![task, ending.state, ending.why, ending.at],
    )?;
    own_form::forget(tx, task)?;
    untie(tx, task, ending.at)?;
    cost(tx, task)
}

/// What a run has come to since it was last written.
#[derive(Clone, Copy, Debug)]
pub struct Gain<'a> {
    /// The facts, when they changed.
    pub facts: Option<&'a str>,
    /// The row of where it speaks, when that changed.
    pub whereabouts: Option<i64>,
    /// What it has cost.
    pub usage: Usage,
}

/// Ends a task that runs, with what it has come to. Nobody resumes it: its header goes. It waited for nothing, so its
/// lane's summary stays as it is.
pub fn finish(tx: &mut dyn Tx, task: i64, ending: EndRecord<'_>, gain: Gain<'_>) -> Result<()> {
    let Usage { calls, input, cached, output, micro_usd, thoughts: _ } = gain.usage;
    let [input, cached, output, money] = [input, cached, output, micro_usd].map(small);
    tx.execute_later(
        "UPDATE task SET state = ?2, why = ?3, ended_at = ?4, instance = NULL, start_at = NULL,
             child = NULL, finish = 1 + COALESCE((SELECT MAX(e.finish) FROM task e
                 WHERE e.conversation = task.conversation AND e.epoch = task.epoch
                   AND e.finish IS NOT NULL), 0),
             header = NULL, album = NULL, facts = COALESCE(?5, facts), whereabouts = COALESCE(?6, whereabouts),
             calls = calls + ?7, input = input + ?8, cached = cached + ?9, output = output + ?10,
             micro_usd = micro_usd + ?11
         WHERE id = ?1",
        params![
            task,
            ending.state,
            ending.why,
            ending.at,
            gain.facts,
            gain.whereabouts,
            calls,
            input,
            cached,
            output,
            money
        ],
    )
}

/// Takes back what an ended task was or is to be allowed, and wakes the task that waited for its end.
pub fn untie(tx: &mut dyn Tx, task: i64, now: i64) -> Result<()> {
    approving::withdraw_of(tx, task, now)?;
    match tx.optional(PARENT, params![task], parked)? {
        Some(parent) => wake(tx, &parent),
        None => Ok(()),
    }
}

/// The task that is parked on this one as its child.
const PARENT: &str = "SELECT id, lane FROM task WHERE child = ?1 AND state = 'parked'";

struct ParkRecord {
    task: i64,
    lane: i64,
}

fn parked(row: &dyn Row) -> Result<ParkRecord> {
    Ok(ParkRecord { task: row.get(0)?, lane: row.get(1)? })
}

/// A task parked on its child goes on.
fn wake(tx: &mut dyn Tx, parent: &ParkRecord) -> Result<()> {
    tx.execute_later(
        "UPDATE task SET state = 'waiting', start_at = 0, child = NULL WHERE id = ?1",
        params![parent.task],
    )?;
    lanes::refresh(tx, parent.lane)
}
