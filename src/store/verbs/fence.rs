//! The fence of a claim: every write of a run looks whether its claim still holds.

use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::facts::Mode;
use selkie_domain::task::Claim;

/// What a running task is told, in bits: to stop …
pub const STOP: i64 = 1;
/// … and that what it writes may hold the text of a message that was taken back.
pub const UNSENT: i64 = 2;

/// What the holder of a claim needs to know of its task.
#[derive(Clone, Copy, Debug)]
pub struct HeldTask {
    /// The row of its lane.
    pub lane: i64,
    /// Somebody wants it to end.
    pub stop: bool,
    /// A message that it has read was taken back.
    pub unsent: bool,
    /// What its conversation is in.
    pub mode: Mode,
    /// How far its transcript goes.
    pub items: i64,
}

/// Tells a running task to stop.
pub fn tell_to_stop(tx: &mut dyn Tx, task: i64) -> Result<()> {
    tx.execute_later("UPDATE task SET stop = stop | 1 WHERE id = ?1", params![task])
}

/// Returns the task's state when the claim still holds.
pub fn held(tx: &mut dyn Tx, claim: &Claim) -> Result<Option<HeldTask>> {
    tx.optional(
        "SELECT lane, stop, (SELECT COALESCE((SELECT p.plan FROM conversation p WHERE p.id = c.parent), c.plan)
                           FROM conversation c WHERE c.id = task.conversation),
             (SELECT MAX(seq) FROM transcript WHERE transcript.task = task.id)
         FROM task WHERE id = ?1 AND state = 'running' AND claim = ?2 AND instance = ?3",
        params![claim.task.0, claim.number, &claim.instance.0],
        |row| {
            let stop: i64 = row.get(1)?;
            let mode = if row.get(2)? { Mode::Plan } else { Mode::Normal };
            Ok(HeldTask {
                lane: row.get(0)?,
                stop: stop & STOP != 0,
                unsent: stop & UNSENT != 0,
                mode,
                items: row.get::<Option<i64>>(3)?.unwrap_or_default(),
            })
        },
    )
}
