//! Which tasks belong together: a task, the agents that it has begun, and the task that it works for.

use selkie_channel_core::ConversationId;

use super::usage::{cost, usage};
use super::{conversations, lanes};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::usage::Usage;

/// Which tasks belong to one.
#[derive(Clone, Copy, Debug)]
pub struct Kin {
    /// The task that has begun it.
    pub parent: Option<i64>,
    /// That task waits for its end.
    pub awaited: bool,
    /// It has begun others.
    pub has_children: bool,
}

/// Returns the tasks that belong to one.
pub fn kin(tx: &mut dyn Tx, task: i64) -> Result<Kin> {
    tx.one(
        "SELECT parent, awaited, EXISTS (SELECT 1 FROM task c WHERE c.parent = task.id) FROM task WHERE id = ?1",
        params![task],
        |row| Ok(Kin { parent: row.get(0)?, awaited: row.get(1)?, has_children: row.get(2)? }),
    )
}

/// Notes that a conversation is an agent's, and whose.
pub fn adopt(tx: &mut dyn Tx, agent: i64, parent: &ConversationId) -> Result<()> {
    let parent = conversations::speak(tx, parent)?;
    tx.execute_later(
        "UPDATE conversation SET parent = ?2 WHERE id = ?1 AND parent IS NULL",
        params![agent, parent],
    )
}

/// A child has ended: wakes its parent where that waited for it as the last one, and lets the next child of the same
/// parent start that waits for its turn. Returns the lanes of both.
pub fn ended(tx: &mut dyn Tx, kin: Kin, now: i64) -> Result<Vec<i64>> {
    let Some(parent) = kin.parent else { return Ok(Vec::new()) };
    let woken: Option<i64> = match kin.awaited {
        true => tx.first(
            "UPDATE task SET state = 'waiting', start_at = 0 WHERE id = ?1 AND state = 'parked'
                 AND NOT EXISTS (SELECT 1 FROM task c WHERE c.parent = ?1 AND c.awaited = 1 AND c.ended_at IS NULL)
             RETURNING lane",
            params![parent],
        )?,
        false => None,
    };
    let next: Option<i64> = tx.first(
        "UPDATE task SET start_at = 0 WHERE id = (SELECT MIN(n.id) FROM task n WHERE n.parent = ?1
             AND n.state = 'waiting' AND n.attempts = 0 AND n.start_at > ?2) RETURNING lane",
        params![parent, now],
    )?;
    let lanes: Vec<i64> = woken.into_iter().chain(next).collect();
    lanes.iter().try_for_each(|lane| lanes::refresh(tx, *lane))?;
    Ok(lanes)
}

/// Returns what the tasks of the same family have used besides a task: its parent and that one's other children, and its
/// own children.
pub fn used_by_family(tx: &mut dyn Tx, task: i64, kin: Kin) -> Result<Usage> {
    let mut used = Usage::default();
    if kin.has_children {
        used.add(tx.one(USED_BY_CHILDREN, params![task, task], |row| usage(row, 0))?);
    }
    if let Some(parent) = kin.parent {
        used.add(tx.one(USED_BY_CHILDREN, params![parent, task], |row| usage(row, 0))?);
        used.add(cost(tx, parent)?);
    }
    Ok(used)
}

/// What the children of a task have used, but for one.
const USED_BY_CHILDREN: &str =
    "SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT), CAST(COALESCE(SUM(input), 0) AS BIGINT),
         CAST(COALESCE(SUM(cached), 0) AS BIGINT), CAST(COALESCE(SUM(output), 0) AS BIGINT),
         CAST(COALESCE(SUM(micro_usd), 0) AS BIGINT)
     FROM task WHERE parent = ?1 AND id <> ?2";
