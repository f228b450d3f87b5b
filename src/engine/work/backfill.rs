//! What was said in a thread before the bot was asked there: fetched once, kept as context.

use std::time::Duration;

use selkie_channel_core::{AddressReason, Earlier, Inbound, PersonId, Speaker, What};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::delivery::context::Context;
use crate::work::redact_inbound::hide;
use selkie_domain::taint::Taint;
use selkie_store::{Arrival, Disposition, Fuse, TaskClaim};

/// As many lines as a claim is handed.
const MAX_LINES: usize = 30;
/// Nobody waits longer for what others said before.
const TIMEOUT: Duration = Duration::from_secs(12);

/// Adds what was said before to the context of a conversation's first task. Without it the task goes on,
/// and its model is told that lines are missing.
pub async fn add(context: &Context, claimed: &mut TaskClaim, cancel: &CancellationToken) {
    if !claimed.history.is_empty() || !claimed.transcript.is_empty() {
        return;
    }
    let Earlier { mut lines, missing } = tokio::select! {
        earlier = fetch(context, claimed) => earlier,
        () = cancel.cancelled() => return,
    };
    // After a reset there is no history either, and what was said before is to stay forgotten.
    if lines.is_empty() && missing.is_none() || !is_first(context, claimed).await {
        return;
    }
    if !lines.is_empty() {
        claimed.facts.taint = Taint::Raw;
    }
    if let Some(why) = missing {
        tracing::warn!(
            conversation = %claimed.conversation, why, lines = lines.len(),
            "not all that was said before could be fetched; the task continues without it"
        );
        lines.splice(0..0, hint(claimed, &lines));
    }
    store(context, claimed, &lines).await;
    let count = lines.len();
    tracing::debug!(conversation = %claimed.conversation, count, "what was said before is context");
    claimed.context.splice(0..0, lines);
}

/// A line of our own that tells the model of what it is not shown; a restart finds it with the others.
fn hint(claimed: &TaskClaim, lines: &[Inbound]) -> Option<Inbound> {
    let (_, asked) = claimed.heard.first()?;
    let first = lines.first().unwrap_or(asked);
    Some(Inbound {
        key: format!("missing:{}", asked.key),
        order: first.order.saturating_sub(1),
        at: first.at,
        speaker: Speaker {
            id: PersonId::new(claimed.conversation.account().as_str()),
            name: "note".to_owned(),
            username: None,
            is_bot: true,
        },
        what: What::Message,
        message: None,
        addressed: AddressReason::No,
        text: MISSING.to_owned(),
        command: None,
        quote: None,
        thread: None,
        forwarded: false,
        origin: None,
        attachments: Vec::new(),
        album: None,
        reply_window: None,
        ..asked.clone()
    })
}

const MISSING: &str = "(Some of what was said here before could not be fetched, so lines are missing. Say so \
    when the answer may depend on them.)";

/// Asks the channel for what is older than all that is known. What was stored by an earlier claim is
/// known: it is not asked for again.
async fn fetch(context: &Context, claimed: &TaskClaim) -> Earlier {
    let receiver =
        context.accounts.of(&claimed.conversation).and_then(|a| a.channel.receiver.clone());
    let known = claimed.context.iter().chain(claimed.heard.iter().map(|(_, inbound)| inbound));
    let oldest = known.map(|inbound| inbound.order).min();
    let room = MAX_LINES.saturating_sub(claimed.context.len());
    let (Some(receiver), Some(oldest), 1..) = (receiver, oldest, room) else {
        return Earlier::default();
    };
    let asked = timeout(TIMEOUT, receiver.backfill(&claimed.conversation, oldest, room)).await;
    let missing = match asked {
        Ok(Ok(mut earlier)) => {
            earlier.lines.iter_mut().for_each(|inbound| hide(&context.runtime.redactor, inbound));
            return earlier;
        }
        Ok(Err(why)) => why,
        Err(_) => format!("no answer within {} s", TIMEOUT.as_secs()),
    };
    Earlier { lines: Vec::new(), missing: Some(missing) }
}

async fn is_first(context: &Context, claimed: &TaskClaim) -> bool {
    match context.storage.ledger.tasks(Some(&claimed.conversation), 2).await {
        Ok(tasks) => tasks.iter().all(|task| task.id == claimed.claim.task),
        Err(error) => {
            context.storage.trouble(&error);
            false
        }
    }
}

/// A restart finds it in the ledger.
async fn store(context: &Context, claimed: &TaskClaim, earlier: &[Inbound]) {
    let arrival =
        |inbound: &Inbound| Arrival::new(inbound.clone(), Disposition::Earlier(claimed.claim.task));
    let fuse = Fuse {
        permits: 0,
        instance: context.runtime.instance.clone(),
        now: context.runtime.clock.now(),
    };
    let batch = earlier.iter().map(arrival).collect();
    if let Err(error) = context.storage.ledger.accept(batch, None, fuse).await {
        context.storage.trouble(&error);
    }
}
