//! Agents that are stopped: by their name, with their conversation, or because they were not done in time.

use chrono::{DateTime, Utc};

use super::ending::{OpenChild, stop_open};
use super::facts;
use super::rows::millis;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::TaskId;
use selkie_domain::parent::agent_name;

/// Stops what the agents of a conversation do, or what one of them does, as far as it is `by`'s; returns those tasks.
pub fn stop_in(
    tx: &mut dyn Tx,
    conversation: i64,
    by: Option<&str>,
    name: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Vec<TaskId>> {
    let of = |key: &str| name.is_none_or(|name| agent_name(key) == Some(name));
    let open: Vec<Option<OpenChild>> = tx.all(
        "SELECT t.id, t.lane, 0, c.key, t.facts FROM conversation c JOIN task t ON t.conversation = c.id
         WHERE c.parent = ?1 AND t.state = 'waiting'
         UNION ALL
         SELECT t.id, t.lane, 0, c.key, t.facts FROM conversation c JOIN task t ON t.conversation = c.id
         WHERE c.parent = ?1 AND t.state = 'parked'
         UNION ALL
         SELECT t.id, t.lane, 1, c.key, t.facts FROM conversation c JOIN task t ON t.conversation = c.id
         WHERE c.parent = ?1 AND t.state = 'running'",
        params![conversation],
        |row| {
            let child = OpenChild { task: row.get(0)?, lane: row.get(1)?, runs: row.get(2)? };
            Ok((of(row.get(3)?) && facts::is_of(row.get(4)?, by)).then_some(child))
        },
    )?;
    let mut open: Vec<OpenChild> = open.into_iter().flatten().collect();
    open.sort_unstable_by_key(|child| child.task);
    stop_open(tx, &open, "stopped", millis(now))?;
    Ok(open.iter().map(|child| TaskId(child.task)).collect())
}

/// Stops the children that a task has waited for in vain.
pub fn expire(tx: &mut dyn Tx, parent: i64, now: DateTime<Utc>) -> Result<()> {
    let open: Vec<OpenChild> = tx.all(
        "SELECT id, lane, CASE WHEN state = 'running' THEN 1 ELSE 0 END FROM task
         WHERE parent = ?1 AND awaited = 1 AND ended_at IS NULL ORDER BY id",
        params![parent],
        |row| Ok(OpenChild { task: row.get(0)?, lane: row.get(1)?, runs: row.get(2)? }),
    )?;
    stop_open(tx, &open, "not done in time", millis(now)).map(drop)
}

/// A conversation begins anew: its agents know nothing any more, and what an ended one has found is not told.
pub fn forget(tx: &mut dyn Tx, conversation: i64, now: DateTime<Utc>) -> Result<()> {
    tx.execute_later(
        "UPDATE conversation SET epoch = epoch + 1, cut = 0, short = 0 WHERE parent = ?1",
        params![conversation],
    )?;
    let told: Vec<OpenChild> = tx.all(
        "SELECT id, lane, 0 FROM task WHERE conversation = ?1 AND state = 'waiting' AND cause LIKE 'report:%'",
        params![conversation],
        |row| Ok(OpenChild { task: row.get(0)?, lane: row.get(1)?, runs: row.get(2)? }),
    )?;
    stop_open(tx, &told, "the conversation was begun anew", millis(now)).map(drop)
}
