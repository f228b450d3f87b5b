//! The end of a task, and what it wakes.

use super::kin::{self, Kin};
use super::rows::small;
use super::usage::cost;
use super::{approving, fence, lanes, own_form};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::TaskId;
use selkie_domain::task::TaskState;
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
             finish = 1 + COALESCE((SELECT MAX(e.finish) FROM task e
                 WHERE e.conversation = task.conversation AND e.epoch = task.epoch
                   AND e.finish IS NOT NULL), 0)
         WHERE id = ?1",
        params![task, ending.state, ending.why, ending.at],
    )?;
    own_form::forget(tx, task)?;
    untie(tx, task, ending)?;
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
             finish = 1 + COALESCE((SELECT MAX(e.finish) FROM task e
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

/// Takes back what an ended task was or is to be allowed, and tells the tasks that belong to it.
fn untie(tx: &mut dyn Tx, task: i64, ending: EndRecord<'_>) -> Result<()> {
    approving::withdraw_of(tx, task, ending.at)?;
    let kin = kin::kin(tx, task)?;
    part(tx, task, kin, ending).map(drop)
}

/// Tells the tasks that belong to an ended one: its children end with it unless it is done, and its parent may have waited
/// for it.
pub fn part(tx: &mut dyn Tx, task: i64, kin: Kin, ending: EndRecord<'_>) -> Result<Parting> {
    let stopping = match kin.has_children && ending.state != TaskState::Done.name() {
        true => stop_of(tx, task, "the task that it worked for has ended", ending.at)?,
        false => Vec::new(),
    };
    let ready = kin::ended(tx, kin, ending.at)?;
    Ok(Parting { stopping, ready })
}

/// What the end of a task changes for those that belong to it.
#[derive(Debug, Default)]
pub struct Parting {
    /// Its children that run and are told to stop.
    pub stopping: Vec<TaskId>,
    /// The lanes in which something may start.
    pub ready: Vec<i64>,
}

/// A child that has not ended.
pub struct OpenChild {
    /// Its row.
    pub task: i64,
    /// Its lane.
    pub lane: i64,
    /// It runs.
    pub runs: bool,
}

/// Stops the children of a task that have not ended: those that run are told so, the others end now. Returns those that
/// run.
fn stop_of(tx: &mut dyn Tx, parent: i64, why: &str, now: i64) -> Result<Vec<TaskId>> {
    let open: Vec<OpenChild> = tx.all(
        "SELECT id, lane, CASE WHEN state = 'running' THEN 1 ELSE 0 END FROM task
         WHERE parent = ?1 AND ended_at IS NULL ORDER BY id",
        params![parent],
        |row| Ok(OpenChild { task: row.get(0)?, lane: row.get(1)?, runs: row.get(2)? }),
    )?;
    stop_open(tx, &open, why, now)
}

/// Stops tasks: those that run are told so, the others end now. Returns those that run.
pub fn stop_open(tx: &mut dyn Tx, open: &[OpenChild], why: &str, now: i64) -> Result<Vec<TaskId>> {
    let mut running = Vec::new();
    for child in open {
        if child.runs {
            fence::tell_to_stop(tx, child.task)?;
            running.push(TaskId(child.task));
            continue;
        }
        end(tx, child.task, EndRecord { state: "stopped", why: Some(why), at: now })?;
        lanes::refresh(tx, child.lane)?;
    }
    Ok(running)
}
