//! A command's effect and its answer, once per row.
//!
//! What a stop ends: the running task of the conversation (its worker learns it as the answer of its
//! next write), parked ones at once, and whatever tasks have said there that is not being sent yet.
//! What it does not end: tasks that wait. None of them is dropped, neither by a stop nor by a reset.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension};

use super::outbox::{self, Cause, Prepared};
use super::rows::millis;
use super::{fetched, lanes, notes, questions, work};
use crate::domain::facts::Mode;
use crate::domain::ids::TaskId;
use crate::store::{CommandDone, CommandEffect, QuestionRow, Result};

/// An effect with its drafts written.
#[derive(Debug)]
pub enum Effect {
    Say(Option<Prepared>),
    Stop { stopped: Prepared, idle: Prepared },
    Reset(Prepared),
    Workspace(Option<String>, Option<Prepared>),
    Mode(Mode, Option<Prepared>),
}

impl Effect {
    /// Writes the drafts' texts.
    pub fn new(effect: CommandEffect) -> Result<Self> {
        Ok(match effect {
            CommandEffect::Say(draft) => Self::Say(draft.map(Prepared::new).transpose()?),
            CommandEffect::Stop { stopped, idle } => {
                Self::Stop { stopped: Prepared::new(*stopped)?, idle: Prepared::new(*idle)? }
            }
            CommandEffect::Reset(draft) => Self::Reset(Prepared::new(draft)?),
            CommandEffect::Workspace(path, draft) => {
                Self::Workspace(path, draft.map(Prepared::new).transpose()?)
            }
            CommandEffect::Mode(mode, draft) => {
                Self::Mode(mode, draft.map(Prepared::new).transpose()?)
            }
        })
    }

    /// Returns about how many bytes it will write.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Say(draft) | Self::Workspace(_, draft) | Self::Mode(_, draft) => {
                draft.as_ref().map_or(0, Prepared::bytes)
            }
            Self::Stop { stopped, idle } => stopped.bytes().max(idle.bytes()),
            Self::Reset(draft) => draft.bytes(),
        }
    }
}

/// Carries out the command of a row; `None` when it was carried out before.
pub fn carry_out(
    conn: &Connection,
    row: i64,
    effect: Effect,
    now: DateTime<Utc>,
) -> Result<Option<CommandDone>> {
    let conversation: Option<i64> = conn
        .prepare_cached(
            "UPDATE inbox SET done_at = ?2
             WHERE id = ?1 AND disposition = 'command' AND done_at IS NULL RETURNING conversation",
        )?
        .query_row([row, millis(now)], |row| row.get(0))
        .optional()?;
    let Some(conversation) = conversation else { return Ok(None) };
    let mut ended = Ended::default();
    let draft = match effect {
        Effect::Say(draft) => draft,
        Effect::Stop { stopped, idle } => {
            ended = stop(conn, conversation, now)?;
            Some(if ended.any { stopped } else { idle })
        }
        Effect::Reset(draft) => {
            ended = stop(conn, conversation, now)?;
            conn.prepare_cached(
                "UPDATE conversation SET epoch = epoch + 1, todos = NULL, plan = 0 WHERE id = ?1",
            )?
            .execute([conversation])?;
            Some(draft)
        }
        Effect::Workspace(path, draft) => {
            notes::set_workspace(conn, conversation, path.as_deref())?;
            draft
        }
        Effect::Mode(mode, draft) => {
            notes::change_mode(conn, conversation, mode)?;
            draft
        }
    };
    let queued = draft.map(|d| outbox::say(conn, d, Cause::Command(row), now)).transpose()?;
    Ok(Some(CommandDone { stopping: ended.running, queued, withdrawn: ended.withdrawn }))
}

/// What a stop came to.
#[derive(Default)]
struct Ended {
    running: Vec<TaskId>,
    withdrawn: Vec<QuestionRow>,
    /// There was anything to stop.
    any: bool,
}

/// Ends what runs, is parked or unsent; tells the running tasks, and whether there was anything.
fn stop(conn: &Connection, conversation: i64, now: DateTime<Utc>) -> Result<Ended> {
    let running: Vec<TaskId> = conn
        .prepare_cached(
            "UPDATE task SET stop = MAX(stop, 1) WHERE conversation = ?1 AND state = 'running' RETURNING id",
        )?
        .query_map([conversation], |row| Ok(TaskId(row.get(0)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let withdrawn = questions::withdraw(conn, conversation, now)?;
    let parked = stop_parked(conn, conversation, now)?;
    let unsent = conn
        .prepare_cached(
            "UPDATE part SET state = 'cancelled', open = 0, reason = 'stopped', updated_at = ?2
             WHERE conversation = ?1 AND open = 1 AND state = 'queued'
               AND (SELECT task FROM outbound WHERE id = part.outbound) NOT NULL",
        )?
        .execute([conversation, millis(now)])?;
    let held = fetched::drop_held(conn, conversation, ("cancelled", "stopped"), millis(now))?;
    let any = !running.is_empty() || parked || unsent + held > 0;
    Ok(Ended { running, withdrawn, any })
}

/// Ends what was parked, and what an answer or a child has just woken: it has begun too.
fn stop_parked(conn: &Connection, conversation: i64, now: DateTime<Utc>) -> Result<bool> {
    let parked: Vec<(i64, i64)> = conn
        .prepare_cached(
            "SELECT id, lane FROM task WHERE conversation = ?1
               AND (state = 'parked' OR (state = 'waiting' AND parked NOT NULL))",
        )?
        .query_map([conversation], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (task, lane) in &parked {
        work::end(conn, *task, ("stopped", Some("stopped while it waited")), millis(now))?;
        lanes::refresh(conn, *lane)?;
    }
    Ok(!parked.is_empty())
}
