//! Lanes: found and made, which are free and have work, and their summary.

use chrono::{DateTime, Utc};
use selkie_channel_core::ConversationId;

use super::conversations;
use super::rows::{millis, time};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::task::Lane;

/// Free lanes by the age of their oldest task. Lanes that are busy or only wait for a later moment are
/// passed over; no waiting task is looked at.
pub const READY: &str = "SELECT name FROM lane WHERE ready_at IS NOT NULL AND ready_at <= ?1
       AND NOT EXISTS (SELECT 1 FROM task WHERE lane = lane.id AND state = 'running')
     ORDER BY oldest LIMIT ?2";

/// Returns the row of a lane, made when it is new.
pub fn row_of(tx: &mut dyn Tx, name: &str) -> Result<i64> {
    if let Some(row) = known(tx, name)? {
        return Ok(row);
    }
    let sql = "INSERT INTO lane (name) VALUES (?1) ON CONFLICT (name) DO NOTHING";
    match tx.insert(sql, params![name])? {
        Some(row) => Ok(row),
        // Another connection was first.
        None => tx.only("SELECT id FROM lane WHERE name = ?1", params![name]),
    }
}

/// Returns the row of a conversation's own lane.
pub fn of_conversation(tx: &mut dyn Tx, conversation: i64) -> Result<i64> {
    let name: String = tx.only(
        "SELECT account || '|' || key FROM conversation WHERE id = ?1",
        params![conversation],
    )?;
    row_of(tx, &name)
}

/// Returns the row of a conversation's own lane, and whether a task that came now would be its only one.
pub fn idle_of(tx: &mut dyn Tx, conversation: i64) -> Result<(i64, bool)> {
    let known = tx.optional(
        "SELECT l.id, CASE WHEN l.ready_at IS NULL
             AND NOT EXISTS (SELECT 1 FROM task WHERE lane = l.id AND state = 'running') THEN 1 ELSE 0 END
         FROM conversation c CROSS JOIN lane l ON l.name = c.account || '|' || c.key WHERE c.id = ?1",
        params![conversation],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    match known {
        Some(known) => Ok(known),
        None => Ok((of_conversation(tx, conversation)?, true)),
    }
}

/// Finds a lane by its name, or by the name it had before its place moved.
pub fn find(tx: &mut dyn Tx, lane: &Lane) -> Result<Option<i64>> {
    if let Some(row) = known(tx, &lane.0)? {
        return Ok(Some(row));
    }
    let Some(id) = ConversationId::from_full(&lane.0) else { return Ok(None) };
    match conversations::find(tx, &id)? {
        Some(conversation) => of_conversation(tx, conversation).map(Some),
        None => Ok(None),
    }
}

fn known(tx: &mut dyn Tx, name: &str) -> Result<Option<i64>> {
    tx.first("SELECT id FROM lane WHERE name = ?1", params![name])
}

/// Returns the rows of the lanes of a conversation and of its agents.
pub fn of_family(tx: &mut dyn Tx, conversation: i64) -> Result<Vec<i64>> {
    tx.column(
        "SELECT l.id FROM conversation c JOIN lane l ON l.name = c.account || '|' || c.key
         WHERE c.id = ?1 OR c.parent = ?1 ORDER BY l.id",
        params![conversation],
    )
}

/// Brings a lane's summary up to date with its tasks. One that stays as it is costs no write.
pub fn refresh(tx: &mut dyn Tx, lane: i64) -> Result<()> {
    tx.execute_later(
        "UPDATE lane SET (ready_at, oldest) = (SELECT start_at, id FROM task
             WHERE lane = ?1 AND start_at IS NOT NULL ORDER BY start_at, id LIMIT 1)
         WHERE id = ?1",
        params![lane],
    )
}

/// Lists free lanes whose first task may start now, the longest waiting first.
pub fn ready(tx: &mut dyn Tx, now: DateTime<Utc>, limit: usize) -> Result<Vec<Lane>> {
    tx.all(READY, params![millis(now), limit], |row| Ok(Lane(row.get(0)?)))
}

/// Returns a lane's name when it is free and its first task may start now.
pub fn ready_name(tx: &mut dyn Tx, lane: i64, now: DateTime<Utc>) -> Result<Option<Lane>> {
    tx.optional(
        "SELECT name FROM lane WHERE id = ?1 AND ready_at <= ?2
           AND NOT EXISTS (SELECT 1 FROM task WHERE lane = ?1 AND state = 'running')",
        params![lane, millis(now)],
        |row| Ok(Lane(row.get(0)?)),
    )
}

/// Returns the names of those of these lanes that are free and have a task that may start now.
pub fn ready_names(tx: &mut dyn Tx, lanes: &[i64], now: DateTime<Utc>) -> Result<Vec<Lane>> {
    let names = lanes.iter().map(|lane| ready_name(tx, *lane, now));
    Ok(names.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Returns the next moment at which a waiting or parked task becomes claimable.
pub fn next_wake(tx: &mut dyn Tx, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
    let at: Option<i64> = tx.only(
        "SELECT MIN(start_at) FROM task WHERE start_at > 0 AND start_at > ?1",
        params![millis(now)],
    )?;
    Ok(at.map(time))
}

/// Lists the places whose tasks have not ended, each by the row of its first conversation, with when the
/// oldest of them was made.
pub fn at_work(tx: &mut dyn Tx) -> Result<Vec<(i64, DateTime<Utc>)>> {
    tx.all(
        "SELECT w.place, MIN(w.created_at) FROM
             (SELECT (SELECT MIN(p.id) FROM conversation p WHERE p.account = c.account AND p.place = c.place)
                  AS place, t.created_at
              FROM (SELECT conversation, created_at FROM task WHERE state = 'running'
                    UNION ALL SELECT conversation, created_at FROM task WHERE state = 'waiting'
                    UNION ALL SELECT conversation, created_at FROM task WHERE state = 'parked') t
              JOIN conversation c ON c.id = t.conversation) w
         GROUP BY w.place ORDER BY w.place",
        params![],
        |row| Ok((row.get(0)?, time(row.get(1)?))),
    )
}

/// Lists the lanes whose waiting tasks have been begun so often.
pub fn suspects(tx: &mut dyn Tx, attempts: u32) -> Result<Vec<Lane>> {
    tx.all(
        "SELECT l.name FROM task t INDEXED BY task_waiting JOIN lane l ON l.id = t.lane
         WHERE t.state = 'waiting' AND t.attempts >= ?1 GROUP BY l.id, l.name ORDER BY MIN(t.id)",
        params![attempts],
        |row| Ok(Lane(row.get(0)?)),
    )
}
