//! Whether an answer can leave in the moment in which it is stored: then one write stores and marks it.

use std::sync::atomic::Ordering;

use selkie_channel_core::locked;
use selkie_channel_core::{Body, Outbound};

use crate::delivery::outbox::Outbox;
use crate::delivery::rate_limiter::Leave;

impl Outbox {
    /// Whether nothing is in the way of it: what waits goes first, and a file that a death of the process leaves
    /// in doubt is not sent again, so that only text may be marked before its delivery worker has it.
    pub fn lets_depart(&self, said: &Outbound) -> bool {
        if self.runtime.is_draining() || !matches!(said.body, Body::Text { .. }) {
            return false;
        }
        let Some(account) = self.accounts.of(&said.conversation) else { return false };
        if account.channel.receiver.is_none() || account.waiting.load(Ordering::Relaxed) > 0 {
            return false;
        }
        let place = account.channel.address.place(&said.conversation);
        let limiter = locked(&account.limiter);
        limiter.leave(place.key(), self.runtime.now()) == Leave::Now
    }
}
