//! Tasks: made once for a cause.

use chrono::{DateTime, Utc};

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
    /// Under which word it takes in more, or waits to be taken in.
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
