//! A restored life: marked, so that nothing of it is carried out, and let go.

use super::ending::{EndRecord, end};
use super::lanes;
use super::outbox;
use super::rows::json;
use crate::error::Result;
use crate::restored::{ReleaseResult, RestoreOrigin, RestorePolicy};
use crate::tx::Tx;
use crate::value::params;

/// Why a task of a restored life was stopped.
const RESTORED: &str = "it waited in a backup that was restored";

/// Marks a life as restored.
pub fn mark(tx: &mut dyn Tx, restored: &RestoreOrigin) -> Result<()> {
    tx.execute_later("UPDATE meta SET restored = ?1 WHERE id = 1", params![&json(restored)?])
}

/// Returns what a life was restored from, while nobody has let it go on.
pub fn read(tx: &mut dyn Tx) -> Result<Option<RestoreOrigin>> {
    let text = "SELECT restored FROM meta WHERE id = 1";
    RestoreOrigin::stored(tx.first::<Option<String>>(text, params![])?.flatten())
}

/// Lets it go on. `None`: nothing holds it.
pub fn release(tx: &mut dyn Tx, waiting: RestorePolicy, now: i64) -> Result<Option<ReleaseResult>> {
    if read(tx)?.is_none() {
        return Ok(None);
    }
    let mut released = ReleaseResult::default();
    match waiting {
        RestorePolicy::Drop => released.stopped = drop_all(tx, now)?,
        RestorePolicy::Answer => released.goes_on = open(tx)?.len() as u64,
    }
    tx.execute_later("UPDATE meta SET restored = NULL WHERE id = 1", params![])?;
    Ok(Some(released))
}

/// Ends everything that waits; returns how many tasks that were.
fn drop_all(tx: &mut dyn Tx, now: i64) -> Result<u64> {
    let open = open(tx)?;
    for task in &open {
        end(tx, task.id, EndRecord { state: "stopped", why: Some(RESTORED), at: now })?;
    }
    for task in &open {
        lanes::refresh(tx, task.lane)?;
    }
    tx.execute_later(
        "UPDATE inbox SET disposition = 'ignored: restored' WHERE disposition = 'gate'",
        params![],
    )?;
    tx.execute_later(
        "UPDATE inbox SET done_at = ?1
         WHERE done_at IS NULL
           AND (disposition = 'command' OR disposition = 'tap' OR disposition = 'answer')",
        params![now],
    )?;
    // An answer that waited for its button was given by the other life, or its right to answer has run out.
    tx.execute_later("UPDATE hold SET open = 0 WHERE open = 1", params![])?;
    tx.execute_later(
        "UPDATE part SET state = 'cancelled', open = 0, reason = ?2, updated_at = ?1
         WHERE id IN (SELECT part FROM rendered) AND open = 1",
        params![now, RESTORED],
    )?;
    outbox::tidy(tx)?;
    Ok(open.len() as u64)
}

/// A task that has not ended.
struct Open {
    id: i64,
    lane: i64,
}

fn open(tx: &mut dyn Tx) -> Result<Vec<Open>> {
    let mut open: Vec<Open> = tx.all(
        "SELECT id, lane FROM task WHERE state = 'waiting'
         UNION ALL SELECT id, lane FROM task WHERE state = 'running'
         UNION ALL SELECT id, lane FROM task WHERE state = 'parked'",
        params![],
        |row| Ok(Open { id: row.get(0)?, lane: row.get(1)? }),
    )?;
    // Endings are numbered in their order.
    open.sort_by_key(|task| task.id);
    Ok(open)
}
