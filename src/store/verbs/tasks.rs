//! Tasks: made once for a cause, or joined by the messages that belong to them.

use chrono::{DateTime, Utc};
use selkie_channel_core::Inbound;

use super::facts;
use super::rows::millis;
use crate::arrival::NewTask;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::Instance;

/// What a new task's row holds besides its cause and its moment.
pub struct Row<'a> {
    /// The account.
    pub account: &'a str,
    /// The key of the message it comes with, when that is stored for the first time.
    pub key: Option<&'a str>,
    /// The row of its lane.
    pub lane: i64,
    /// The platform's order of its message.
    pub order: i64,
    /// Under which word it gathers more.
    pub gathers: Option<&'a str>,
    /// The facts.
    pub facts: &'a facts::FactsText,
    /// The row of where it speaks, where that is known.
    pub whereabouts: Option<i64>,
    /// Who claims it as it is stored: its lane is free.
    pub starts: Option<&'a Instance>,
}

/// The number of a claim with which a task is stored.
pub const FIRST_CLAIM: i64 = 1;

/// A task's row.
#[derive(Clone, Copy, Debug)]
pub struct TaskRow {
    /// The task.
    pub task: i64,
    /// Its lane.
    pub lane: i64,
    /// It was not there before.
    pub is_new: bool,
}

/// Makes the task, or finds the one of the same cause.
pub fn make(
    tx: &mut dyn Tx,
    new: &NewTask,
    conversation: i64,
    row: &Row<'_>,
    now: DateTime<Utc>,
) -> Result<TaskRow> {
    let (state, start_at) = match row.starts {
        Some(_) => ("running", None),
        None => ("waiting", Some(new.not_before.map_or(0, millis))),
    };
    let claim = if row.starts.is_some() { FIRST_CLAIM } else { 0 };
    let whereabouts = match row.whereabouts {
        Some(known) => known,
        None => row.facts.whereabouts(tx)?,
    };
    let made = tx.insert(
        "INSERT INTO task (account, cause, conversation, lane, ord, state, start_at, album, facts,
             whereabouts, created_at, claim, attempts, instance, started_at, epoch)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, ?13, ?14,
             CASE WHEN CAST(?14 AS BIGINT) IS NOT NULL THEN (SELECT epoch FROM conversation WHERE id = ?3) END)
         ON CONFLICT (account, cause) WHERE cause <> '' DO NOTHING",
        params![
            row.account,
            new.cause.key(row.key).as_ref(),
            conversation,
            row.lane,
            row.order,
            state,
            start_at,
            row.gathers,
            row.facts.rest(),
            whereabouts,
            millis(now),
            claim,
            row.starts.map(|instance| instance.0.as_str()),
            row.starts.map(|_| millis(now))
        ],
    )?;
    if let Some(task) = made {
        return Ok(TaskRow { task, lane: row.lane, is_new: true });
    }
    tx.one(
        "SELECT id, lane FROM task WHERE account = ?1 AND cause = ?2 AND cause <> ''",
        params![row.account, new.cause.key(None).as_ref()],
        |row| Ok(TaskRow { task: row.get(0)?, lane: row.get(1)?, is_new: false }),
    )
}

/// A picture of an album joins the task that waits for it, which then waits for the next one; so does the
/// next message of a speaker while theirs still gathers, for ten times as long as one message waits.
pub fn join(
    tx: &mut dyn Tx,
    inbound: &Inbound,
    new: &NewTask,
    conversation: i64,
    now: DateTime<Utc>,
) -> Result<Option<TaskRow>> {
    let Some(word) = &new.gathers else { return Ok(None) };
    let gathering: Option<GatheringTask> = tx.optional(
        "SELECT id, lane, ord, start_at, created_at FROM task
         WHERE conversation = ?1 AND album = ?2 AND state = 'waiting' AND attempts = 0 AND header IS NULL",
        params![conversation, word],
        |row| {
            Ok(GatheringTask {
                made: TaskRow { task: row.get(0)?, lane: row.get(1)?, is_new: false },
                order: row.get(2)?,
                start_at: row.get::<Option<i64>>(3)?.unwrap_or_default(),
                created_at: row.get(4)?,
            })
        },
    )?;
    let now = millis(now);
    let is_album = inbound.album.is_some();
    let Some(found) = gathering.filter(|task| is_album || task.start_at > now) else {
        return Ok(None);
    };
    let until = new.not_before.map_or(0, millis);
    let most = if is_album { until } else { until.min(found.created_at + 10 * (until - now)) };
    tx.execute_later(
        "UPDATE task SET ord = ?2, start_at = ?3 WHERE id = ?1",
        params![found.made.task, found.order.min(inbound.order), found.start_at.max(most)],
    )?;
    Ok(Some(found.made))
}

/// A task that waits for more.
struct GatheringTask {
    made: TaskRow,
    order: i64,
    start_at: i64,
    created_at: i64,
}
