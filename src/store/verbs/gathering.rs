//! What one person sends at once is one request: the task that a message belongs to.

use chrono::{DateTime, Utc};
use selkie_channel_core::Inbound;
use serde::Deserialize;

use super::rows::millis;
use super::tasks::TaskRow;
use crate::arrival::{Gathering, NewTask, NextPiece};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;

/// A request takes in nothing any more after so many times the span in which its messages follow each other.
const MAX_SPANS: i64 = 10;

/// A message that may belong to a task.
#[derive(Clone, Copy)]
pub struct Piece<'a> {
    /// The message.
    pub inbound: &'a Inbound,
    /// What it would be by itself.
    pub new: &'a NewTask,
    /// Its conversation.
    pub conversation: i64,
    /// The lane of that.
    pub lane: i64,
    /// Now.
    pub now: DateTime<Utc>,
}

/// The task that a message belongs to.
#[derive(Debug)]
pub enum Request {
    /// It waits still: the message is its own.
    Waits(WaitingRequest),
    /// It runs and has not answered yet.
    Runs(RunningRequest),
}

/// A task that waits.
#[derive(Debug)]
pub struct WaitingRequest {
    row: TaskRow,
    order: i64,
    start_at: i64,
    created_at: i64,
    holds_album: bool,
}

/// A task that runs: what joins it waits in a task of its own, until the first answer has seen it.
#[derive(Debug)]
pub struct RunningRequest {
    /// The task.
    pub task: i64,
    /// Under which word what joins it waits.
    pub word: String,
}

/// Finds the task that a message belongs to.
pub fn find(tx: &mut dyn Tx, piece: Piece<'_>) -> Result<Option<Request>> {
    let Some(gathers) = &piece.new.gathers else { return Ok(None) };
    if let Some(runs) = running(tx, piece, gathers)? {
        return Ok(Some(Request::Runs(runs)));
    }
    Ok(waiting(tx, piece, gathers)?.map(Request::Waits))
}

/// Whether a message says that more comes.
pub fn is_expected(new: &NewTask) -> bool {
    new.gathers.as_ref().is_some_and(|gathers| gathers.next == NextPiece::Expected)
}

/// Under which word messages wait that join a running task.
pub fn word(task: i64) -> String {
    format!("with:{task}")
}

impl WaitingRequest {
    /// Takes a message in: it starts when the newest one says so.
    pub fn take(&self, tx: &mut dyn Tx, piece: Piece<'_>) -> Result<TaskRow> {
        let Piece { inbound, new, now, .. } = piece;
        let next = new.gathers.as_ref().map_or(NextPiece::Unknown, |gathers| gathers.next);
        let start_at = match next {
            NextPiece::Expected => {
                let until = new.not_before.map_or(0, millis);
                let last = self.created_at + MAX_SPANS * (until - millis(now));
                let until = if inbound.album.is_some() { until } else { until.min(last) };
                self.start_at.max(until)
            }
            NextPiece::Unknown if !self.holds_album => 0,
            NextPiece::Unknown | NextPiece::Words => self.start_at,
        };
        tx.execute_later(
            "UPDATE task SET ord = ?2, start_at = ?3 WHERE id = ?1",
            params![self.row.task, self.order.min(inbound.order), start_at],
        )?;
        Ok(self.row)
    }
}

/// The running task of the same person, while it has not answered.
fn running(
    tx: &mut dyn Tx,
    piece: Piece<'_>,
    gathers: &Gathering,
) -> Result<Option<RunningRequest>> {
    let runs: Option<(i64, i64)> = tx.optional(
        "SELECT id, created_at FROM task
         WHERE lane = ?1 AND state = 'running' AND conversation = ?2 AND album = ?3 AND header IS NULL",
        params![piece.lane, piece.conversation, &gathers.word],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some((task, created_at)) = runs else { return Ok(None) };
    let word = word(task);
    let joined: Option<i64> = tx.only(
        "SELECT MAX(created_at) FROM task WHERE conversation = ?1 AND album = ?2 AND state = 'waiting'",
        params![piece.conversation, &word],
    )?;
    let is_open =
        follows(tx, piece, gathers, Since { task, created_at, joined })? || holds(tx, piece, task)?;
    Ok(is_open.then_some(RunningRequest { task, word }))
}

/// The newest waiting task of the same person, while it gathers.
fn waiting(
    tx: &mut dyn Tx,
    piece: Piece<'_>,
    gathers: &Gathering,
) -> Result<Option<WaitingRequest>> {
    let waits = tx.optional(
        "SELECT id, lane, ord, start_at, created_at,
                EXISTS (SELECT 1 FROM inbox WHERE task = t.id AND album IS NOT NULL)
         FROM task t WHERE conversation = ?1 AND album = ?2 AND state = 'waiting'
           AND attempts = 0 AND header IS NULL ORDER BY id DESC LIMIT 1",
        params![piece.conversation, &gathers.word],
        |row| {
            Ok(WaitingRequest {
                row: TaskRow { task: row.get(0)?, lane: row.get(1)?, is_new: false },
                order: row.get(2)?,
                start_at: row.get::<Option<i64>>(3)?.unwrap_or_default(),
                created_at: row.get(4)?,
                holds_album: row.get(5)?,
            })
        },
    )?;
    let Some(waits) = waits else { return Ok(None) };
    let task = waits.row.task;
    let is_open = waits.start_at > millis(piece.now)
        || follows(tx, piece, gathers, Since { task, created_at: waits.created_at, joined: None })?
        || holds(tx, piece, task)?;
    Ok(is_open.then_some(waits))
}

/// Since when a request takes in more.
struct Since {
    task: i64,
    created_at: i64,
    /// When the newest message joined it.
    joined: Option<i64>,
}

/// Whether a message came soon enough behind the newest one of a task.
fn follows(tx: &mut dyn Tx, piece: Piece<'_>, gathers: &Gathering, since: Since) -> Result<bool> {
    let now = millis(piece.now);
    let within = gathers.within.num_milliseconds();
    if within == 0 || now > since.created_at + MAX_SPANS * within {
        return Ok(false);
    }
    let own: Option<i64> =
        tx.only("SELECT MAX(stored_at) FROM inbox WHERE task = ?1", params![since.task])?;
    let is_soon = own.max(since.joined).is_some_and(|newest| now <= newest + within);
    Ok(is_soon && was_written_then(tx, piece, since.task, MAX_SPANS * within)?)
}

/// Whether a message was written about when the newest one of a task was: what waited at its platform comes at once.
fn was_written_then(tx: &mut dyn Tx, piece: Piece<'_>, task: i64, span: i64) -> Result<bool> {
    let newest: Option<String> = tx.optional(
        "SELECT inbound FROM inbox WHERE task = ?1 ORDER BY id DESC LIMIT 1",
        params![task],
        |row| row.get(0),
    )?;
    let newest = newest.and_then(|text| serde_json::from_str::<WrittenMessage>(&text).ok());
    // Platforms tell whole seconds.
    let most = span + 1_000;
    Ok(newest.is_none_or(|newest| millis(piece.inbound.at) - millis(newest.at) <= most))
}

/// When a message was written.
#[derive(Deserialize)]
struct WrittenMessage {
    at: DateTime<Utc>,
}

/// Whether another part of a message's album is a task's: parts may come late.
fn holds(tx: &mut dyn Tx, piece: Piece<'_>, task: i64) -> Result<bool> {
    let Some(album) = &piece.inbound.album else { return Ok(false) };
    tx.only(
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM inbox WHERE conversation = ?1 AND album = ?2 AND task = ?3)
             THEN 1 ELSE 0 END",
        params![piece.conversation, album, task],
    )
}
