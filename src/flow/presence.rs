//! "is typing": shown while a task runs longer than a blink, never stored, never in the way of speech.

use std::convert::Infallible;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use selkie_channel_core::{Body, ConversationId, Outbound};

use crate::flow::account::Account;
use crate::flow::desk::Desk;
use crate::flow::governor::Leave;

/// A quicker answer shows no typing.
const BLINK: Duration = Duration::from_millis(500);
/// Platforms forget it after about five seconds.
const AGAIN: Duration = Duration::from_secs(4);

/// Shows typing until it is dropped.
pub(super) async fn show(
    desk: &Desk,
    account: &Account,
    conversation: &ConversationId,
) -> Infallible {
    tokio::time::sleep(BLINK).await;
    let outbound = Outbound::new(conversation.clone(), Body::Typing);
    let parts = account.channel.mouth.render(&outbound);
    let Some(part) = parts.first() else { return std::future::pending().await };
    loop {
        if may_show(desk, account, conversation) {
            // Nobody misses it: whatever came of it, there is nothing to do.
            drop(account.channel.mouth.deliver(part).await);
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Speech goes first: presence takes only a moment that nobody waits for, and is not counted, or the
/// answer would have to wait for it.
fn may_show(desk: &Desk, account: &Account, conversation: &ConversationId) -> bool {
    let governor = account.governor.lock().unwrap_or_else(PoisonError::into_inner);
    if !governor.is_lifted() && account.waiting.load(Ordering::Relaxed) > 0 {
        return false;
    }
    let place = account.channel.address.place(conversation);
    governor.leave(place.key(), desk.clock.now()) == Leave::Now
}
