//! Approvals of calls: asked when a task is parked, decided once, consumed by the write that starts the call.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, ConversationId, Inbound, MessageRef, PersonId};
use serde::{Deserialize, Serialize};

use crate::delivery::{Draft, QueuedOutbound};
use crate::error::Result;
use selkie_domain::approval::{ApprovalState, Mute, Request, Verdict};
use selkie_domain::ids::{InboxId, OutboundId, TaskId};
use selkie_domain::question::Person;
use selkie_domain::task::{Claim, Lane};

/// Approvals of calls.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// Returns the approval with this key; `None` when there never was one.
    async fn approval(&self, key: &str) -> Result<Option<ApprovalRow>>;

    /// Returns the approval that a person's words decide, by its code or as a reply to its message.
    async fn approval_meant(&self, inbound: &Inbound) -> Result<Option<ApprovalRow>>;

    /// Returns requests that are settled and whose messages do not say so: of those who were asked, at least one has
    /// the message, or is to get it.
    async fn unshown_approvals(&self) -> Result<Vec<ApprovalRow>>;

    /// Lists the requests with which somebody was muted who still is, the oldest first, at most a hundred.
    async fn muted(&self) -> Result<Vec<ApprovalRow>>;

    /// Decides an open approval whose time is not over, and wakes its task; or lifts what was muted with one. A tap or answer is carried out
    /// with it, once: `Ok(None)` when it was before. Durable.
    async fn decide(&self, decision: Decision) -> Result<Option<DecisionResult>>;

    /// Asks in the middle of a call, whose task keeps its claim: the request, and what asks for it. `None` when the claim
    /// is lost. Where nobody is asked, the row says why. Durable.
    async fn seek_in_call(
        &self,
        claim: &Claim,
        sought: ApprovalRequest,
    ) -> Result<Option<Vec<QueuedOutbound>>>;

    /// Ends a request that was made in the middle of a call, as far as nobody was quicker; returns how it stands then.
    async fn end_in_call(&self, key: &str, end: InCallEnd) -> Result<Option<ApprovalRow>>;
}

/// How a request ends that was made in the middle of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InCallEnd {
    /// It was approved in time, and what it is for begins.
    Used,
    /// Nobody has decided in time.
    Late,
    /// The call has ended before.
    CallEnded,
}

/// An approval that is sought, together with the end of the claim that seeks it or in the middle of a call.
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    /// Names it for ever.
    pub key: String,
    /// What for.
    pub request: Request,
    /// Who asked for what needs it; `None` when nobody did just now.
    pub requester: Option<Person>,
    /// Each who can give it, and how they are asked. With nobody it counts as refused at once.
    pub asked: Vec<(Person, Draft)>,
    /// Why nobody is asked, where that is known.
    pub unasked: Option<String>,
    /// Nobody can decide after this moment.
    pub expires_at: DateTime<Utc>,
}

/// An approval as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRow {
    /// Its key.
    pub key: String,
    /// The task that waits for it.
    pub task: TaskId,
    /// Where that task speaks.
    pub conversation: ConversationId,
    /// Who asked for what needs it.
    pub requester: Option<Person>,
    /// What for.
    pub request: Request,
    /// Where it stands.
    pub state: ApprovalState,
    /// Why, when nobody decided, when it was not done, or when it was begun and has failed.
    pub why: Option<String>,
    /// Who decided, by the name that people know; empty for nobody.
    pub by: String,
    /// Who was asked.
    pub asked: Vec<AskedPerson>,
    /// Nobody can decide after this moment.
    pub expires_at: DateTime<Utc>,
    /// Whom who decided has muted with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mute: Option<Mute>,
}

impl ApprovalRow {
    /// Whether the approved call was begun and has failed.
    pub fn has_failed(&self) -> bool {
        self.state == ApprovalState::Consumed && self.why.is_some()
    }

    /// Returns the key of the notice that shows one of those who were asked what came of it. The store knows it, too.
    pub fn notice(&self, asked: &AskedPerson) -> String {
        let state = if self.has_failed() { "failed" } else { self.state.name() };
        format!("approval:{}:{}:{state}", self.key, asked.outbound.0)
    }
}

/// One of those who can decide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedPerson {
    /// Who.
    pub person: Person,
    /// Where they were asked.
    pub conversation: ConversationId,
    /// What asked them.
    pub outbound: OutboundId,
    /// The message that carries the buttons, when it has arrived.
    pub message: Option<MessageRef>,
    /// All of it that comes before the buttons has arrived: half a request decides nothing.
    pub whole: bool,
}

/// What somebody decides.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The tap or message that says it; `None` at the machine itself.
    pub row: Option<InboxId>,
    /// The approval; `None` when the row decides nothing.
    pub key: Option<String>,
    /// What.
    pub verdict: Verdict,
    /// Who: one of those who were asked, by this account. `None` for whoever owns the machine.
    pub by: Option<(AccountId, PersonId)>,
    /// The name that people know.
    pub name: String,
}

/// What became of a decision.
#[derive(Clone, Debug, Default)]
pub struct DecisionResult {
    /// It counts: nobody was quicker, and it was in time.
    pub done: bool,
    /// A lane that has work now.
    pub ready: Option<Lane>,
}
