//! What a stop ends: the running task of the conversation (its worker learns it as the answer of its
//! next write), parked ones at once, and whatever tasks have said there that is not being sent yet.
//!
//! What it does not end: tasks that wait. None of them is dropped, neither by a stop nor by a reset.

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;

use super::ending::{EndRecord, end};
use super::rows::millis;
use super::{asking, facts, fence, held_answers, lanes, outbox, stopped_agents};
use crate::error::Result;
use crate::question::QuestionRow;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::facts::{Facts, Trust};
use selkie_domain::ids::TaskId;

/// What a stop came to.
#[derive(Default)]
pub struct StopResult {
    /// Tasks that run, or were parked.
    pub running: Vec<TaskId>,
    /// Questions that were open.
    pub withdrawn: Vec<QuestionRow>,
    /// There was anything to stop.
    pub any: bool,
}

impl StopResult {
    /// Adds what another one came to.
    pub fn join(&mut self, other: Self) {
        self.running.extend(other.running);
        self.withdrawn.extend(other.withdrawn);
        self.any |= other.any;
    }
}

/// Ends what runs, is parked or unsent, as far as it is `by`'s, and all that its agents do; tells the ended tasks, and
/// whether there was anything.
pub fn stop(
    tx: &mut dyn Tx,
    conversation: i64,
    by: Option<&str>,
    now: DateTime<Utc>,
) -> Result<StopResult> {
    let mut running = running_of(tx, conversation, by)?;
    for task in &running {
        fence::tell_to_stop(tx, task.0)?;
    }
    let withdrawn = asking::withdraw(tx, conversation, by, now)?;
    running.extend(stop_parked(tx, conversation, by, now)?);
    running.extend(stopped_agents::stop_in(tx, conversation, by, None, now)?);
    let unsent = cancel_all_unsent(tx, conversation, by, now)?;
    // A held answer waits for a tap of anybody: only who may stop everything drops it.
    let held = match by {
        None => held_answers::drop_held(tx, conversation, "cancelled", "stopped", millis(now))?,
        Some(_) => 0,
    };
    if unsent > 0 {
        outbox::tidy(tx)?;
    }
    let any = !running.is_empty() || unsent + held > 0;
    Ok(StopResult { running, withdrawn, any })
}

/// Cancels what a task has said and is not being sent.
pub fn cancel_unsent(tx: &mut dyn Tx, task: i64, why: &str, now: DateTime<Utc>) -> Result<()> {
    tx.execute_later(
        "UPDATE part SET state = 'cancelled', open = 0, reason = ?3, updated_at = ?2
         WHERE id IN (SELECT part FROM rendered) AND open = 1 AND state = 'queued'
           AND outbound IN (SELECT id FROM outbound WHERE task = ?1)",
        params![task, millis(now), why],
    )
}

/// The tasks that run in a conversation, as far as `by` asked for them.
fn running_of(tx: &mut dyn Tx, conversation: i64, by: Option<&str>) -> Result<Vec<TaskId>> {
    let running: Vec<(i64, bool)> = tx.all(
        "SELECT id, facts FROM task WHERE conversation = ?1 AND state = 'running'",
        params![conversation],
        |row| Ok((row.get(0)?, facts::is_of(row.get(1)?, by))),
    )?;
    Ok(running.into_iter().filter(|(_, theirs)| *theirs).map(|(task, _)| TaskId(task)).collect())
}

/// Cancels what tasks have said in a conversation and is not being sent; returns how much.
fn cancel_all_unsent(
    tx: &mut dyn Tx,
    conversation: i64,
    by: Option<&str>,
    now: DateTime<Utc>,
) -> Result<u64> {
    let unsent: Vec<(i64, bool)> = tx.all(
        "SELECT p.id, t.facts FROM rendered r CROSS JOIN part p ON p.id = r.part
         JOIN outbound o ON o.id = p.outbound JOIN task t ON t.id = o.task
         WHERE p.conversation = ?1 AND p.open = 1 AND p.state = 'queued'",
        params![conversation],
        |row| Ok((row.get(0)?, facts::is_of(row.get(1)?, by))),
    )?;
    let mut cancelled = 0;
    for (part, _) in unsent.into_iter().filter(|(_, theirs)| *theirs) {
        tx.execute_later(
            "UPDATE part SET state = 'cancelled', open = 0, reason = 'stopped', updated_at = ?2
             WHERE id = ?1",
            params![part, millis(now)],
        )?;
        cancelled += 1;
    }
    Ok(cancelled)
}

/// Ends what was parked, and what an answer or a child has just woken: it has begun too.
fn stop_parked(
    tx: &mut dyn Tx,
    conversation: i64,
    by: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Vec<TaskId>> {
    let parked: Vec<(i64, i64, bool)> = tx.all(
        "SELECT id, lane, facts FROM task WHERE conversation = ?1 AND state = 'parked'
         UNION ALL SELECT id, lane, facts FROM task
                   WHERE conversation = ?1 AND state = 'waiting' AND parked IS NOT NULL",
        params![conversation],
        |row| Ok((row.get(0)?, row.get(1)?, facts::is_of(row.get(2)?, by))),
    )?;
    let mut stopped = Vec::new();
    for (task, lane, _) in parked.into_iter().filter(|(.., theirs)| *theirs) {
        let why = Some("stopped while it waited");
        end(tx, task, EndRecord { state: "stopped", why, at: millis(now) })?;
        lanes::refresh(tx, lane)?;
        stopped.push(TaskId(task));
    }
    Ok(stopped)
}

/// Whether there is anything to stop, whoever asked for it.
pub fn is_busy(tx: &mut dyn Tx, conversation: i64) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM conversation WHERE id = ?1 AND
             (EXISTS (SELECT 1 FROM task WHERE conversation = ?1 AND state = 'running')
              OR EXISTS (SELECT 1 FROM task WHERE conversation = ?1 AND state = 'parked')
              OR EXISTS (SELECT 1 FROM task
                         WHERE conversation = ?1 AND state = 'waiting' AND parked IS NOT NULL)
              OR EXISTS (SELECT 1 FROM conversation a JOIN task t ON t.conversation = a.id
                         WHERE a.parent = ?1 AND t.state = 'waiting')
              OR EXISTS (SELECT 1 FROM conversation a JOIN task t ON t.conversation = a.id
                         WHERE a.parent = ?1 AND t.state = 'parked')
              OR EXISTS (SELECT 1 FROM conversation a JOIN task t ON t.conversation = a.id
                         WHERE a.parent = ?1 AND t.state = 'running')
              OR EXISTS (SELECT 1 FROM part WHERE id IN (SELECT part FROM rendered)
                         AND conversation = ?1 AND state = 'queued'
                         AND (SELECT task FROM outbound WHERE id = part.outbound) IS NOT NULL))",
        params![conversation],
    )
}

/// Whether the last task ended after a command was given: the stop lost the race.
pub fn has_just_ended(tx: &mut dyn Tx, conversation: i64, given: i64) -> Result<bool> {
    let ended: Option<i64> = tx
        .first::<Option<i64>>(
            "SELECT ended_at FROM task
             WHERE conversation = ?1 AND finish IS NOT NULL
               AND epoch = (SELECT epoch FROM conversation WHERE id = ?1)
             ORDER BY finish DESC LIMIT 1",
            params![conversation],
        )?
        .flatten();
    Ok(ended.is_some_and(|ended| ended >= given))
}

/// Stops the running task that the fresh task of a message interrupts, with what it has not sent yet. Only
/// who asked for it, or an owner, interrupts it.
pub fn interrupt(
    tx: &mut dyn Tx,
    conversation: i64,
    fresh: i64,
    by: &Facts,
    now: DateTime<Utc>,
) -> Result<Vec<TaskId>> {
    let speaker = by.speaker.as_ref().map(PersonId::as_str).unwrap_or_default();
    let by = (by.trust != Trust::Owner).then_some(speaker);
    let mut stopping = running_of(tx, conversation, by)?;
    stopping.retain(|task| task.0 != fresh);
    for task in &stopping {
        fence::tell_to_stop(tx, task.0)?;
        cancel_unsent(tx, task.0, "interrupted", now)?;
    }
    if !stopping.is_empty() {
        outbox::tidy(tx)?;
    }
    Ok(stopping)
}
