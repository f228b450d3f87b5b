//! Tasks of messages: made once for a cause, or joined by what belongs to them.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::Inbound;

use super::facts;
use super::rows::millis;
use crate::store::{NewTask, Result};

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
    pub facts: &'a facts::Written,
    /// It is stored as running: its claim is written next.
    pub starts: bool,
}

impl Row<'_> {
    /// Returns the cause as it is stored: none where it is the key of the message, which the inbox holds
    /// and keeps unique.
    fn cause<'c>(&self, cause: &'c str) -> &'c str {
        let own = cause.strip_prefix(self.account).and_then(|rest| rest.strip_prefix('|'));
        match self.key {
            Some(key) if key == own.unwrap_or(cause) => "",
            _ => cause,
        }
    }
}

/// Makes the task, or finds the one of the same cause. Returns it with its lane, and whether it is new.
pub fn make(
    conn: &Connection,
    new: &NewTask,
    conversation: i64,
    row: &Row<'_>,
    now: DateTime<Utc>,
) -> Result<(i64, i64, bool)> {
    let (state, start_at) = match row.starts {
        true => ("running", None),
        false => ("waiting", Some(new.not_before.map_or(0, millis))),
    };
    // `RETURNING` would gather the one row in a table of its own first.
    let made = conn
        .prepare_cached(
            "INSERT INTO task (account, cause, conversation, lane, ord, state, start_at, album, facts,
                 whereabouts, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (account, cause) WHERE cause <> '' DO NOTHING",
        )?
        .execute(params![
            row.account,
            row.cause(&new.cause),
            conversation,
            row.lane,
            row.order,
            state,
            start_at,
            row.gathers,
            row.facts.rest(),
            row.facts.whereabouts(conn)?,
            millis(now)
        ])?;
    if made > 0 {
        return Ok((conn.last_insert_rowid(), row.lane, true));
    }
    Ok(conn
        .prepare_cached(
            "SELECT id, lane FROM task WHERE account = ?1 AND cause = ?2 AND cause <> ''",
        )?
        .query_row([row.account, &new.cause], |row| Ok((row.get(0)?, row.get(1)?, false)))?)
}

/// A picture of an album joins the task that waits for it, which then waits for the next one; so does the
/// next message of a speaker while theirs still gathers, for ten times as long as one message waits.
pub fn join(
    conn: &Connection,
    inbound: &Inbound,
    new: &NewTask,
    (conversation, now): (i64, DateTime<Utc>),
) -> Result<Option<(i64, i64)>> {
    let Some(word) = &new.gathers else { return Ok(None) };
    Ok(conn
        .prepare_cached(
            "UPDATE task SET ord = MIN(ord, ?4), start_at = MAX(start_at, CASE WHEN ?5 THEN ?3
                 ELSE MIN(?3, created_at + 10 * (?3 - ?6)) END)
             WHERE conversation = ?1 AND album = ?2 AND state = 'waiting' AND attempts = 0 AND header IS NULL
               AND (?5 OR start_at > ?6)
             RETURNING id, lane",
        )?
        .query_row(
            params![
                conversation,
                word,
                new.not_before.map_or(0, millis),
                inbound.order,
                inbound.album.is_some(),
                millis(now)
            ],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?)
}
