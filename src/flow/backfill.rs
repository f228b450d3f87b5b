//! What was said in a thread before the bot was asked there: fetched once, kept as context.

use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::Inbound;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::flow::desk::Desk;
use crate::flow::intake::hide;
use crate::store::{Arrival, Claimed, Disposition, Fuse};

/// As many lines as a claim is handed.
const MOST_LINES: usize = 30;
/// Nobody waits longer for what others said before.
const PATIENCE: Duration = Duration::from_secs(10);

/// Adds what was said before to the context of a conversation's first task. Without it the task goes on.
pub(super) async fn add(desk: &Arc<Desk>, claimed: &mut Claimed, cancel: &CancellationToken) {
    if !claimed.history.is_empty() || !claimed.transcript.is_empty() {
        return;
    }
    let earlier = tokio::select! {
        earlier = fetch(desk, claimed) => earlier,
        () = cancel.cancelled() => return,
    };
    // After a reset there is no history either, and what was said before is to stay forgotten.
    if earlier.is_empty() || !is_first(desk, claimed).await {
        return;
    }
    store(desk, claimed, &earlier).await;
    let lines = earlier.len();
    tracing::debug!(conversation = %claimed.conversation, lines, "what was said before is context");
    claimed.facts.untrusted_text = true;
    claimed.context.splice(0..0, earlier);
}

/// Asks the channel for what is older than all that is known. What was stored by an earlier claim is
/// known: it is not asked for again.
async fn fetch(desk: &Desk, claimed: &Claimed) -> Vec<Inbound> {
    let ears = desk.account(&claimed.conversation).and_then(|a| a.channel.ears.clone());
    let known = claimed.context.iter().chain(claimed.heard.iter().map(|(_, inbound)| inbound));
    let oldest = known.map(|inbound| inbound.order).min();
    let room = MOST_LINES.saturating_sub(claimed.context.len());
    let (Some(ears), Some(oldest), 1..) = (ears, oldest, room) else { return Vec::new() };
    let asked = timeout(PATIENCE, ears.backfill(&claimed.conversation, oldest, room)).await;
    let why = match asked {
        Ok(Ok(mut earlier)) => {
            earlier.iter_mut().for_each(|inbound| hide(&desk.redactor, inbound));
            return earlier;
        }
        Ok(Err(why)) => why,
        Err(_) => format!("no answer within {} s", PATIENCE.as_secs()),
    };
    tracing::warn!(
        conversation = %claimed.conversation, why,
        "what was said before cannot be fetched; the task goes on without it"
    );
    Vec::new()
}

async fn is_first(desk: &Arc<Desk>, claimed: &Claimed) -> bool {
    match desk.ledger.tasks(Some(&claimed.conversation), 2).await {
        Ok(tasks) => tasks.iter().all(|task| task.id == claimed.claim.task),
        Err(error) => {
            desk.trouble(&error);
            false
        }
    }
}

/// A restart finds it in the ledger.
async fn store(desk: &Arc<Desk>, claimed: &Claimed, earlier: &[Inbound]) {
    let arrival = |inbound: &Inbound| Arrival {
        inbound: inbound.clone(),
        disposition: Disposition::Earlier(claimed.claim.task),
    };
    let fuse = Fuse { permits: 0, boot: desk.boot.clone(), now: desk.clock.now() };
    let batch = earlier.iter().map(arrival).collect();
    if let Err(error) = desk.ledger.accept(batch, None, fuse).await {
        desk.trouble(&error);
    }
}
