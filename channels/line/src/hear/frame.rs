//! What surrounds an event.

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::{AccountId, Redactor};

use crate::known::RecentMessages;
use crate::names::Names;

/// What surrounds an event.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// Which bot heard it.
    pub account: &'a AccountId,
    /// What was said lately.
    pub known: &'a RecentMessages,
    /// What people are called.
    pub names: &'a Names,
    /// Hides secrets in what is kept raw.
    pub redactor: &'a Redactor,
    /// How long after an event its reply token waits for the answer.
    pub deadline: TimeDelta,
    /// When it was received.
    pub now: DateTime<Utc>,
}
