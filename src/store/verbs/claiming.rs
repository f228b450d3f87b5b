//! The claim of a lane's oldest task.

use chrono::{DateTime, Utc};

use super::claimed::{self, RawClaimed};
use super::rows::millis;
use super::{approving, asking, facts, lanes, stopped_agents};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::facts::Trust;
use selkie_domain::ids::Instance;

/// The lane's oldest task that may start. The index is named because the planner would rather sort
/// all that wait there.
pub const OLDEST: &str =
    "SELECT id, CASE WHEN parked IS NULL THEN 0 ELSE 1 END FROM task INDEXED BY task_order
     WHERE lane = ?1 AND start_at IS NOT NULL AND start_at <= ?2
       AND NOT EXISTS (SELECT 1 FROM task WHERE lane = ?1 AND state = 'running')
     ORDER BY ord, id LIMIT 1";

/// Claims the lane's oldest task by the platform's order, when the lane is free.
pub fn take(
    tx: &mut dyn Tx,
    lane: i64,
    instance: &Instance,
    now: DateTime<Utc>,
) -> Result<Option<RawClaimed>> {
    let oldest: Option<(i64, bool)> =
        tx.optional(OLDEST, params![lane, millis(now)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Some((task, was_parked)) = oldest else { return Ok(None) };
    if was_parked {
        asking::expire(tx, task, now)?;
        approving::expire(tx, task, now)?;
        stopped_agents::expire(tx, task, now)?;
    }
    let claimed = start(tx, task, instance, now)?;
    lanes::refresh(tx, lane)?;
    Ok(Some(claimed))
}

/// Whether the task that [`take`] would claim is an owner's, by the facts it was made with.
pub fn is_owners(tx: &mut dyn Tx, lane: i64, now: DateTime<Utc>) -> Result<bool> {
    let Some(task) = tx.first::<i64>(OLDEST, params![lane, millis(now)])? else { return Ok(false) };
    let sql = "SELECT facts FROM task WHERE id = ?1";
    let trust = tx.one(sql, params![task], |row| Ok(facts::trust(row.get(0)?)))?;
    Ok(trust == Trust::Owner)
}

/// Writes the claim of a task, and gathers it.
fn start(
    tx: &mut dyn Tx,
    task: i64,
    instance: &Instance,
    now: DateTime<Utc>,
) -> Result<RawClaimed> {
    tx.execute_later(
        "UPDATE task SET state = 'running', claim = claim + 1, attempts = attempts + 1, instance = ?2,
             start_at = NULL, parked = NULL, started_at = ?3,
             epoch = COALESCE(epoch, (SELECT epoch FROM conversation WHERE id = task.conversation))
         WHERE id = ?1",
        params![task, &instance.0, millis(now)],
    )?;
    claimed::gather(tx, task)
}
