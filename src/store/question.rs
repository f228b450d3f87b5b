//! Questions to people: asked when a task is parked, answered once, by who was asked.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, ConversationId, Inbound, MessageRef};
use serde::Serialize;

use crate::arrival::Arrival;
use crate::delivery::{Draft, QueuedOutbound};
use crate::error::Result;
use selkie_domain::ids::{InboxId, OutboundId, TaskId};
use selkie_domain::question::{Ask, Person, QuestionResult, QuestionState};
use selkie_domain::task::Lane;

/// Questions to people.
#[async_trait]
pub trait Questions: Send + Sync {
    /// Returns the question with this key; `None` when there never was one.
    async fn question(&self, account: &AccountId, key: &str) -> Result<Option<QuestionRow>>;

    /// Returns the question that a message was taken for the answer of when it was stored.
    async fn question_of(&self, row: InboxId) -> Result<Option<QuestionRow>>;

    /// Carries out a tap or an answer, once: what it does to its question, the task that goes on, and
    /// what is said. Durable. `Ok(None)` when the row was carried out before.
    async fn answer(&self, row: InboxId, effect: TapEffect) -> Result<Option<TapDone>>;

    /// Answers a question with what its person has typed at the command line: no row stands for it. Not done when
    /// it is not open any more. Durable.
    async fn answer_typed(&self, question: &QuestionRow, given: QuestionResult) -> Result<TapDone>;
}

/// A question to be asked, together with the end of the claim that asks it.
#[derive(Clone, Debug)]
pub struct NewQuestion {
    /// Names it within its account for ever.
    pub key: String,
    /// Who is to answer.
    pub person: Person,
    /// What.
    pub ask: Ask,
    /// Nobody can answer it after this moment.
    pub expires_at: DateTime<Utc>,
    /// How it is said.
    pub draft: Draft,
}

/// A question as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuestionRow {
    /// Its key.
    pub key: String,
    /// Where it was asked.
    pub conversation: ConversationId,
    /// The task that waits for it.
    pub task: TaskId,
    /// Who is to answer.
    pub person: Person,
    /// What.
    pub ask: Ask,
    /// Where it stands.
    pub state: QuestionState,
    /// What is chosen so far, where several may be: ids of choices.
    pub picked: Vec<String>,
    /// The answer.
    pub given: Option<QuestionResult>,
    /// What says it.
    pub outbound: OutboundId,
    /// The message that carries its buttons, when it has arrived.
    pub message: Option<MessageRef>,
    /// Nobody can answer it after this moment.
    pub expires_at: DateTime<Utc>,
}

/// What a tap or an answer does.
#[derive(Clone, Debug)]
pub enum TapEffect {
    /// Nothing: late, foreign, unknown.
    Nothing,
    /// Chooses or lets go one of several.
    Pick {
        /// The question.
        key: String,
        /// What was chosen when the tap was judged; otherwise it is judged again.
        from: Vec<String>,
        /// What is chosen now.
        to: Vec<String>,
        /// The question as it looks now.
        revision: Option<Draft>,
    },
    /// Answers the question.
    Answer {
        /// The question.
        key: String,
        /// The answer.
        given: QuestionResult,
        /// The question's message as it looks from now on.
        revision: Option<Draft>,
        /// What becomes of the message when the question is not open any more.
        otherwise: Option<Box<Arrival>>,
    },
}

/// What a tap or an answer did.
#[derive(Clone, Debug, Default)]
pub struct TapDone {
    /// It did what it was to do: nobody was quicker.
    pub done: bool,
    /// What is said.
    pub queued: Option<QueuedOutbound>,
    /// A lane that has work now.
    pub ready: Option<Lane>,
}

/// A question that its task asked, as its next claim finds it.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionAnswer {
    /// Its row.
    pub question: QuestionRow,
    /// The tap or message that answered it.
    pub by: Option<Inbound>,
}
