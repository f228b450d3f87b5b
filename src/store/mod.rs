//! The ledger: what is written when, and what a crash may cost.
//!
//! The ports are VERBS, each one transaction. "Durable" verbs are synced before they return; "relaxed"
//! ones are committed and visible, survive `kill -9`, and can be lost only with the power. The law, the
//! states and the write plan stand in `src/README.md`; every implementation passes `conformance`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{
    AccountId, ConversationId, Cursor, Inbound, MessageRef, Outbound, Part, PlaceId, Receipt,
};
use serde::{Deserialize, Serialize};

use crate::domain::facts::Facts;
use crate::domain::ids::{Boot, InboxId, OutboundId, PartId, TaskId};
use crate::domain::task::{Claim, Lane, ParkedOn, TaskState};
use crate::domain::transcript::Item;
use crate::domain::usage::Usage;

#[cfg(test)]
pub mod conformance;
pub mod read;
pub mod sqlite;

/// Opens the ledger of a state folder: `selkie.db`, and `selkie.lock` that keeps others out.
///
/// # Errors
/// See [`sqlite::Sqlite::open`].
pub fn open(state_dir: &Path) -> Result<Arc<dyn Ledger>> {
    let options = sqlite::Options::default();
    Ok(Arc::new(sqlite::Sqlite::open(&state_dir.join("selkie.db"), options)?))
}

/// Why a verb did nothing. Each variant says what the caller does next.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing was written (disk full, read-only, I/O): refuse to acknowledge and to act; try later.
    #[error("the store cannot write: {0}")]
    Broken(String),
    /// The database was written by a newer selkie: do not start.
    #[error(
        "the database is of version {found}, this selkie knows {known}: run the newer selkie, or restore the backup made before the upgrade"
    )]
    Newer {
        /// The file's version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// Another process holds the store: do not start.
    #[error("{0}")]
    Held(String),
    /// A stored row cannot be read: a defect, the row is named.
    #[error("a stored row cannot be read: {0}")]
    Corrupt(String),
}

/// What a verb answers.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Events in, claims fused.
#[async_trait]
pub trait Intake: Send + Sync {
    /// Stores a batch with its cursor; rows whose key is known are no-ops. Durable.
    async fn accept(
        &self,
        batch: Vec<Arrival>,
        cursor: Option<Cursor>,
        fuse: Fuse,
    ) -> Result<Accepted>;

    /// Returns the cursor of an account and when it last moved.
    async fn cursor(&self, account: &AccountId) -> Result<Option<(Cursor, DateTime<Utc>)>>;

    /// Carries out a command row: its effect and what is said, once. Durable.
    /// `Ok(None)` when the row was carried out before.
    async fn command(&self, row: InboxId, effect: CommandEffect) -> Result<Option<CommandDone>>;

    /// Returns command rows that were stored and not carried out (after a crash), oldest first.
    async fn open_commands(&self) -> Result<Vec<(InboxId, Inbound)>>;

    /// Says something on the daemon's own account, once for this `key`; `Ok(None)` when it was said.
    async fn say_once(&self, key: &str, draft: Draft) -> Result<Option<Queued>>;
}

/// How many tasks `accept` may claim in the same transaction.
#[derive(Clone, Debug)]
pub struct Fuse {
    /// Free worker permits.
    pub permits: usize,
    /// Who claims.
    pub boot: Boot,
    /// Now.
    pub now: DateTime<Utc>,
}

/// One event and what becomes of it.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The event.
    pub inbound: Inbound,
    /// What becomes of it.
    pub disposition: Disposition,
}

/// What becomes of an event.
#[derive(Clone, Debug)]
pub enum Disposition {
    /// It starts a task (or joins the waiting task of its album).
    Task(NewTask),
    /// It is carried out at once by [`Intake::command`].
    Command,
    /// It changes the text of a waiting message; of a running or done one it is only kept.
    Edit,
    /// Kept as context for a later task.
    Context,
    /// Kept, and nothing comes of it.
    Ignored(&'static str),
    /// Kept as it came.
    Unparsed,
    /// The place goes on under another id: its conversations become aliases of the new ones.
    Moved(PlaceId),
    /// The conversation is closed: queued parts are refused.
    Closed(String),
    /// The conversation is open (again).
    Opened,
}

/// A task to be made.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// Unique: pushing the same cause twice makes one task. `<inbox key>`, `schedule:<id>@<time>`.
    pub cause: String,
    /// What shape will look at.
    pub facts: Facts,
    /// Not to be claimed before (an album gathers its pictures).
    pub not_before: Option<DateTime<Utc>>,
}

/// What `accept` did.
#[derive(Clone, Debug, Default)]
pub struct Accepted {
    /// Rows stored for the first time, with their disposition's name, in the batch's order.
    pub fresh: Vec<InboxId>,
    /// How many rows were there before.
    pub known: usize,
    /// Tasks claimed in the same transaction.
    pub claimed: Vec<Claimed>,
    /// Lanes with waiting work that nobody runs.
    pub ready: Vec<Lane>,
    /// Fresh command rows, to be carried out now.
    pub commands: Vec<(InboxId, Inbound)>,
    /// The earliest `not_before` among new tasks.
    pub wake_at: Option<DateTime<Utc>>,
}

/// A claimed task with all that its worker needs: the hot path reads nothing else.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The proof.
    pub claim: Claim,
    /// The conversation it speaks in.
    pub conversation: ConversationId,
    /// The place that owns the conversation.
    pub place: PlaceId,
    /// The conversation's row number: names its folder in the cache.
    pub conversation_row: i64,
    /// How often it was claimed, this time included.
    pub attempts: u32,
    /// The facts it was made with.
    pub facts: Facts,
    /// The messages it answers, oldest first.
    pub heard: Vec<(InboxId, Inbound)>,
    /// Untriggered lines of the conversation since the last task, oldest first.
    pub context: Vec<Inbound>,
    /// The run's header as last stored; absent at the first claim.
    pub header: Option<String>,
    /// The task's own transcript so far.
    pub transcript: Vec<Item>,
    /// The newest finished tasks of this conversation and epoch, oldest first, each with its items.
    pub history: Vec<Vec<Item>>,
    /// Answers of this conversation that were not delivered since the last task: what they said.
    pub undelivered: Vec<String>,
}

/// The effect of a command.
#[derive(Clone, Debug)]
pub enum CommandEffect {
    /// Nothing but the answer.
    Say(Option<Draft>),
    /// Ends the conversation's running task and its unsent parts; answers one or the other.
    Stop {
        /// When something was stopped.
        stopped: Draft,
        /// When there was nothing to stop.
        idle: Draft,
    },
    /// Raises the epoch and stops the running task. Waiting tasks stay.
    Reset(Draft),
}

/// What a command did.
#[derive(Clone, Debug, Default)]
pub struct CommandDone {
    /// Tasks whose stop was requested: poke their workers.
    pub stopping: Vec<TaskId>,
    /// What is said.
    pub queued: Option<Queued>,
}

/// Something to say, rendered.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What.
    pub outbound: Outbound,
    /// Its calls, from the channel's `render`.
    pub parts: Vec<Part>,
    /// Worthless after this moment: expires visibly.
    pub expires_at: Option<DateTime<Utc>>,
}

/// A stored outbound with its queued parts: hand them to the courier.
#[derive(Clone, Debug)]
pub struct Queued {
    /// The row.
    pub outbound: OutboundId,
    /// Its parts, in order.
    pub parts: Vec<DuePart>,
}

/// A part that waits to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct DuePart {
    /// The row.
    pub id: PartId,
    /// Its outbound.
    pub outbound: OutboundId,
    /// The platform call.
    pub part: Part,
    /// Attempts made so far.
    pub attempts: u32,
    /// Not before this moment.
    pub not_before: Option<DateTime<Utc>>,
    /// Not after this moment.
    pub expires_at: Option<DateTime<Utc>>,
    /// An attempt is unclear: at `not_before` look it up, repeat it or mark it, by its channel's rule.
    pub unclear: bool,
    /// It answers the conversation that asked (only such text may be repeated with a mark).
    pub answer: bool,
}

/// Claims, steps, ends.
#[async_trait]
pub trait Work: Send + Sync {
    /// Returns lanes with work that may start at `now` and that nobody runs, oldest first.
    async fn ready(&self, now: DateTime<Utc>, limit: usize) -> Result<Vec<Lane>>;

    /// Returns when the next waiting or parked task becomes claimable, if any has to wait for a time.
    async fn next_wake(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>>;

    /// Locks the lane and takes its oldest waiting task by the platform's order. Relaxed.
    async fn claim(&self, lane: &Lane, boot: &Boot, now: DateTime<Utc>) -> Result<Option<Claimed>>;

    /// Writes what a run has come to, under its claim.
    async fn commit(&self, claim: &Claim, advance: Advance) -> Result<Committed>;

    /// Stores what a speaking tool says, keyed by task and call: the second time it answers with what
    /// became of the first. Durable.
    async fn say(&self, claim: &Claim, call: &str, draft: Draft) -> Result<Said>;

    /// Ends every claim of other boots and returns how many tasks went back to waiting. At start.
    async fn reclaim(&self, boot: &Boot, now: DateTime<Utc>) -> Result<u64>;
}

/// What a run has come to.
#[derive(Clone, Debug)]
pub enum Advance {
    /// A step: append and go on. Durable when a started call could have an effect.
    Step {
        /// New transcript items.
        append: Vec<Item>,
        /// The run's header.
        header: String,
        /// The facts, when they changed.
        facts: Option<Facts>,
        /// What this step cost.
        usage: Usage,
        /// Synced before this returns.
        durable: bool,
    },
    /// Wait for a person, a child or a time: gives back lane and worker. Durable.
    Park {
        /// New transcript items.
        append: Vec<Item>,
        /// The run's header.
        header: String,
        /// What is waited for.
        on: ParkedOn,
        /// When to wake at the latest.
        wake_at: Option<DateTime<Utc>>,
        /// What this step cost.
        usage: Usage,
    },
    /// The end: the answer's rows, the end of the claim and the lane's next task in one. Durable.
    Finish {
        /// New transcript items.
        append: Vec<Item>,
        /// The run's header.
        header: String,
        /// How it ended.
        end: End,
        /// What is said.
        say: Vec<Draft>,
        /// What the last step cost.
        usage: Usage,
        /// The worker would take the lane's next task at once.
        hand_over: bool,
        /// Now.
        now: DateTime<Utc>,
    },
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum End {
    /// Answered.
    Done,
    /// With an honest line.
    Failed {
        /// Why.
        why: String,
    },
    /// By a person.
    Stopped,
}

impl End {
    /// Returns the state of a task that ended so.
    pub const fn state(&self) -> TaskState {
        match self {
            Self::Done => TaskState::Done,
            Self::Failed { .. } => TaskState::Failed,
            Self::Stopped => TaskState::Stopped,
        }
    }
}

/// What `commit` answers.
#[derive(Clone, Debug)]
pub enum Committed {
    /// Written; go on.
    Continue {
        /// A person wants this task to end.
        stop: bool,
    },
    /// The claim is not ours any more: nothing was written, cancel the task.
    Lost,
    /// Written; the claim has ended.
    Ended {
        /// What is to be sent.
        queued: Vec<Queued>,
        /// The lane's next task, claimed.
        next: Option<Box<Claimed>>,
    },
}

/// What became of something said.
#[derive(Clone, Debug)]
pub enum Said {
    /// Stored now: hand it to the courier and wait for its receipt.
    New(Queued),
    /// Stored before: this is where it stands.
    Known(OutboundId, Standing),
    /// The claim is not ours any more.
    Lost,
}

/// Where an outbound stands, from its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// Parts are still to be sent.
    Open,
    /// All parts arrived.
    Delivered {
        /// The id of the first message.
        message: Option<MessageRef>,
    },
    /// Some arrived, and one was refused.
    Partly {
        /// In the platform's words.
        reason: String,
    },
    /// None arrived.
    Refused {
        /// In the platform's words.
        reason: String,
    },
    /// No answer proves what became of it.
    Unclear,
    /// Withdrawn before it was sent.
    Cancelled,
    /// Its time had passed.
    Expired,
}

/// Parts out, receipts in.
#[async_trait]
pub trait Delivery: Send + Sync {
    /// Returns the unsent parts of an account in order of rows: at start. Marks of dead boots have
    /// become unclear.
    async fn due(&self, account: &AccountId, boot: &Boot) -> Result<Vec<DuePart>>;

    /// Marks a part as being sent. Durable. `false` when it is not to be sent any more.
    async fn sending(&self, part: PartId, boot: &Boot) -> Result<bool>;

    /// Stores what came of an attempt. Relaxed.
    async fn settle(&self, part: PartId, outcome: Outcome) -> Result<Standing>;

    /// Stores a penalty, so that a restart keeps it. Relaxed.
    async fn penalty(&self, account: &AccountId, scope: &str, until: DateTime<Utc>) -> Result<()>;

    /// Returns the penalties of an account that are not over.
    async fn penalties(
        &self,
        account: &AccountId,
        now: DateTime<Utc>,
    ) -> Result<Vec<(String, DateTime<Utc>)>>;
}

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It arrived.
    Sent(Receipt),
    /// Not sent: try again at this moment.
    Retry {
        /// When.
        at: DateTime<Utc>,
        /// Why.
        why: String,
    },
    /// Never will.
    Refused {
        /// In the platform's words.
        reason: String,
        /// Close the conversation, refuse all that is queued for it.
        close: bool,
    },
    /// No proof; decide at this moment.
    Unclear {
        /// When to look it up, repeat it or give up.
        decide_at: DateTime<Utc>,
        /// Why.
        why: String,
    },
    /// No proof, and it is left so.
    LeftUnclear,
    /// It went out a second time with a mark: queued again as this part.
    Repeat(Box<Part>),
    /// Its place has moved: alias the place and send this part instead.
    Moved {
        /// The new place.
        to: PlaceId,
        /// The call, readdressed.
        part: Box<Part>,
    },
    /// Its time had passed.
    Expired,
}

/// The conversation's own small records.
#[async_trait]
pub trait Notes: Send + Sync {
    /// Returns the todo list (JSON) of a conversation; `None` when it was never written.
    async fn todos(&self, conversation: &ConversationId) -> Result<Option<String>>;

    /// Replaces the todo list of a conversation. Durable. `/reset` clears it.
    async fn set_todos(&self, conversation: &ConversationId, json: String) -> Result<()>;
}

/// A whole ledger, with its counters.
pub trait Ledger: Intake + Work + Delivery + Notes + read::Read {
    /// How many durable commits were synced (`store_syncs_total`): a plain message costs three when
    /// it comes alone, and less when commits are shared. Syncs while idle and those of checkpoints are
    /// not counted here: they are off the hot path and come when they come.
    fn syncs(&self) -> u64;

    /// How long the oldest verb has been waiting for the writer; a health figure.
    fn lag(&self) -> Duration;
}
