//! Events in: what is accepted, what becomes of it, and commands.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, ConversationId, Cursor, Inbound, PersonId};

use crate::arrival::{Arrival, Location, TaskRequest};
use crate::delivery::{Draft, QueuedOutbound};
use crate::error::Result;
use crate::notes::ZoneOf;
use crate::question::QuestionRow;
use crate::work::TaskClaim;
use selkie_domain::effort::Effort;
use selkie_domain::facts::Mode;
use selkie_domain::ids::{InboxId, Instance, TaskId};
use selkie_domain::task::Lane;

/// Events in, claims fused.
#[async_trait]
pub trait Intake: Send + Sync {
    /// Stores a batch with its cursor; rows whose key is known are no-ops. Durable.
    async fn accept(
        &self,
        batch: Vec<Arrival>,
        cursor: Option<Cursor>,
        fuse: Fuse,
    ) -> Result<AcceptResult>;

    /// Makes the task of a cause that is no message, once for each cause, and claims what may start at once.
    /// Durable.
    async fn request(&self, request: TaskRequest, fuse: Fuse) -> Result<RequestResult>;

    /// Returns the cursor of an account and when it last moved.
    async fn cursor(&self, account: &AccountId) -> Result<Option<(Cursor, DateTime<Utc>)>>;

    /// Carries out a command row: its effect and what is said, once. Durable.
    /// `Ok(None)` when the row was carried out before.
    async fn command(&self, row: InboxId, effect: CommandEffect) -> Result<Option<CommandDone>>;

    /// Carries out a command that was typed at the command line: no row stands for it. Durable.
    async fn command_typed(&self, at: Location, effect: CommandEffect) -> Result<CommandDone>;

    /// Ends a task as far as it has come, for who asked it has gone: one that waits or is parked at once, a
    /// running one by its worker; its questions are taken back and what it has not sent yet stays unsaid.
    /// Nothing happens to one that has ended. Durable.
    async fn abandon(&self, task: TaskId) -> Result<CommandDone>;

    /// Returns rows of commands, taps and answers that were stored and not carried out (after a crash),
    /// oldest first.
    async fn open_commands(&self) -> Result<Vec<(InboxId, Inbound)>>;

    /// Says something on the daemon's own account, once for this `key`; `Ok(None)` when it was said.
    async fn say_once(&self, key: &str, draft: Draft) -> Result<Option<QueuedOutbound>>;
}

/// How many tasks `accept` may claim in the same transaction.
#[derive(Clone, Debug)]
pub struct Fuse {
    /// Free worker permits.
    pub permits: usize,
    /// Who claims.
    pub instance: Instance,
    /// Now.
    pub now: DateTime<Utc>,
}

/// What `accept` did.
#[derive(Clone, Debug, Default)]
pub struct AcceptResult {
    /// Rows stored for the first time, in the batch's order.
    pub fresh: Vec<Fresh>,
    /// How many rows were there before.
    pub known: usize,
    /// Tasks claimed in the same transaction.
    pub claimed: Vec<TaskClaim>,
    /// Lanes with waiting work that nobody runs.
    pub ready: Vec<Lane>,
    /// Fresh rows of commands, taps and answers, to be carried out now: commands by
    /// [`Intake::command`], the others by [`super::Questions::answer`].
    pub commands: Vec<(InboxId, Inbound)>,
    /// Running tasks that a fresh message interrupts, or whose messages were taken back: poke their
    /// workers.
    pub stopping: Vec<TaskId>,
    /// Running tasks whose requests a fresh message joins: tell their workers.
    pub joining: Vec<JoinedRequest>,
    /// Conversations where fresh lines wait for the gate.
    pub gated: Vec<ConversationId>,
    /// The earliest `not_before` among new tasks.
    pub wake_at: Option<DateTime<Utc>>,
    /// Messages were taken back: their files are to go.
    pub unsent: bool,
}

/// A running task whose request a message has joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedRequest {
    /// The task.
    pub task: TaskId,
    /// Until when more is expected.
    pub until: Option<DateTime<Utc>>,
}

/// What a request came to.
#[derive(Clone, Debug)]
pub struct RequestResult {
    /// The task of the cause.
    pub task: TaskId,
    /// It was not there before.
    pub is_new: bool,
    /// [`NewTask::most_waiting`](crate::NewTask) is reached: no task was made, and `task` names none.
    pub is_full: bool,
    /// What was claimed in the same transaction.
    pub claimed: Option<TaskClaim>,
    /// Its lane, when work waits there that nobody runs.
    pub ready: Option<Lane>,
    /// Running tasks that it interrupts: poke their workers.
    pub stopping: Vec<TaskId>,
    /// Until when it waits.
    pub wake_at: Option<DateTime<Utc>>,
}

/// A row stored for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fresh {
    /// Where in the batch its arrival stood, from 0.
    pub index: usize,
    /// The row.
    pub row: InboxId,
}

/// The effect of a command.
#[derive(Clone, Debug)]
pub enum CommandEffect {
    /// Nothing but the answer.
    Say(Option<Draft>),
    /// Ends what runs, is parked or unsent in the conversation; answers by what it found.
    Stop {
        /// Only what this person asked for; `None` for everything.
        by: Option<PersonId>,
        /// The threads of the place in which the same is ended.
        also: Vec<ConversationId>,
        /// What is said.
        answers: Box<StopAnswers>,
    },
    /// Raises the epoch, ends plan mode and stops the running task. Waiting tasks stay.
    Reset(Draft),
    /// Ends everything in every conversation of the place, waiting tasks, too, begins them anew, and takes away for good what
    /// was said there until now: nobody reads it any more, and its rows go soon.
    Forget(Option<Draft>),
    /// Sets the folder that the row's place works in; `None` takes it back.
    Workspace(Option<String>, Option<Draft>),
    /// Sets the time zone of a person or a place.
    Zone(ZoneOf, Option<Draft>),
    /// Changes what the conversation is in; a running task learns it as the answer of its next write.
    Mode(Mode, Option<Draft>),
    /// Sets which model or agent answers in the conversation, or how hard it thinks, from its next claim on.
    Choose(ChosenHere, Option<Draft>),
}

/// What an owner sets for a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenHere {
    /// The profile that answers; nothing takes it back.
    Model(Option<String>),
    /// How hard it thinks; nothing takes it back.
    Effort(Option<Effort>),
    /// The agent that answers; nothing takes it back.
    Agent(Option<String>),
}

/// The answers to a stop, of which one is given.
#[derive(Clone, Debug)]
pub struct StopAnswers {
    /// Something was stopped.
    pub stopped: Draft,
    /// What could be stopped is somebody else's.
    pub refused: Draft,
    /// The last task ended just before.
    pub finished: Draft,
    /// There was nothing to stop.
    pub idle: Draft,
}

/// What a command did.
#[derive(Clone, Debug, Default)]
pub struct CommandDone {
    /// Tasks whose stop was requested: poke their workers.
    pub stopping: Vec<TaskId>,
    /// What is said.
    pub queued: Option<QueuedOutbound>,
    /// Questions that are taken back.
    pub withdrawn: Vec<QuestionRow>,
}
