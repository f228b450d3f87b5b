//! Whether a tap in private is on the very message that shows what its button is for.

use selkie_channel_core::{Audience, Inbound, What};

use crate::delivery::context::Context;
use selkie_domain::ids::OutboundId;

/// What who taps a button under another message reads.
pub const NOT_HERE: &str = "This button no longer works.";

/// Whether a tap fits what was said. What names no message, and what has no receipt yet, fits. `None` when the
/// daemon stops.
pub async fn fits(context: &Context, inbound: &Inbound, said: OutboundId) -> Option<bool> {
    let is_private_tap =
        matches!(inbound.what, What::Tap { .. }) && inbound.audience == Audience::Direct;
    let Some(message) = inbound.message.as_ref().filter(|_| is_private_tap) else {
        return Some(true);
    };
    context.storage.insist(|ledger| ledger.ends_in(said, message)).await
}
