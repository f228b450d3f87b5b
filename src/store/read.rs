//! Read ports: for the console, `trace`, lists. Never on the hot path.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{
    Attachment, ConversationId, Inbound, MessageRef, Outbound, Part, PlaceId, Quote, Receipt,
};
use serde::{Deserialize, Serialize};

use crate::approval::ApprovalRow;
use crate::delivery::DeliveryState;
use crate::error::Result;
use crate::question::QuestionRow;
use crate::spoken::{NamedSchedule, SpokenFor, Utterance};
use crate::work::WritingCall;
use selkie_domain::approval::ApprovalState;
use selkie_domain::facts::Facts;
use selkie_domain::ids::{InboxId, OutboundId, PartId, TaskId};
use selkie_domain::provenance::Provenance;
use selkie_domain::question::Person;
use selkie_domain::spoken::SpokenWords;
use selkie_domain::task::TaskState;
use selkie_domain::transcript::Item;
use selkie_domain::usage::Usage;
use selkie_domain::words::Words;

/// Reads what is there.
#[async_trait]
pub trait Reader: Send + Sync {
    /// Lists conversations, the last active first.
    async fn conversations(&self, limit: usize) -> Result<Vec<ConversationRow>>;

    /// Lists a conversation's tasks (all conversations' when `None`), newest first.
    async fn tasks(&self, of: Option<&ConversationId>, limit: usize) -> Result<Vec<TaskRow>>;

    /// Returns what was said in a conversation's newest finished tasks, at most so many, oldest first: since it was
    /// last begun afresh, or whatever is kept. What tools answered is left out.
    async fn said(&self, of: &ConversationId, whole: bool, limit: usize) -> Result<Vec<SaidTask>>;

    /// Returns the newest messages of a conversation that stand in no transcript of a finished task, at most so many,
    /// oldest first: commands, answers to questions, and what no task has answered.
    async fn unanswered(&self, of: &ConversationId, limit: usize)
    -> Result<Vec<UnansweredMessage>>;

    /// Returns the newest of what the bot has said in a conversation and that no transcript of a task there holds, at
    /// most so many, oldest first.
    async fn spoken(&self, of: &ConversationId, limit: usize) -> Result<Vec<Utterance>>;

    /// Returns one task with its transcript.
    async fn task(&self, id: TaskId) -> Result<Option<TaskDetail>>;

    /// Returns the chain from platform event, a task's own words, or what was said without either, to receipts:
    /// `message` is a task id, the key of an event or of a task's cause, or the platform's id of the message or of one
    /// that was said about it, as people see it.
    async fn trace(&self, message: &str) -> Result<Vec<Chain>>;

    /// Returns what is stored of a message of a conversation, as somebody who quotes it sees it: ours by its
    /// receipt, others' by their rows.
    async fn quoted(
        &self,
        conversation: &ConversationId,
        message: &MessageRef,
    ) -> Result<Option<Quote>>;

    /// Returns what brought the files of a message of a conversation's place, and then what else was sent together with it
    /// (an album), in the platform's order.
    async fn files_of(
        &self,
        conversation: &ConversationId,
        message: &MessageRef,
    ) -> Result<Vec<StoredFiles>>;

    /// Returns with which level a message of ours in a conversation was written, and for whom: of a task's the highest
    /// that the task has written with, and the least trust of those whom it answered. `None` when no message of ours is known by this id.
    async fn provenance_of(
        &self,
        conversation: &ConversationId,
        message: &MessageRef,
    ) -> Result<Option<Provenance>>;

    /// Counts rows by state.
    async fn counts(&self) -> Result<Counts>;

    /// Says what is due by itself at a moment, whatever it is, and when something is next.
    async fn upcoming(&self, now: DateTime<Utc>) -> Result<UpcomingWork>;

    /// Returns what the tasks that were made since then have used: of the newest [`MAX_USED`] at most.
    async fn used_since(&self, since: DateTime<Utc>) -> Result<TaskUsage>;

    /// Counts one conversation for `/status`.
    async fn status(&self, conversation: &ConversationId) -> Result<ConversationStatus>;

    /// Lists the questions that are open in a conversation (in all when `None`), oldest first.
    async fn open_questions(&self, of: Option<&ConversationId>) -> Result<Vec<QuestionRow>>;

    /// Lists the approvals that are open, oldest first; those of one task in any state.
    async fn approvals(&self, of: Option<TaskId>) -> Result<Vec<ApprovalRow>>;

    /// Lists places that go on under another id, old and new: every old id with the newest one.
    async fn moved_places(&self) -> Result<Vec<(PlaceId, PlaceId)>>;

    /// Checks that the store can be read and written.
    async fn healthy(&self) -> Result<()>;
}

/// The files of a message, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFiles {
    /// Its row: the folder of the cache where they lie, once they were fetched, is named after it.
    pub row: InboxId,
    /// The message.
    pub message: MessageRef,
    /// What came with it; never empty.
    pub attachments: Vec<Attachment>,
}

/// A conversation in a list.
#[derive(Clone, Debug, Serialize)]
pub struct ConversationRow {
    /// Its id.
    pub id: ConversationId,
    /// Its title, as the platform shows it.
    pub title: String,
    /// Raised by `/reset`.
    pub epoch: i64,
    /// Why the bot may not speak there, if so.
    pub closed: Option<String>,
    /// Tasks so far.
    pub tasks: u64,
    /// When something last happened.
    pub last_at: Option<DateTime<Utc>>,
}

/// A task in a list.
#[derive(Clone, Debug, Serialize)]
pub struct TaskRow {
    /// Its id.
    pub id: TaskId,
    /// Where it speaks.
    pub conversation: ConversationId,
    /// Where it stands.
    pub state: TaskState,
    /// Why it ended, when it did not end well.
    pub why: Option<String>,
    /// How often it was claimed.
    pub attempts: u32,
    /// What it cost.
    pub usage: Usage,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// The text it answers, at most 200 characters.
    pub asked: String,
    /// Whose text that is, as long as it is kept.
    pub who: Option<Person>,
    /// The conversation's title, as the platform shows it; often empty.
    pub title: String,
    /// The schedule that came due, where the text is its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<NamedSchedule>,
}

/// What was said in a finished task.
#[derive(Clone, Debug)]
pub struct SaidTask {
    /// Its id.
    pub id: TaskId,
    /// How often the conversation had been begun afresh.
    pub epoch: i64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Its transcript, without what tools answered.
    pub items: Vec<Item>,
    /// The schedule whose words it was to read.
    pub schedule: Option<NamedSchedule>,
}

/// A message that stands in no transcript of a finished task.
#[derive(Clone, Debug)]
pub struct UnansweredMessage {
    /// Its row.
    pub inbox: InboxId,
    /// When it was written, or else stored: some platforms tell no time.
    pub at: DateTime<Utc>,
    /// When it was stored.
    pub stored_at: DateTime<Utc>,
    /// Why, in words; `None` for what answers a question.
    pub why: Option<String>,
    /// What was heard.
    pub heard: Inbound,
    /// What was understood of its voice.
    pub spoken: Vec<SpokenWords>,
}

/// A task with its story.
#[derive(Clone, Debug, Serialize)]
pub struct TaskDetail {
    /// The row.
    #[serde(flatten)]
    pub row: TaskRow,
    /// What shape looked at.
    pub facts: Facts,
    /// The run's header, as stored.
    pub header: Option<serde_json::Value>,
    /// What was said.
    pub transcript: Vec<Item>,
    /// Which items a model has written, and what its calls have used; of old tasks none.
    pub model_calls: Vec<WritingCall>,
    /// Which answers its provider gets back in its own form: as long as the task is not over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own_forms: Vec<KeptForm>,
}

/// An answer in its provider's own form, without a word of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptForm {
    /// The step whose answer it is: `c2`.
    pub step: String,
    /// How large it is.
    pub bytes: u64,
}

/// The whole chain of one message, or of one task that came from none.
#[derive(Clone, Debug, Serialize)]
pub struct Chain {
    /// What it begins with.
    #[serde(flatten)]
    pub origin: Origin,
    /// When that was stored.
    pub stored_at: DateTime<Utc>,
    /// The task it started or joined.
    pub task: Option<TaskDetail>,
    /// What the task asked approval for, and what became of it; the oldest first.
    pub approvals: Vec<ApprovalChain>,
    /// The agents that the task has had work, in the order in which they were begun.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentChain>,
    /// What was said because of it.
    pub outbounds: Vec<OutboundChain>,
}

/// What an agent did for a task.
#[derive(Clone, Debug, Serialize)]
pub struct AgentChain {
    /// Its name.
    pub name: String,
    /// When it began.
    pub started_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Its task.
    pub task: TaskDetail,
    /// What it asked approval for, and what became of it; the oldest first.
    pub approvals: Vec<ApprovalChain>,
}

/// A request for approval, without what it could be given by.
#[derive(Clone, Debug, Serialize)]
pub struct ApprovalChain {
    /// The call it is for.
    pub call: String,
    /// That call's tool.
    pub tool: String,
    /// Who asked for what needs it.
    pub requester: Option<Person>,
    /// When it was asked for.
    pub asked_at: DateTime<Utc>,
    /// Where it stands.
    pub state: ApprovalState,
    /// Why, when nobody decided.
    pub why: Option<String>,
    /// Who decided, by the name that people know; empty for nobody.
    pub by: String,
    /// When it was decided, or came to nothing.
    pub settled_at: Option<DateTime<Utc>>,
}

impl Chain {
    /// Returns the event that it begins with.
    pub fn event(&self) -> Option<&Event> {
        match &self.origin {
            Origin::Event(event) => Some(event),
            Origin::Words { .. } | Origin::Spoken { .. } => None,
        }
    }
}

/// What a chain begins with.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Origin {
    /// A platform's event.
    Event(Box<Event>),
    /// A task's own words.
    Words {
        /// The key of the task's cause.
        cause: String,
        /// What it is to read.
        words: Words,
        /// The schedule that came due.
        #[serde(skip_serializing_if = "Option::is_none")]
        schedule: Option<NamedSchedule>,
    },
    /// What was said for neither a message nor a task.
    Spoken {
        /// Why it was said.
        spoken: SpokenFor,
        /// The conversation's title, as the platform shows it; often empty.
        title: String,
    },
}

/// A platform's event, as it is stored.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// The row of the inbox.
    pub inbox: InboxId,
    /// What became of it: `task`, `command`, `ignored: not_allowed`.
    pub disposition: String,
    /// What came.
    pub inbound: Inbound,
}

/// Something said, down to the receipts.
#[derive(Clone, Debug, Serialize)]
pub struct OutboundChain {
    /// The row.
    pub id: OutboundId,
    /// What.
    pub outbound: Outbound,
    /// Where it stands.
    pub standing: DeliveryState,
    /// Its calls.
    pub parts: Vec<PartChain>,
}

/// One call and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct PartChain {
    /// The row.
    pub id: PartId,
    /// `queued`, `held`, `sending`, `sent`, `refused`, `unclear`, `repeated`, `cancelled`, `expired`.
    pub state: String,
    /// The call, until it is settled: then what was said stands with its outbound alone.
    pub part: Option<Part>,
    /// Attempts made.
    pub attempts: u32,
    /// The platform's proof.
    pub receipt: Option<Receipt>,
    /// Why it stands as it stands.
    pub reason: Option<String>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// What comes by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpcomingWork {
    /// Something is due, or under way.
    pub due: bool,
    /// When something is next.
    pub next: Option<DateTime<Utc>>,
}

/// So many tasks are looked at for what they have used.
pub const MAX_USED: u64 = 20_000;

/// What tasks have used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskUsage {
    /// How many.
    pub tasks: u64,
    /// Together.
    pub usage: Usage,
}

/// Rows by state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rows the inbox has taken in so far.
    pub inbox: u64,
    /// Waiting tasks.
    pub waiting: u64,
    /// Running tasks.
    pub running: u64,
    /// Parked tasks.
    pub parked: u64,
    /// Queued parts.
    pub queued: u64,
    /// Parts that are with the platform now.
    pub sending: u64,
    /// Unclear parts that are still looked into.
    pub unclear: u64,
}

/// A conversation's numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ConversationStatus {
    /// The running task and since when.
    pub running: Option<(TaskId, DateTime<Utc>)>,
    /// Waiting tasks.
    pub waiting: u64,
    /// Tasks of this epoch.
    pub tasks: u64,
    /// What this epoch cost.
    pub usage: Usage,
}
