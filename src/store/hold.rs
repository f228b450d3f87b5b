//! Answers that are held: their right to answer ran out before they were ready, so a button was offered,
//! and whoever taps it brings the right on which they go out.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, Inbound, Outbound, Part};

use crate::delivery::{Draft, QueuedOutbound};
use crate::error::Result;
use selkie_domain::ids::{InboxId, OutboundId, TaskId};
use selkie_domain::task::Claim;

/// Answers that are held.
#[async_trait]
pub trait DeferredReplies: Send + Sync {
    /// Offers a running task's answer by a button: what the task says at its end is held from now on.
    /// Durable. `None` when the claim is lost, or a button was offered before.
    async fn hold(&self, claim: &Claim, offer: Offer) -> Result<Option<QueuedOutbound>>;

    /// Offers the answer of a task that waits in its lane by a button: what it says at its end is held.
    /// `row` is the message that made it. Durable. `None` when it does not wait, or has a button.
    async fn hold_waiting(&self, row: InboxId, offer: Offer) -> Result<Option<QueuedOutbound>>;

    /// Returns the messages that bring a right to answer and whose tasks wait in their lanes without a button. At
    /// start: who has stored them has gone.
    async fn rights_waiting(&self) -> Result<Vec<(InboxId, Inbound)>>;

    /// Returns where the answer behind a button stands; `None` for a key that is no button's of this conversation:
    /// an answer leaves it for nobody.
    async fn held(&self, conversation: &ConversationId, key: &str) -> Result<Option<HeldAnswer>>;

    /// Carries out a tap on a button, once: says something, or lets the answer go. Durable. `Ok(None)`
    /// when the row was carried out before.
    async fn fetch(&self, row: InboxId, effect: FetchEffect) -> Result<Option<FetchResult>>;

    /// Expires held answers whose time has passed, and lets go those whose button never arrived.
    /// Relaxed: done again when it is lost.
    async fn sweep_held(&self, now: DateTime<Utc>) -> Result<Swept>;
}

/// A button by which an answer is fetched.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Names it within its account for ever.
    pub key: String,
    /// How it is said; its right to answer is spent on it.
    pub draft: Draft,
}

/// Where the answer behind a button stands.
#[derive(Clone, Debug, PartialEq)]
pub enum HeldAnswer {
    /// This task has not ended.
    Working(TaskId),
    /// It waits to be fetched: what was said, in order.
    Ready(Vec<(OutboundId, Outbound)>),
    /// It went out, or is on its way.
    Gone,
    /// There is none: stopped, expired, refused.
    Lost,
}

/// What a tap does.
#[derive(Clone, Debug)]
pub enum FetchEffect {
    /// Says something on the tap's own right to answer.
    Say(Option<Box<Draft>>),
    /// Lets the answer go on it.
    Release {
        /// The button.
        key: String,
        /// What is held, rendered for this right to answer.
        parts: Vec<(OutboundId, Vec<Part>)>,
    },
}

/// What a tap did.
#[derive(Clone, Debug, Default)]
pub struct FetchResult {
    /// It did what it was to do: nobody was quicker.
    pub done: bool,
    /// What is to be sent.
    pub queued: Vec<QueuedOutbound>,
}

/// What a sweep did.
#[derive(Clone, Debug, Default)]
pub struct Swept {
    /// Answers that nobody fetched in time.
    pub expired: Vec<OutboundId>,
    /// Answers that go out after all.
    pub released: Vec<QueuedOutbound>,
    /// When the next one expires.
    pub next: Option<DateTime<Utc>>,
}
