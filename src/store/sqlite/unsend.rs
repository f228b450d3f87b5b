//! A person takes a message back: its text goes wherever it is stored, and the task it started ends.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, params};
use selkie_channel_core::MessageRef;

use super::rows::{ITEM_VERSION, json, load_item, millis};
use super::{lanes, work};
use crate::domain::ids::{InboxId, TaskId};
use crate::domain::transcript::{Heard, Item};
use crate::store::Result;

/// Stands where the text was.
const TAKEN_BACK: &str = "(taken back by who wrote it)";
/// Stands where a row of a transcript was that cannot be read: it stays one that cannot be read.
const ERASED: &str = r#"{"item":"erased"}"#;
/// How many rows behind a message quotes of it are looked for.
const QUOTES: i64 = 20_000;
/// A running task is told to stop, and that what it writes may hold the text.
pub const STOP_UNSENT: i64 = 2;

/// A stored message and what became of it.
struct Row {
    id: i64,
    task: Option<i64>,
    starts: bool,
    text: String,
}

/// Takes a message back; returns running tasks that must stop.
pub fn unsend(
    conn: &Connection,
    conversation: i64,
    message: &MessageRef,
    now: DateTime<Utc>,
) -> Result<Vec<TaskId>> {
    let rows: Vec<Row> = conn
        .prepare_cached(
            "SELECT id, task, disposition = 'task', inbound ->> '$.text' FROM inbox
             WHERE message = ?1 AND conversation = ?2",
        )?
        .query_map(params![message.as_str(), conversation], |row| {
            Ok(Row { id: row.get(0)?, task: row.get(1)?, starts: row.get(2)?, text: row.get(3)? })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut stopping = Vec::new();
    for row in &rows {
        blank(conn, row.id)?;
        if let Some(task) = row.task {
            scrub(conn, task, row)?;
            if row.starts && withdraw(conn, task, now)? {
                stopping.push(TaskId(task));
            }
        }
        for (id, task) in unquote(conn, conversation, (row.id, message))? {
            if let Some(task) = task {
                scrub(conn, task, &Row { id, task: None, starts: false, text: row.text.clone() })?;
            }
        }
    }
    Ok(stopping)
}

/// Scrubs what a task has written after its message was taken back.
pub fn again(conn: &Connection, task: i64) -> Result<()> {
    let rows: Vec<i64> = conn
        .prepare_cached("SELECT id FROM inbox WHERE task = ?1 AND disposition = 'unsent'")?
        .query_map([task], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for id in rows {
        scrub(conn, task, &Row { id, task: Some(task), starts: true, text: String::new() })?;
    }
    Ok(())
}

fn blank(conn: &Connection, row: i64) -> Result<()> {
    conn.prepare_cached(
        "UPDATE inbox SET inbound = json_set(inbound, '$.text', '', '$.command', json('null'),
                 '$.quote', json('null'), '$.attachments', json('[]')),
             disposition = CASE WHEN disposition IN ('task', 'context', 'ignored: untriggered')
                           THEN 'unsent' ELSE disposition END
         WHERE id = ?1",
    )?
    .execute([row])?;
    Ok(())
}

/// Ends the task when none of its messages is left; whether it runs and must stop.
fn withdraw(conn: &Connection, task: i64, now: DateTime<Utc>) -> Result<bool> {
    let left = conn
        .prepare_cached("SELECT 1 FROM inbox WHERE task = ?1 AND disposition = 'task'")?
        .exists([task])?;
    let (state, lane): (String, i64) = conn
        .prepare_cached("SELECT state, lane FROM task WHERE id = ?1")?
        .query_row([task], |row| Ok((row.get(0)?, row.get(1)?)))?;
    match state.as_str() {
        "waiting" if !left => {
            let why = Some("its message was taken back");
            work::end(conn, task, ("stopped", why), millis(now))?;
            lanes::refresh(conn, lane)?;
            Ok(false)
        }
        "running" => {
            conn.prepare_cached("UPDATE task SET stop = ?2 WHERE id = ?1")?
                .execute([task, STOP_UNSENT])?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Blanks the quotes of a message; returns the rows that had one, with their tasks.
fn unquote(
    conn: &Connection,
    conversation: i64,
    (row, message): (i64, &MessageRef),
) -> Result<Vec<(i64, Option<i64>)>> {
    Ok(conn
        .prepare_cached(
            "UPDATE inbox SET inbound = json_set(inbound, '$.quote.text', '')
             WHERE id BETWEEN ?1 AND ?1 + ?4 AND conversation = ?2
               AND inbound ->> '$.quote.message' = ?3
             RETURNING id, task",
        )?
        .query_map(params![row, conversation, message.as_str(), QUOTES], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<_>>()?)
}

/// Takes a message's text out of a task's transcript: its own line, quotes of it, talk among others. A row that
/// cannot be read may hold it, too: nothing of it stays.
fn scrub(conn: &Connection, task: i64, row: &Row) -> Result<()> {
    // As bytes: a row may be no text at all.
    let items: Vec<(i64, i64, Vec<u8>)> = conn
        .prepare_cached(
            "SELECT seq, v, CAST(item AS BLOB) FROM transcript WHERE task = ?1 ORDER BY seq",
        )?
        .query_map([task], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (seq, v, bytes) in items {
        let (v, text) = match read(task, v, &bytes) {
            Some(Item::Heard(mut heard)) => {
                if !forget(&mut heard, row) {
                    continue;
                }
                (i64::from(ITEM_VERSION), json(&Item::Heard(heard))?)
            }
            Some(_) => continue,
            None if bytes == ERASED.as_bytes() => continue,
            None => {
                tracing::warn!(
                    task,
                    seq,
                    "a transcript row that cannot be read is erased: a message was taken back"
                );
                (v, ERASED.to_owned())
            }
        };
        conn.prepare_cached(
            "UPDATE transcript SET v = ?3, item = ?4 WHERE task = ?1 AND seq = ?2",
        )?
        .execute(params![task, seq, v, text])?;
    }
    Ok(())
}

fn read(task: i64, v: i64, bytes: &[u8]) -> Option<Item> {
    let text = std::str::from_utf8(bytes).ok()?;
    load_item(task, u16::try_from(v).ok()?, text).ok()
}

/// Whether there was anything to forget.
fn forget(heard: &mut Heard, row: &Row) -> bool {
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
