//! A command's effect and its answer, once per row.
//!
//! What a stop ends: the running task of the conversation (its worker learns it as the answer of its
//! next write), parked ones at once, and whatever tasks have said there that is not being sent yet.
//! What it does not end: tasks that wait. None of them is dropped, neither by a stop nor by a reset.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::{ConversationId, PersonId};

use super::outbox::{self, Cause, Prepared};
use super::rows::millis;
use super::{conversations, fetched, lanes, notes, questions, work};
use crate::domain::facts::{Facts, Mode, Trust};
use crate::domain::ids::TaskId;
use crate::store::{CommandDone, CommandEffect, QuestionRow, Result, StopAnswers};

/// An effect with its drafts written.
#[derive(Debug)]
pub enum Effect {
    Say(Option<Prepared>),
    Stop { by: Option<PersonId>, also: Vec<ConversationId>, answers: Box<Answers> },
    Reset(Prepared),
    Workspace(Option<String>, Option<Prepared>),
    Mode(Mode, Option<Prepared>),
}

/// The answers to a stop with their texts written.
#[derive(Debug)]
pub struct Answers {
    stopped: Prepared,
    refused: Prepared,
    finished: Prepared,
    idle: Prepared,
}

impl Effect {
    /// Writes the drafts' texts.
    pub fn new(effect: CommandEffect) -> Result<Self> {
        Ok(match effect {
            CommandEffect::Say(draft) => Self::Say(draft.map(Prepared::new).transpose()?),
            CommandEffect::Stop { by, also, answers } => {
                let StopAnswers { stopped, refused, finished, idle } = *answers;
                let answers = Box::new(Answers {
                    stopped: Prepared::new(stopped)?,
                    refused: Prepared::new(refused)?,
                    finished: Prepared::new(finished)?,
                    idle: Prepared::new(idle)?,
                });
                Self::Stop { by, also, answers }
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
            Self::Stop { answers, .. } => answers.stopped.bytes().max(answers.idle.bytes()),
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
        Effect::Stop { by, also, answers } => {
            let by = by.as_ref().map(PersonId::as_str);
            ended = stop(conn, conversation, by, now)?;
            let mut busy = is_busy(conn, conversation)?;
            for thread in &also {
                if let Some(thread) = conversations::find(conn, thread)? {
                    ended.join(stop(conn, thread, by, now)?);
                    busy |= is_busy(conn, thread)?;
                }
            }
            Some(match ended.any {
                true => answers.stopped,
                false if by.is_some() && busy => answers.refused,
                false if has_just_ended(conn, conversation, row)? => answers.finished,
                false => answers.idle,
            })
        }
        Effect::Reset(draft) => {
            ended = stop(conn, conversation, None, now)?;
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

/// Ends the task that a row began, as far as it has come.
pub fn abandon(conn: &Connection, row: i64, now: DateTime<Utc>) -> Result<CommandDone> {
    let mut done = CommandDone::default();
    let found: Option<(i64, i64, String)> = conn
        .prepare_cached(
            "SELECT t.id, t.lane, t.state FROM inbox i JOIN task t ON t.id = i.task
             WHERE i.id = ?1 AND i.disposition = 'task' AND t.finish IS NULL",
        )?
        .query_row([row], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((task, lane, state)) = found else { return Ok(done) };
    done.stopping.push(TaskId(task));
    if state == "running" {
        conn.prepare_cached("UPDATE task SET stop = MAX(stop, 1) WHERE id = ?1")?
            .execute([task])?;
    } else {
        done.withdrawn = questions::withdraw_of(conn, task, now)?;
        work::end(conn, task, ("stopped", Some("who asked has gone")), millis(now))?;
        lanes::refresh(conn, lane)?;
    }
    conn.prepare_cached(
        "UPDATE part SET state = 'cancelled', open = 0, reason = 'stopped', updated_at = ?2
         WHERE id IN (SELECT part FROM rendered) AND open = 1 AND state = 'queued'
           AND outbound IN (SELECT id FROM outbound WHERE task = ?1)",
    )?
    .execute([task, millis(now)])?;
    outbox::tidy(conn)?;
    Ok(done)
}

/// What a stop came to.
#[derive(Default)]
struct Ended {
    running: Vec<TaskId>,
    withdrawn: Vec<QuestionRow>,
    /// There was anything to stop.
    any: bool,
}

impl Ended {
    fn join(&mut self, other: Self) {
        self.running.extend(other.running);
        self.withdrawn.extend(other.withdrawn);
        self.any |= other.any;
    }
}

/// A part of a task that the person `?2` asked for, or of any task.
const THEIRS: &str = "(?2 IS NULL OR facts ->> '$.speaker' = ?2)";

/// Ends what runs, is parked or unsent, as far as it is `by`'s; tells the ended tasks, and whether there
/// was anything.
fn stop(
    conn: &Connection,
    conversation: i64,
    by: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Ended> {
    let mut running: Vec<TaskId> = conn
        .prepare_cached(&format!(
            "UPDATE task SET stop = MAX(stop, 1)
             WHERE conversation = ?1 AND state = 'running' AND {THEIRS} RETURNING id"
        ))?
        .query_map(params![conversation, by], |row| Ok(TaskId(row.get(0)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let withdrawn = questions::withdraw(conn, conversation, by, now)?;
    running.extend(stop_parked(conn, conversation, by, now)?);
    let unsent = conn
        .prepare_cached(&format!(
            "UPDATE part SET state = 'cancelled', open = 0, reason = 'stopped', updated_at = ?3
             WHERE id IN (SELECT part FROM rendered)
               AND conversation = ?1 AND open = 1 AND state = 'queued' AND EXISTS
                 (SELECT 1 FROM outbound o JOIN task t ON t.id = o.task
                  WHERE o.id = part.outbound AND {THEIRS})"
        ))?
        .execute(params![conversation, by, millis(now)])?;
    // A held answer waits for a tap of anybody: only who may stop everything drops it.
    let held = match by {
        None => fetched::drop_held(conn, conversation, ("cancelled", "stopped"), millis(now))?,
        Some(_) => 0,
    };
    if unsent > 0 {
        outbox::tidy(conn)?;
    }
    let any = !running.is_empty() || unsent + held > 0;
    Ok(Ended { running, withdrawn, any })
}

/// Ends what was parked, and what an answer or a child has just woken: it has begun too.
fn stop_parked(
    conn: &Connection,
    conversation: i64,
    by: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Vec<TaskId>> {
    let parked: Vec<(i64, i64)> = conn
        .prepare_cached(&format!(
            "SELECT id, lane FROM task WHERE conversation = ?1 AND {THEIRS}
               AND (state = 'parked' OR (state = 'waiting' AND parked NOT NULL))"
        ))?
        .query_map(params![conversation, by], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (task, lane) in &parked {
        work::end(conn, *task, ("stopped", Some("stopped while it waited")), millis(now))?;
        lanes::refresh(conn, *lane)?;
    }
    Ok(parked.into_iter().map(|(task, _)| TaskId(task)).collect())
}

/// Whether there is anything to stop, whoever asked for it.
fn is_busy(conn: &Connection, conversation: i64) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM task WHERE conversation = ?1 AND state = 'running')
                 OR EXISTS (SELECT 1 FROM task WHERE conversation = ?1 AND state = 'parked')
                 OR EXISTS (SELECT 1 FROM task
                            WHERE conversation = ?1 AND state = 'waiting' AND parked NOT NULL)
                 OR EXISTS (SELECT 1 FROM part WHERE id IN (SELECT part FROM rendered)
                            AND conversation = ?1 AND state = 'queued'
                            AND (SELECT task FROM outbound WHERE id = part.outbound) NOT NULL)",
        )?
        .query_row([conversation], |row| row.get(0))?)
}

/// Whether the last task ended after the command was given: the stop lost the race.
fn has_just_ended(conn: &Connection, conversation: i64, row: i64) -> Result<bool> {
    let ended: Option<bool> = conn
        .prepare_cached(
            "SELECT ended_at >= (SELECT stored_at FROM inbox WHERE id = ?2) FROM task
             WHERE conversation = ?1 AND finish NOT NULL
               AND epoch = (SELECT epoch FROM conversation WHERE id = ?1)
             ORDER BY finish DESC LIMIT 1",
        )?
        .query_row([conversation, row], |row| row.get(0))
        .optional()?;
    Ok(ended.unwrap_or(false))
}

/// Stops the running task that the fresh task of a message interrupts, with what it has not sent yet. Only
/// who asked for it, or an owner, interrupts it.
pub fn interrupt(
    conn: &Connection,
    (conversation, fresh): (i64, i64),
    by: &Facts,
    now: DateTime<Utc>,
) -> Result<Vec<TaskId>> {
    let speaker = by.speaker.as_ref().map(PersonId::as_str).unwrap_or_default();
    let by = (by.trust != Trust::Owner).then_some(speaker);
    let stopping: Vec<TaskId> = conn
        .prepare_cached(&format!(
            "UPDATE task SET stop = MAX(stop, 1)
             WHERE conversation = ?1 AND state = 'running' AND id <> ?3 AND {THEIRS} RETURNING id"
        ))?
        .query_map(params![conversation, by, fresh], |row| Ok(TaskId(row.get(0)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for task in &stopping {
        conn.prepare_cached(
            "UPDATE part SET state = 'cancelled', open = 0, reason = 'interrupted', updated_at = ?2
             WHERE id IN (SELECT part FROM rendered) AND state = 'queued' AND outbound IN (SELECT id FROM outbound WHERE task = ?1)",
        )?
        .execute([task.0, millis(now)])?;
    }
    if !stopping.is_empty() {
        outbox::tidy(conn)?;
    }
    Ok(stopping)
}
