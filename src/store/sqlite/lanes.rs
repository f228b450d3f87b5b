//! Lanes: which are free and have work, and the claim of a lane's oldest task.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::ConversationId;

use super::claimed::{self, RawClaimed};
use super::rows::{millis, time};
use super::{conversations, questions};
use crate::domain::facts::Trust;
use crate::domain::ids::Boot;
use crate::domain::task::Lane;
use crate::store::Result;

/// Free lanes by the age of their oldest task. Lanes that are busy or only wait for a later moment are
/// passed over; no waiting task is looked at.
pub const READY: &str = "SELECT name FROM lane WHERE ready_at IS NOT NULL AND ready_at <= ?1
       AND NOT EXISTS (SELECT 1 FROM task WHERE lane = lane.id AND state = 'running')
     ORDER BY oldest LIMIT ?2";

/// The lane's oldest task that may start. The index is named because the planner would rather sort
/// all that wait there.
pub const OLDEST: &str = "SELECT id, parked NOT NULL FROM task INDEXED BY task_order
     WHERE lane = ?1 AND start_at IS NOT NULL AND start_at <= ?2
       AND NOT EXISTS (SELECT 1 FROM task WHERE lane = ?1 AND state = 'running')
     ORDER BY ord, id LIMIT 1";

/// Returns the row of a lane, made when it is new.
pub fn row_of(conn: &Connection, name: &str) -> Result<i64> {
    if let Some(row) = known(conn, name)? {
        return Ok(row);
    }
    conn.prepare_cached("INSERT INTO lane (name) VALUES (?1)")?.execute([name])?;
    Ok(conn.last_insert_rowid())
}

/// Returns the row of a conversation's own lane.
pub fn of_conversation(conn: &Connection, conversation: i64) -> Result<i64> {
    let name: String = conn
        .prepare_cached("SELECT account || '|' || key FROM conversation WHERE id = ?1")?
        .query_row([conversation], |row| row.get(0))?;
    row_of(conn, &name)
}

/// Finds a lane by its name, or by the name it had before its place moved.
pub fn find(conn: &Connection, lane: &Lane) -> Result<Option<i64>> {
    if let Some(row) = known(conn, &lane.0)? {
        return Ok(Some(row));
    }
    let Some(id) = ConversationId::from_full(&lane.0) else { return Ok(None) };
    match conversations::find(conn, &id)? {
        Some(conversation) => of_conversation(conn, conversation).map(Some),
        None => Ok(None),
    }
}

fn known(conn: &Connection, name: &str) -> Result<Option<i64>> {
    Ok(conn
        .prepare_cached("SELECT id FROM lane WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?)
}

/// Brings a lane's summary up to date with its tasks. One that stays as it is costs no write.
pub fn refresh(conn: &Connection, lane: i64) -> Result<()> {
    conn.prepare_cached(
        "UPDATE lane SET (ready_at, oldest) = (SELECT start_at, id FROM task
             WHERE lane = ?1 AND start_at IS NOT NULL ORDER BY start_at, id LIMIT 1)
         WHERE id = ?1",
    )?
    .execute([lane])?;
    Ok(())
}

/// Lists free lanes whose first task may start now, the longest waiting first.
pub fn ready(conn: &Connection, now: DateTime<Utc>, limit: usize) -> Result<Vec<Lane>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let lanes = conn
        .prepare_cached(READY)?
        .query_map([millis(now), limit], |row| Ok(Lane(row.get(0)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(lanes)
}

/// Returns a lane's name when it is free and its first task may start now.
pub fn ready_name(conn: &Connection, lane: i64, now: DateTime<Utc>) -> Result<Option<Lane>> {
    Ok(conn
        .prepare_cached(
            "SELECT name FROM lane WHERE id = ?1 AND ready_at <= ?2
               AND NOT EXISTS (SELECT 1 FROM task WHERE lane = ?1 AND state = 'running')",
        )?
        .query_row([lane, millis(now)], |row| Ok(Lane(row.get(0)?)))
        .optional()?)
}

/// Returns the next moment at which a waiting or parked task becomes claimable.
pub fn next_wake(conn: &Connection, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
    let at: Option<i64> = conn
        .prepare_cached("SELECT MIN(start_at) FROM task WHERE start_at > 0 AND start_at > ?1")?
        .query_row([millis(now)], |row| row.get(0))?;
    Ok(at.map(time))
}

/// Lists the places whose tasks have not ended, each by the row of its first conversation, with when the
/// oldest of them was made.
pub fn at_work(conn: &Connection) -> Result<Vec<(i64, DateTime<Utc>)>> {
    Ok(conn
        .prepare_cached(
            "SELECT (SELECT MIN(p.id) FROM conversation p WHERE p.account = c.account AND p.place = c.place)
                 AS first, MIN(t.created_at)
             FROM (SELECT conversation, created_at FROM task WHERE state = 'running'
                   UNION ALL SELECT conversation, created_at FROM task WHERE state = 'waiting'
                   UNION ALL SELECT conversation, created_at FROM task WHERE state = 'parked') t
             JOIN conversation c ON c.id = t.conversation GROUP BY first ORDER BY first",
        )?
        .query_map([], |row| Ok((row.get(0)?, time(row.get(1)?))))?
        .collect::<rusqlite::Result<_>>()?)
}

/// Claims the lane's oldest task by the platform's order, when the lane is free.
pub fn take(
    conn: &Connection,
    lane: i64,
    boot: &Boot,
    now: DateTime<Utc>,
) -> Result<Option<RawClaimed>> {
    let oldest: Option<(i64, bool)> = conn
        .prepare_cached(OLDEST)?
        .query_row([lane, millis(now)], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((task, was_parked)) = oldest else { return Ok(None) };
    if was_parked {
        questions::expire(conn, task, now)?;
    }
    let claimed = start(conn, task, boot, now)?;
    refresh(conn, lane)?;
    Ok(Some(claimed))
}

/// Whether the task that [`take`] would claim is an owner's, by the facts it was made with.
pub fn is_owners(conn: &Connection, lane: i64, now: DateTime<Utc>) -> Result<bool> {
    let oldest: Option<i64> =
        conn.prepare_cached(OLDEST)?.query_row([lane, millis(now)], |row| row.get(0)).optional()?;
    let Some(task) = oldest else { return Ok(false) };
    let trust: Option<String> = conn
        .prepare_cached("SELECT facts ->> '$.trust' FROM task WHERE id = ?1")?
        .query_row([task], |row| row.get(0))?;
    Ok(trust.as_deref() == Some(Trust::Owner.name()))
}

/// Whether a task that came now would be the lane's only one.
pub fn is_idle(conn: &Connection, lane: i64) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "SELECT ready_at IS NULL
                 AND NOT EXISTS (SELECT 1 FROM task WHERE lane = ?1 AND state = 'running')
             FROM lane WHERE id = ?1",
        )?
        .query_row([lane], |row| row.get(0))?)
}

/// Writes the claim of a task, and gathers it.
pub fn start(conn: &Connection, task: i64, boot: &Boot, now: DateTime<Utc>) -> Result<RawClaimed> {
    conn.prepare_cached(
        "UPDATE task SET state = 'running', claim = claim + 1, attempts = attempts + 1, boot = ?2,
             start_at = NULL, parked = NULL, child = NULL, started_at = ?3,
             epoch = COALESCE(epoch, (SELECT epoch FROM conversation WHERE id = task.conversation))
         WHERE id = ?1",
    )?
    .execute(params![task, boot.0, millis(now)])?;
    claimed::gather(conn, task)
}
