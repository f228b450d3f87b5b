//! A heartbeat that fails again and again is told to the owner: as soon as it has, and once.

use std::sync::Arc;

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::work::messages;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::OccurrenceState;
use selkie_store::{Occurrence, TaskClaim};

/// Failures in a row after which the owner is told.
const FAILURES: usize = 3;
/// So many of its newest times are looked through for them.
const LOOKED_THROUGH: usize = 50;

/// Tells it when the heartbeat's task that has just ended is the last of so many failures.
pub async fn tell_of_task(context: &Context, outbox: &Arc<Outbox>, claimed: &TaskClaim) {
    let task = claimed.claim.task;
    let behind = context.storage.insist(|ledger| ledger.schedule_behind(task)).await.flatten();
    if let Some(row) = behind {
        tell(context, outbox, row.id()).await;
    }
}

/// Tells it when the newest times of a heartbeat have failed so often.
pub async fn tell(context: &Context, outbox: &Arc<Outbox>, heartbeat: ScheduleId) {
    let times =
        context.storage.insist(|ledger| ledger.occurrences(heartbeat, LOOKED_THROUGH)).await;
    if let Some(alert) = alert(heartbeat, &times.unwrap_or_default()) {
        outbox.tell_owner(&alert.key, &alert.words).await;
    }
}

/// What the owner is told.
struct Alert {
    /// The same for one run of failures: it is told once.
    key: String,
    words: String,
}

/// Whether the newest times that ended have all failed, and no more than are told.
fn alert(heartbeat: ScheduleId, times: &[Occurrence]) -> Option<Alert> {
    let why = |time: &Occurrence| match &time.state {
        OccurrenceState::Failed { why } => Some(Some(why.clone())),
        OccurrenceState::Ran => Some(None),
        _ => None,
    };
    let ended: Vec<_> = times.iter().filter_map(|time| Some((time.at, why(time)?))).collect();
    let streak = ended.iter().take_while(|(_, why)| why.is_some()).count();
    let (first, _) = ended.get(FAILURES - 1).filter(|_| streak == FAILURES)?;
    let why = ended.first().and_then(|(_, why)| why.clone()).unwrap_or_default();
    let key = format!("heartbeat:{heartbeat}:{}", first.timestamp_millis());
    Some(Alert { key, words: messages::heartbeat_fails(heartbeat, &why) })
}
