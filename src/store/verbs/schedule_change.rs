//! Changes of a schedule: one statement for each, which holds only where the schedule stands as it was read.

use super::rows::millis;
use crate::error::Result;
use crate::schedule::{Change, Version};
use crate::tx::Tx;
use crate::value::params;

const PAUSE: &str = "UPDATE schedule SET version = version + 1, state = 'paused', why = ?3
     WHERE id = ?1 AND version = ?2 AND state = 'active'";

const RESUME: &str = "UPDATE schedule SET version = version + 1, state = 'active', why = '', schedule = ?3, next_at = ?4,
         counts_from = ?5
     WHERE id = ?1 AND version = ?2 AND (state = 'paused' OR (state = 'active' AND why <> ''))";

const RETIME: &str = "UPDATE schedule SET version = version + 1, next_at = ?3,
         state = CASE WHEN CAST(?3 AS BIGINT) IS NULL THEN 'ended' ELSE state END
     WHERE id = ?1 AND version = ?2 AND state = 'active'";

const REMOVE: &str =
    "UPDATE schedule SET version = version + 1, state = 'removed', why = '', next_at = NULL
     WHERE id = ?1 AND version = ?2 AND state <> 'removed'";

const WITHDRAW: &str =
    "UPDATE schedule SET version = version + 1, state = 'removed', why = '', next_at = NULL
     WHERE id = ?1 AND version = ?2 AND state <> 'removed' AND NOT EXISTS (
         SELECT 1 FROM occurrence o CROSS JOIN part q
             ON q.id BETWEEN o.outbound * 4096 AND o.outbound * 4096 + 4095
         WHERE o.schedule = ?1 AND q.open = 1)";

const REPLACE: &str = "UPDATE schedule SET version = version + 1, schedule = ?3, next_at = ?4, counts_from = ?5, fired = 0,
         why = CASE WHEN state = 'paused' THEN why ELSE '' END,
         state = CASE WHEN state = 'paused' THEN state ELSE 'active' END
     WHERE id = ?1 AND version = ?2";

const BRING_BACK: &str = "UPDATE schedule SET version = version + 1, schedule = ?3, next_at = ?4,
         state = CASE WHEN state = 'active' AND CAST(?4 AS BIGINT) IS NULL THEN 'ended' ELSE state END,
         why = CASE WHEN state = 'active' THEN '' ELSE why END,
         created_at = CASE WHEN created_at > ?5 THEN ?5 ELSE created_at END,
         counts_from = CASE WHEN counts_from > ?5 THEN ?5 ELSE counts_from END,
         last_local = CASE WHEN last_at > ?5 THEN NULL ELSE last_local END,
         last_at = CASE WHEN last_at > ?5 THEN NULL ELSE last_at END
     WHERE id = ?1 AND version = ?2 AND state IN ('active', 'paused')";

const AMEND: &str = "UPDATE schedule SET version = version + 1, schedule = ?3, next_at = ?4,
         state = CASE WHEN state = 'ended' THEN 'active' ELSE state END
     WHERE id = ?1 AND version = ?2 AND state <> 'removed' AND NOT EXISTS (
         SELECT 1 FROM occurrence o CROSS JOIN part q
             ON q.id BETWEEN o.outbound * 4096 AND o.outbound * 4096 + 4095
         WHERE o.schedule = ?1 AND q.open = 1)";

/// Changes a schedule that stands as it was read; returns whether it did.
pub fn change(tx: &mut dyn Tx, of: Version, change: &Change, contents: &str) -> Result<bool> {
    let id = of.id.0;
    let number = of.number;
    let changed = match change {
        Change::Pause { why } => tx.execute(PAUSE, params![id, number, why]),
        Change::Resume { next_at, now, .. } => {
            tx.execute(RESUME, params![id, number, contents, next_at.map(millis), millis(*now)])
        }
        Change::Retime { next_at } => tx.execute(RETIME, params![id, number, next_at.map(millis)]),
        Change::Remove | Change::RemoveBy(_) => tx.execute(REMOVE, params![id, number]),
        Change::Withdraw => tx.execute(WITHDRAW, params![id, number]),
        Change::Replace { next_at, now, .. } => {
            tx.execute(REPLACE, params![id, number, contents, next_at.map(millis), millis(*now)])
        }
        Change::BringBack { next_at, now, .. } => {
            tx.execute(BRING_BACK, params![id, number, contents, next_at.map(millis), millis(*now)])
        }
        Change::Amend { next_at, .. } => {
            tx.execute(AMEND, params![id, number, contents, next_at.map(millis)])
        }
    };
    Ok(changed? > 0)
}
