//! What somebody decides about an approval, from a button, an answer or the command line.

use chrono::{DateTime, Utc};

use super::asking::wake;
use super::rows::millis;
use super::{lanes, locks};
use crate::approval::{Decision, DecisionResult};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::approval::{ApprovalState, LAPSES_AFTER, MUTED_FOR, MuteOf, Verdict};
use selkie_domain::ids::InboxId;

/// Settles an approval that is open: only who was asked decides, once all of the request but its last part has arrived.
const SETTLE: &str =
    "UPDATE approval SET state = ?2, lapses_at = ?3, decided_by = ?4, settled_at = ?5
     WHERE key = ?1 AND state = 'open' AND expires_at > ?5
       AND (CAST(?6 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM approval_asked a
            WHERE a.approval = approval.id AND a.account = ?6 AND a.person = ?7
              AND a.refused = 0 AND NOT EXISTS (SELECT 1 FROM part p
                  WHERE p.id BETWEEN a.outbound * 4096 AND a.outbound * 4096 + 4095
                    AND p.state NOT IN ('sent', 'repeated')
                    AND EXISTS (SELECT 1 FROM part l
                        WHERE l.id BETWEEN p.id + 1 AND a.outbound * 4096 + 4095))))
     RETURNING task";

/// Decides; `None` when the row that says so was carried out before.
pub fn decide(
    tx: &mut dyn Tx,
    decision: &Decision,
    now: DateTime<Utc>,
) -> Result<Option<DecisionResult>> {
    let key = decision.key.as_deref().unwrap_or_default();
    let task: Option<i64> = tx.first("SELECT task FROM approval WHERE key = ?1", params![key])?;
    if let Some(task) = task {
        locks::of_task(tx, task, [])?;
    }
    let Some(at) = carry_out(tx, decision.row, millis(now))? else { return Ok(None) };
    if decision.verdict == Verdict::Unmute {
        let done = unmute(tx, key)?;
        return Ok(Some(DecisionResult { done, ready: None }));
    }
    let Some(task) = settle(tx, key, decision, at)? else {
        return Ok(Some(DecisionResult::default()));
    };
    if let Some(of) = decision.verdict.mutes() {
        mute(tx, key, of, at)?;
    }
    if let Some(row) = decision.row {
        tx.execute_later("UPDATE inbox SET task = ?2 WHERE id = ?1", params![row.0, task])?;
    }
    let ready = match wake(tx, task)? {
        Some(lane) => lanes::ready_name(tx, lane, now)?,
        None => None,
    };
    Ok(Some(DecisionResult { done: true, ready }))
}

/// Marks the row that decides as carried out, and returns when the decision counts as made; `None` when it was before.
fn carry_out(tx: &mut dyn Tx, row: Option<InboxId>, now: i64) -> Result<Option<i64>> {
    let Some(row) = row else { return Ok(Some(now)) };
    let stored: Option<i64> = tx.first(
        "UPDATE inbox SET done_at = ?2
         WHERE id = ?1 AND disposition IN ('tap', 'answer') AND done_at IS NULL RETURNING stored_at",
        params![row.0, now],
    )?;
    // A clock that was set back makes nothing younger than it is.
    Ok(stored.map(|stored| now.max(stored)))
}

/// Settles the approval where it is open and whoever decides was asked; returns its task.
fn settle(tx: &mut dyn Tx, key: &str, decision: &Decision, at: i64) -> Result<Option<i64>> {
    let is_given = decision.verdict == Verdict::Approve;
    let state = if is_given { ApprovalState::Approved } else { ApprovalState::Denied };
    let lapses_at = is_given.then(|| at + LAPSES_AFTER.num_milliseconds());
    let account = decision.by.as_ref().map(|(account, _)| account.as_str());
    let person = decision.by.as_ref().map(|(_, person)| person.as_str());
    tx.first(SETTLE, params![key, state.name(), lapses_at, &decision.name, at, account, person])
}

/// Mutes whoever a request came from. What nobody in particular has asked for is the group's.
fn mute(tx: &mut dyn Tx, key: &str, of: MuteOf, at: i64) -> Result<()> {
    tx.execute_later(
        "UPDATE approval SET muted = CASE WHEN requester = '' THEN 'group' ELSE CAST(?2 AS TEXT) END,
             muted_until = ?3 WHERE key = ?1",
        params![key, of.name(), at + MUTED_FOR.num_milliseconds()],
    )
}

/// Lifts what was muted with a request; whether there was anything.
fn unmute(tx: &mut dyn Tx, key: &str) -> Result<bool> {
    let lifted = tx.execute(
        "UPDATE approval SET muted_until = NULL WHERE key = ?1 AND muted_until IS NOT NULL",
        params![key],
    )?;
    Ok(lifted > 0)
}
