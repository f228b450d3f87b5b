//! A person takes a message back: its text goes wherever it is stored, and the task it started ends.

use chrono::{DateTime, Utc};
use selkie_channel_core::MessageRef;
use serde::Deserialize;

use super::ending::{Ending, end};
use super::fence::STOP_UNSENT;
use super::rewriting::rewrite;
use super::rows::millis;
use super::{copied, lanes, summary, texts};
use crate::domain::ids::{InboxId, TaskId};
use crate::domain::transcript::{Item, Received};
use crate::store::error::Result;
use crate::store::tx::Tx;
use crate::store::value::params;

/// Stands where the text was.
const TAKEN_BACK: &str = "(taken back by who wrote it)";
/// A stored message and what became of it.
struct Row {
    id: i64,
    task: Option<i64>,
    starts: bool,
    text: String,
}

/// What a stored message says.
#[derive(Default, Deserialize)]
struct Words {
    #[serde(default)]
    text: String,
}

/// Takes a message back, also out of what other conversations' tasks have read here; returns running tasks that must stop.
pub fn unsend(
    tx: &mut dyn Tx,
    conversation: i64,
    message: &MessageRef,
    now: DateTime<Utc>,
) -> Result<Vec<TaskId>> {
    let rows = tx.all(
        "SELECT id, task, disposition, inbound FROM inbox WHERE message = ?1 AND conversation = ?2",
        params![message.as_str(), conversation],
        |row| {
            let inbound: String = row.get(3)?;
            let Words { text } = serde_json::from_str(&inbound).unwrap_or_default();
            let starts = row.get::<&str>(2)? == "task";
            Ok((Row { id: row.get(0)?, task: row.get(1)?, starts, text }, inbound))
        },
    )?;
    let mut stopping = Vec::new();
    for (row, inbound) in &rows {
        blank(tx, row.id, inbound)?;
        copied::take_back(tx, conversation, &row.text)?;
        if let Some(task) = row.task {
            scrub(tx, task, row)?;
            summary::taken_back(tx, conversation, task)?;
            if row.starts && withdraw(tx, task, now)? {
                stopping.push(TaskId(task));
            }
        }
        for (id, task) in unquote(tx, conversation, message)? {
            if let Some(task) = task {
                scrub(tx, task, &Row { id, task: None, starts: false, text: row.text.clone() })?;
                summary::taken_back(tx, conversation, task)?;
            }
        }
    }
    Ok(stopping)
}

/// Scrubs what a task has written after its message was taken back.
pub fn again(tx: &mut dyn Tx, task: i64) -> Result<()> {
    let sql = "SELECT id FROM inbox WHERE task = ?1 AND disposition = 'unsent'";
    for id in tx.column::<i64>(sql, params![task])? {
        scrub(tx, task, &Row { id, task: Some(task), starts: true, text: String::new() })?;
    }
    Ok(())
}

fn blank(tx: &mut dyn Tx, row: i64, inbound: &str) -> Result<()> {
    let left = texts::taken_back(inbound);
    tx.execute_later(
        "UPDATE inbox SET inbound = ?2,
             disposition = CASE WHEN disposition IN ('task', 'context', 'ignored: untriggered')
                           THEN 'unsent' ELSE disposition END
         WHERE id = ?1",
        params![row, &left],
    )
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
            end(tx, task, Ending { state: "stopped", why, at: millis(now) })?;
            lanes::refresh(tx, lane)?;
            Ok(false)
        }
        "running" => {
            let sql = "UPDATE task SET stop = ?2 WHERE id = ?1";
            tx.execute_later(sql, params![task, STOP_UNSENT])?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Blanks the quotes of a message; returns the rows that had one, with their tasks.
fn unquote(
    tx: &mut dyn Tx,
    conversation: i64,
    message: &MessageRef,
) -> Result<Vec<(i64, Option<i64>)>> {
    let quoting: Vec<(i64, Option<i64>, String)> = tx.all(
        "SELECT id, task, inbound FROM inbox WHERE quotes = ?1 AND conversation = ?2",
        params![message.as_str(), conversation],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    for (id, _, inbound) in &quoting {
        let left = texts::without_quoted(inbound);
        tx.execute_later("UPDATE inbox SET inbound = ?2 WHERE id = ?1", params![*id, &left])?;
    }
    Ok(quoting.into_iter().map(|(id, task, _)| (id, task)).collect())
}

/// Takes a message's text out of a task's transcript: its own line, quotes of it, talk among others.
fn scrub(tx: &mut dyn Tx, task: i64, row: &Row) -> Result<()> {
    rewrite(tx, task, |item| match item {
        Item::Received(heard) => forget(heard, row),
        _ => false,
    })
}

/// Whether there was anything to forget.
fn forget(heard: &mut Received, row: &Row) -> bool {
    let before = heard.clone();
    let own = heard.inbox == Some(InboxId(row.id));
    if own && row.task.is_some() {
        heard.text = TAKEN_BACK.to_owned();
        heard.quote = None;
        heard.files.clear();
        heard.pictures.clear();
    }
    if let Some(quote) = heard.quote.as_mut().filter(|q| own || (q.text == row.text)) {
        quote.text.clear();
    }
    let line = row.text.split_whitespace().collect::<Vec<_>>().join(" ");
    if heard.inbox.is_none() && !line.is_empty() {
        heard.text = heard.text.replace(&line, TAKEN_BACK);
    }
    *heard != before
}
