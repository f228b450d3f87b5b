//! The one place where what is said becomes calls of a platform: no secret is seen in them, however it was written.

use selkie_channel_core::{Channel, Outbound, Part, Redactor};

/// Renders what is said, in order; empty when it shows nothing there.
pub(crate) fn rendered(channel: &Channel, outbound: &Outbound, redactor: &Redactor) -> Vec<Part> {
    channel.sender.render(&redactor.said(outbound))
}
