//! `selkie resume`: what is held of a restored life, and its owner's word that it may go on.

use serde::{Deserialize, Serialize};

use crate::answered::NotDone;
use selkie_engine::flow::Flow;
use selkie_engine::intake::passing_over::pass_over;
use selkie_store::{RestoreOrigin, StoreError, WaitingThen};

/// So many schedules are looked at together.
const AT_ONCE: usize = 256;

/// What is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeReport {
    /// Where it came from.
    pub restored: RestoreOrigin,
    /// It goes on now.
    pub resumed: bool,
    /// What becomes, or became, of what waits.
    pub waiting: WaitingThen,
    /// Tasks that wait; that were stopped, once it goes on and they are dropped.
    pub tasks: u64,
    /// Messages that wait to be sent; that were dropped, once it goes on and they are.
    #[serde(default)]
    pub to_send: u64,
    /// Schedules of which a time has come; was passed over.
    pub schedules: u64,
}

/// Lets a restored life go on, unless it is only looked at what is held. What becomes of what waits the backup says where
/// nobody does. Whoever runs begins it then.
///
/// # Errors
/// When nothing is held, or the store does not answer: it is held still.
pub async fn resume(
    flow: &Flow,
    only_look: bool,
    waiting: Option<WaitingThen>,
) -> Result<ResumeReport, NotDone> {
    let ledger = flow.ledger();
    let Some(restored) = ledger.restored().await? else {
        return Err(NotDone::refused(
            "there is nothing to resume: selkie was not restored from a backup, or is back to work already",
        ));
    };
    let waiting = waiting.unwrap_or_else(|| restored.usual());
    let counts = ledger.counts().await?;
    let mut told = ResumeReport {
        tasks: counts.waiting + counts.running + counts.parked,
        to_send: counts.queued,
        schedules: ledger.due_schedules(flow.now(), AT_ONCE).await?.len() as u64,
        resumed: false,
        restored,
        waiting,
    };
    if only_look {
        return Ok(told);
    }
    let passed_over = match waiting {
        WaitingThen::Drop => pass_over_due(flow).await?,
        WaitingThen::Answer => told.schedules,
    };
    if let Some(tasks) = ledger.release(waiting).await? {
        told.resumed = true;
        told.tasks = tasks.stopped + tasks.goes_on;
        told.schedules = passed_over;
        tracing::info!(from = told.restored.from, "the restored selkie is back to work");
    }
    Ok(told)
}

/// Passes over each time that has come.
async fn pass_over_due(flow: &Flow) -> Result<u64, StoreError> {
    let mut passed = 0;
    loop {
        let before = passed;
        for row in flow.ledger().due_schedules(flow.now(), AT_ONCE).await? {
            passed += u64::from(pass_over(&flow.firings, &row, flow.now()).await?);
        }
        // What is left cannot be read.
        if passed == before {
            return Ok(passed);
        }
    }
}
