//! Whether an answer can leave in the moment in which it is stored: then one write stores and marks it.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use selkie_channel_core::{Body, Outbound};

use crate::flow::desk::Desk;
use crate::flow::governor::Leave;

impl Desk {
    /// Whether nothing is in the way of it: what waits goes first, and a file that a death of the process leaves
    /// in doubt is not sent again, so that only text may be marked before its courier has it.
    pub(super) fn lets_depart(&self, said: &Outbound) -> bool {
        if self.is_draining() || !matches!(said.body, Body::Text { .. }) {
            return false;
        }
        let Some(account) = self.account(&said.conversation) else { return false };
        if account.channel.ears.is_none() || account.waiting.load(Ordering::Relaxed) > 0 {
            return false;
        }
        let place = account.channel.address.place(&said.conversation);
        let governor = account.governor.lock().unwrap_or_else(PoisonError::into_inner);
        governor.leave(place.key(), self.clock.now()) == Leave::Now
    }
}
