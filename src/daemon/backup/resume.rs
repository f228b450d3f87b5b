//! `selkie resume`: what is held of a restored life, and its owner's word that it may go on.

use serde::{Deserialize, Serialize};

use crate::daemon::answered::Answered;
use crate::engine::flow::Flow;
use crate::store::{Restored, WaitingThen};

/// What is asked.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AskedToResume {
    /// Only look at what is held.
    pub only_look: bool,
    /// What becomes of what waits; by the backup where nobody says it.
    pub waiting: Option<WaitingThen>,
}

/// What is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// Where it came from.
    pub restored: Restored,
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

/// Looks, or lets it go on.
///
/// # Errors
/// When the store does not answer: it is held still.
pub async fn told_to_resume(
    flow: &Flow,
    asked: AskedToResume,
) -> anyhow::Result<Answered<Resumed>> {
    let Some(restored) = flow.restored().await? else {
        return Ok(Answered::Refused(
            "there is nothing to resume: selkie was not restored from a backup, or is back to work already"
                .to_owned(),
        ));
    };
    let waiting = asked.waiting.unwrap_or_else(|| restored.usual());
    let mut told = Resumed {
        tasks: flow.tasks_open().await?,
        to_send: flow.to_send().await?,
        schedules: flow.schedules_due().await? as u64,
        resumed: false,
        restored,
        waiting,
    };
    if asked.only_look {
        return Ok(Answered::Done(told));
    }
    if let Some(done) = flow.let_go(waiting).await? {
        told.resumed = true;
        told.tasks = done.tasks.stopped + done.tasks.goes_on;
        told.schedules = done.passed_over.max(match waiting {
            WaitingThen::Answer => told.schedules,
            WaitingThen::Drop => 0,
        });
        tracing::info!(from = told.restored.from, "the restored selkie is back to work");
    }
    Ok(Answered::Done(told))
}
