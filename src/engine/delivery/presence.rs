//! "is typing": shown while a task runs longer than a blink, never stored, never in the way of speech.

use std::time::Duration;

use selkie_channel_core::locked;
use selkie_channel_core::{Body, ConversationId, Outbound};
use tokio::time::Instant;

use crate::delivery::account::Account;
use crate::delivery::outbox::Outbox;
use crate::delivery::rate_limiter::Leave;
use crate::delivery::rendered::rendered;
use crate::delivery::status_calls::SOON;

/// A quicker answer shows no typing.
const BLINK: Duration = Duration::from_millis(500);
/// Who waits longer is told so by the status message, where there is one.
const MAX_TIME: Duration = Duration::from_secs(120);
/// Platforms forget it after about five seconds.
const AGAIN: Duration = Duration::from_secs(4);

/// Shows typing until it is dropped, and returns when that has lasted so long that nobody believes it.
pub async fn show(outbox: &Outbox, account: &Account, conversation: &ConversationId) {
    let end = Instant::now() + MAX_TIME;
    tokio::time::sleep(BLINK).await;
    let outbound = Outbound::new(conversation.clone(), Body::Typing);
    let parts = rendered(&account.channel, &outbound, &outbox.runtime.redactor);
    let Some(part) = parts.first() else { return tokio::time::sleep_until(end).await };
    while Instant::now() < end {
        let pause = match may_show(outbox, account, conversation) {
            true => {
                // Nobody misses it: whatever came of it, there is nothing to do.
                drop(account.channel.sender.deliver(part).await);
                AGAIN
            }
            // What goes before it is gone in a moment.
            false => SOON,
        };
        tokio::time::sleep(pause).await;
    }
}

/// Speech goes first: presence takes only a moment that nobody waits for, and is not counted, or the
/// answer would have to wait for it.
fn may_show(outbox: &Outbox, account: &Account, conversation: &ConversationId) -> bool {
    let limiter = locked(&account.limiter);
    if !limiter.is_lifted() && account.speech_goes_before(conversation) {
        return false;
    }
    let place = account.channel.address.place(conversation);
    limiter.leave(place.key(), outbox.runtime.clock.now()) == Leave::Now
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use selkie_channel_core::{Channel, Delivery, Lookup, Pace, Part, Receipt, Sender};

    use super::*;
    use crate::flow::testing;

    /// Counts how often it types.
    #[derive(Default)]
    struct Typist(AtomicUsize);

    #[async_trait]
    impl Sender for Typist {
        fn render(&self, _: &Outbound) -> Vec<Part> {
            vec![testing::due(1).part]
        }

        async fn deliver(&self, _: &Part) -> Delivery {
            self.0.fetch_add(1, Ordering::Relaxed);
            Delivery::Sent(Receipt { message: None, note: None, ..Receipt::default() })
        }

        async fn lookup(&self, _: &Part) -> Lookup {
            Lookup::Unknown
        }

        fn marked(&self, part: &Part) -> Part {
            part.clone()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_types_for_ever() {
        let (outbox, typist) = (testing::desk().outbox, Arc::new(Typist::default()));
        let channel = Channel { sender: Arc::clone(&typist) as _, ..testing::other().0 };
        let account = Account::new(channel);
        let conversation = testing::message("tg:1", "").conversation;
        let hour = Duration::from_secs(3_600);
        let shown = tokio::time::timeout(hour, show(&outbox, &account, &conversation)).await;
        assert!(shown.is_ok(), "it ends by itself");
        let times = typist.0.load(Ordering::Relaxed);
        assert!((25..=31).contains(&times), "{times} times");
    }

    #[tokio::test(start_paused = true)]
    async fn what_gave_way_to_an_answer_is_shown_at_once_behind_it() {
        let (outbox, typist) = (testing::desk().outbox, Arc::new(Typist::default()));
        let per_account_second = NonZeroU32::new(20);
        let pace = Pace { per_account_second, ..Pace::LIFTED };
        let sender = Arc::clone(&typist) as _;
        let account = Account::new(Channel { sender, pace, ..testing::other().0 });
        let conversation = testing::message("tg:1", "").conversation;
        account.waiting.store(1, Ordering::SeqCst);
        let left = async {
            tokio::time::sleep(Duration::from_millis(700)).await;
            assert_eq!(typist.0.load(Ordering::Relaxed), 0);
            account.waiting.store(0, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(300)).await;
        };
        tokio::select! {
            () = show(&outbox, &account, &conversation) => {}
            () = left => {}
        }
        assert_eq!(typist.0.load(Ordering::Relaxed), 1);
    }
}
