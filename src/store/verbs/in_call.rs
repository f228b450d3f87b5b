//! Approval sought in the middle of a call: its task keeps its claim and goes on running.

use chrono::{DateTime, Utc};

use super::approvals::{self, RawApproval};
use super::approving::{self, ApprovalText, RESTARTED};
use super::rows::millis;
use super::{fence, locks};
use crate::approval::InCallEnd;
use crate::delivery::QueuedOutbound;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::task::Claim;

/// Seeks it under the claim; `None` when that is lost.
pub fn seek(
    tx: &mut dyn Tx,
    claim: &Claim,
    sought: &ApprovalText,
    now: DateTime<Utc>,
) -> Result<Option<Vec<QueuedOutbound>>> {
    locks::of_task(tx, claim.task.0, sought.drafts().map(|draft| draft.conversation()))?;
    if fence::held(tx, claim)?.is_none() {
        return Ok(None);
    }
    // Written before its connection was lost: what asks for it is due like any other part.
    if tx.exists("SELECT 1 FROM approval WHERE key = ?1", params![sought.key()])? {
        return Ok(Some(Vec::new()));
    }
    approving::seek(tx, claim.task.0, sought, now).map(Some)
}

/// Ends it, unless that has happened; returns its row.
pub fn end(
    tx: &mut dyn Tx,
    key: &str,
    end: InCallEnd,
    now: DateTime<Utc>,
) -> Result<Option<RawApproval>> {
    let sql = match end {
        InCallEnd::Used => {
            "UPDATE approval SET state = 'consumed' WHERE key = ?1 AND state = 'approved' AND lapses_at > ?2"
        }
        InCallEnd::Late => {
            "UPDATE approval SET state = 'expired', settled_at = ?2 WHERE key = ?1 AND state = 'open'"
        }
        InCallEnd::CallEnded => {
            "UPDATE approval SET state = 'withdrawn', why = 'the call has ended', settled_at = ?2
             WHERE key = ?1 AND state IN ('open', 'approved')"
        }
    };
    tx.execute(sql, params![key, millis(now)])?;
    approvals::by_key(tx, key)
}

/// Takes back what the calls of other boots have asked.
pub fn interrupt_dead(tx: &mut dyn Tx, instance: &str, now: DateTime<Utc>) -> Result<()> {
    tx.execute_later(
        "UPDATE approval SET state = 'withdrawn', why = ?2, settled_at = ?3
         WHERE id IN (SELECT id FROM approval INDEXED BY approval_usable
                      WHERE state IN ('open', 'approved'))
           AND state = 'open'
           AND (SELECT t.instance FROM task t WHERE t.id = approval.task AND t.state = 'running') <> ?1",
        params![instance, RESTARTED, millis(now)],
    )
}
