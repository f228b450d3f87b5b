//! A person takes a message back: its text goes wherever it is stored, and the task it started ends.

use chrono::{DateTime, Utc};
use selkie_channel_core::{Inbound, PlaceId};
use serde::Deserialize;

use super::ending::{EndRecord, end};
use super::fence::{STOP, UNSENT};
use super::rows::{json, millis};
use super::scrub::{Part, ScrubPlan, TAKEN_BACK, scrub};
use super::{copied, lanes, locks, summary, texts, voice};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::TaskId;
use selkie_domain::question::QuestionResult;

/// A stored event about a message, and what became of it.
struct Row {
    id: i64,
    conversation: Option<i64>,
    task: Option<i64>,
    question: Option<i64>,
    starts: bool,
    text: String,
    inbound: String,
}

/// What a stored event says, and where.
#[derive(Default, Deserialize)]
struct StoredEvent {
    #[serde(default)]
    text: String,
    place: Option<PlaceId>,
}

/// Takes a message back in all conversations of its place (a thread is one of its own), also out of what other
/// conversations' tasks have read there; returns running tasks that must stop.
pub fn unsend(tx: &mut dyn Tx, taken: &Inbound, now: DateTime<Utc>) -> Result<Vec<TaskId>> {
    let rows = rows_of(tx, taken)?;
    locks::rows(tx, rows.iter().filter_map(|row| row.conversation).collect())?;
    let mut stopping = Vec::new();
    for row in &rows {
        blank(tx, row)?;
        let Some(conversation) = row.conversation else { continue };
        if let Some(question) = row.question {
            unanswer(tx, question)?;
        }
        copied::take_back(tx, conversation, &row.text)?;
        if let Some(task) = row.task {
            let part = Part::Message { words: Some(&row.text) };
            take_out(tx, conversation, task, ScrubPlan { row: row.id, part })?;
            if row.starts && withdraw(tx, task, now)? {
                stopping.push(TaskId(task));
            }
        }
        unquote(tx, conversation, taken)?;
    }
    Ok(stopping)
}

/// Whether a message was taken back before it came: a platform keeps no order between its connections.
pub fn came_first(tx: &mut dyn Tx, inbound: &Inbound) -> Result<bool> {
    let Some(message) = &inbound.message else { return Ok(false) };
    let account = inbound.conversation.account().as_str();
    let unsent: Vec<String> = tx.column(
        "SELECT inbound FROM inbox WHERE message = ?1 AND account = ?2 AND disposition = 'unsend'",
        params![message.as_str(), account],
    )?;
    let place_of = |text: &String| serde_json::from_str::<StoredEvent>(text).ok()?.place;
    Ok(unsent.iter().filter_map(place_of).any(|place| place == inbound.place))
}

/// Takes out what a running task has written of messages that were taken back since it began.
pub fn again(tx: &mut dyn Tx, task: i64) -> Result<()> {
    let rows: Vec<(i64, bool)> = tx.all(
        "SELECT id, disposition = 'unsent' FROM inbox WHERE task = ?1
             AND (disposition = 'unsent' OR quotes IN
                 (SELECT message FROM inbox WHERE disposition = 'unsend'))",
        params![task],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    for (row, whole) in rows {
        let part = if whole { Part::Message { words: None } } else { Part::Quote };
        scrub(tx, task, ScrubPlan { row, part })?;
    }
    Ok(())
}

/// Whether a message of a task was taken back.
pub fn is_any(tx: &mut dyn Tx, task: i64) -> Result<bool> {
    tx.exists("SELECT 1 FROM inbox WHERE task = ?1 AND disposition = 'unsent'", params![task])
}

/// What is stored of a message and its edits, in all conversations of its place and in none.
fn rows_of(tx: &mut dyn Tx, taken: &Inbound) -> Result<Vec<Row>> {
    let Some(message) = &taken.message else { return Ok(Vec::new()) };
    let account = taken.conversation.account().as_str();
    let rows: Vec<(Row, Option<String>)> = tx.all(
        "SELECT i.id, i.conversation, i.task, i.disposition, i.inbound, c.place, i.question
         FROM inbox i LEFT JOIN conversation c ON c.id = i.conversation
         WHERE i.message = ?1 AND i.account = ?2 AND i.disposition <> 'unsend' ORDER BY i.id",
        params![message.as_str(), account],
        |row| {
            let starts = row.get::<&str>(3)? == "task";
            let id = row.get(0)?;
            let conversation = row.get(1)?;
            let task = row.get(2)?;
            let inbound = row.get(4)?;
            let question = row.get(6)?;
            let row_of =
                Row { id, conversation, task, question, starts, text: String::new(), inbound };
            Ok((row_of, row.get(5)?))
        },
    )?;
    let here = rows.into_iter().filter_map(|(row, place)| {
        // What cannot be read may say it, too.
        let said: StoredEvent = serde_json::from_str(&row.inbound).unwrap_or_default();
        let is_here = match &place {
            Some(place) => place == taken.place.key(),
            None => said.place.is_none_or(|place| place == taken.place),
        };
        is_here.then_some(Row { text: said.text, ..row })
    });
    Ok(here.collect())
}

fn blank(tx: &mut dyn Tx, row: &Row) -> Result<()> {
    voice::unecho(tx, row.id)?;
    let left = texts::taken_back(&row.inbound);
    tx.execute_later(
        "UPDATE inbox SET inbound = ?2, spoken = NULL, disposition = CASE
             WHEN disposition IN ('task', 'context', 'gate', 'edit', 'edit: applied', 'ignored: untriggered')
                 OR disposition LIKE 'absorbed%' THEN 'unsent' ELSE disposition END
         WHERE id = ?1",
        params![row.id, &left],
    )
}

/// Takes it out of a task's transcript, now and, while the task runs, with all that it writes from here on.
fn take_out(tx: &mut dyn Tx, conversation: i64, task: i64, gone: ScrubPlan<'_>) -> Result<()> {
    scrub(tx, task, gone)?;
    summary::taken_back(tx, conversation, task)?;
    let sql = "UPDATE task SET stop = stop | ?2 WHERE id = ?1 AND state = 'running'";
    tx.execute_later(sql, params![task, UNSENT])
}

/// Ends the task when none of its messages is left; whether it runs and must stop.
fn withdraw(tx: &mut dyn Tx, task: i64, now: DateTime<Utc>) -> Result<bool> {
    let left =
        tx.exists("SELECT 1 FROM inbox WHERE task = ?1 AND disposition = 'task'", params![task])?;
    let (state, lane): (String, i64) =
        tx.one("SELECT state, lane FROM task WHERE id = ?1", params![task], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    match state.as_str() {
        "waiting" if !left => {
            let why = Some("its message was taken back");
            end(tx, task, EndRecord { state: "stopped", why, at: millis(now) })?;
            lanes::refresh(tx, lane)?;
            Ok(false)
        }
        "running" => {
            let sql = "UPDATE task SET stop = stop | ?2 WHERE id = ?1";
            tx.execute_later(sql, params![task, STOP])?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Takes away the words that have answered a question; what was chosen says nothing of its own.
fn unanswer(tx: &mut dyn Tx, question: i64) -> Result<()> {
    let sql = "SELECT given FROM question WHERE id = ?1 AND given IS NOT NULL";
    let given: Option<String> = tx.first(sql, params![question])?;
    let is_chosen =
        |given: &String| !matches!(serde_json::from_str(given), Ok(QuestionResult::Words { .. }));
    if given.as_ref().is_none_or(is_chosen) {
        return Ok(());
    }
    let left = json(&QuestionResult::Words { text: TAKEN_BACK.to_owned() })?;
    tx.execute_later("UPDATE question SET given = ?2 WHERE id = ?1", params![question, &left])
}

/// Takes away the quotes of a message.
fn unquote(tx: &mut dyn Tx, conversation: i64, taken: &Inbound) -> Result<()> {
    let Some(message) = &taken.message else { return Ok(()) };
    let quoting: Vec<(i64, Option<i64>, String)> = tx.all(
        "SELECT id, task, inbound FROM inbox WHERE quotes = ?1 AND conversation = ?2",
        params![message.as_str(), conversation],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    for (row, task, inbound) in quoting {
        let left = texts::without_quoted(&inbound);
        tx.execute_later("UPDATE inbox SET inbound = ?2 WHERE id = ?1", params![row, &left])?;
        if let Some(task) = task {
            take_out(tx, conversation, task, ScrubPlan { row, part: Part::Quote })?;
        }
    }
    Ok(())
}
