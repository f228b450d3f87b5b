//! Claims, steps, ends: what a worker asks of the ledger and what it is told.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, Inbound, PlaceId};
use serde::{Deserialize, Serialize};

use crate::approval::{ApprovalRequest, ApprovalRow};
use crate::arrival::{NewChild, TaskRequest};
use crate::delivery::{DeliveryState, Draft, QueuedOutbound};
use crate::error::Result;
use crate::inflow::{Inflow, SeenMarks};
use crate::question::{NewQuestion, QuestionAnswer, QuestionRow};
use selkie_domain::choice::Choice;
use selkie_domain::facts::{Facts, Mode, Trust};
use selkie_domain::ids::{InboxId, Instance, OutboundId, TaskId};
use selkie_domain::own_agent::OwnAgent;
use selkie_domain::own_form::OwnForm;
use selkie_domain::taint::Taint;
use selkie_domain::task::{Claim, Lane, ParkedOn, TaskState};
use selkie_domain::transcript::Item;
use selkie_domain::usage::{ModelCall, Usage};
use selkie_domain::words::Words;

/// Claims, steps, ends.
#[async_trait]
pub trait Work: Send + Sync {
    /// Returns lanes with work that may start at `now` and that nobody runs, oldest first.
    async fn ready(&self, now: DateTime<Utc>, limit: usize) -> Result<Vec<Lane>>;

    /// Returns when the next waiting or parked task becomes claimable, if any has to wait for a time.
    async fn next_wake(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>>;

    /// Locks the lane and takes its oldest waiting task by the platform's order. Relaxed.
    async fn claim(
        &self,
        lane: &Lane,
        instance: &Instance,
        now: DateTime<Utc>,
    ) -> Result<Option<TaskClaim>>;

    /// The same, only when that task is an owner's.
    async fn claim_owners(
        &self,
        lane: &Lane,
        instance: &Instance,
        now: DateTime<Utc>,
    ) -> Result<Option<TaskClaim>>;

    /// Writes what a run has come to, under its claim.
    async fn commit(&self, claim: &Claim, advance: Advance) -> Result<CommitResult>;

    /// Returns what came in behind a claim: tasks that wait in its lane, and edits of its messages.
    async fn inflow(&self, claim: &Claim, now: DateTime<Utc>) -> Result<Inflow>;

    /// Stores what a speaking tool says, keyed by task and call: the second time it answers with what
    /// became of the first. Durable.
    async fn say(&self, claim: &Claim, call: &str, draft: Draft) -> Result<SayResult>;

    /// Stores what a task says in another conversation, keyed by task and key, and that it was said there: it is part of
    /// that conversation's history. Durable.
    async fn relay(&self, claim: &Claim, key: &str, relay: Relay) -> Result<SayResult>;

    /// Notes that a task is about to read what was said in another conversation: what its transcript holds of that goes
    /// when the other is forgotten. Relaxed.
    async fn takes_from(&self, task: TaskId, other: &ConversationId) -> Result<()>;

    /// Returns the lanes of waiting tasks that were claimed at least so often without coming to an end, the
    /// oldest first.
    async fn suspects(&self, attempts: u32) -> Result<Vec<Lane>>;

    /// Takes this claim out of its task's attempts: should the process die now, something else may have
    /// killed it. Relaxed.
    async fn acquit(&self, claim: &Claim) -> Result<()>;

    /// Ends every claim of other boots and returns how many tasks went back to waiting. At start.
    async fn reclaim(&self, instance: &Instance, now: DateTime<Utc>) -> Result<u64>;
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
    /// The same as another advance, whose model has seen what came in: those tasks wait no more, their
    /// messages are this task's, all in one write.
    Absorb {
        /// What it has seen.
        seen: SeenMarks,
        /// What it has come to.
        with: Box<Advance>,
    },
    /// The same as another advance, of whose new items calls of a model have written some: what each has used is kept
    /// beside its item. What a task's only call has used stands with the task alone.
    Counted {
        /// The calls.
        calls: Vec<WritingCall>,
        /// What it has come to.
        with: Box<Advance>,
    },
    /// The same as another advance, with what a provider wants back with the answers it stores: kept until the task's end.
    Keep {
        /// What is kept.
        kept: Vec<StepForm>,
        /// What it has come to.
        with: Box<Advance>,
    },
    /// The same as another advance, which starts the call that somebody has approved: their approval is used up
    /// in the same write. Where it does not hold, the other is written and answered with
    /// [`CommitResult::NotApproved`].
    Consume {
        /// The approval.
        key: String,
        /// What the approval has to be for.
        hash: String,
        /// What else is written.
        with: Box<Advance>,
    },
    /// The same as another advance; the call that somebody has approved is not made, and their approval is taken
    /// back in the same write; or it was made and has failed, which is noted there.
    Forgo {
        /// The approval.
        key: String,
        /// Why, for who gave it.
        why: String,
        /// What else is written.
        with: Box<Advance>,
    },
    /// The same as another advance, a park, that begins children: those that it waits for and others, so many of them side
    /// by side, each at `until` at the latest.
    Spawn {
        /// The children.
        children: Vec<NewChild>,
        /// How many of the parent's run side by side.
        side_by_side: u32,
        /// When those start that wait for others.
        until: DateTime<Utc>,
        /// The park.
        with: Box<Advance>,
    },
    /// The same as another advance, a finish, of which the parent is told: nobody has waited for it. Somebody who stops the
    /// task wants to hear nothing of it.
    Report {
        /// The task that tells it, in the parent's conversation.
        request: Box<TaskRequest>,
        /// The finish.
        with: Box<Advance>,
    },
    /// Wait for a person, for children or a time: gives back lane and worker. Durable.
    Park {
        /// New transcript items.
        append: Vec<Item>,
        /// The run's header.
        header: String,
        /// What is waited for.
        on: ParkedOn,
        /// The question that is waited for: stored with what says it.
        ask: Option<Box<NewQuestion>>,
        /// The approval that is waited for: stored with what asks for it.
        seek: Option<Box<ApprovalRequest>>,
        /// When to wake at the latest.
        wake_at: Option<DateTime<Utc>>,
        /// What this step cost.
        usage: Usage,
        /// The worker would take the lane's next task at once.
        hand_over: bool,
        /// Now.
        now: DateTime<Utc>,
    },
    /// The daemon ends and the task is not done: it waits again, and this claim does not count as an
    /// attempt. Nothing else is written. Relaxed: what is lost with the power is one attempt.
    Release,
    /// The end: the answer's rows, the end of the claim and the lane's next task in one. Durable.
    Finish {
        /// New transcript items.
        append: Vec<Item>,
        /// The run's header.
        header: String,
        /// The facts, when they changed.
        facts: Option<Facts>,
        /// How it ended.
        end: End,
        /// What is said.
        say: Vec<Draft>,
        /// What the last step cost.
        usage: Usage,
        /// The conversation so far is not used any more (its provider refuses it): raises the epoch.
        set_aside: bool,
        /// Nothing of it becomes history.
        unheard: bool,
        /// Where the conversation's history begins from now on, when that has changed.
        cut: Option<HistoryStart>,
        /// What is said can leave at once: its first part is marked as being sent in the same write.
        departs: bool,
        /// The worker would take the lane's next task at once.
        hand_over: bool,
        /// Now.
        now: DateTime<Utc>,
    },
}

/// The call of a model that wrote one item of several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WritingCall {
    /// The item's place among them, from 0.
    pub item: usize,
    /// The call.
    #[serde(flatten)]
    pub call: ModelCall,
}

/// How a task ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    #[default]
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
pub enum CommitResult {
    /// Written; go on.
    Continue {
        /// A person wants this task to end.
        stop: bool,
        /// What the conversation is in by now.
        mode: Mode,
        /// What its parent, that one's other children and its own children have used.
        family: Usage,
    },
    /// Written; but the approval of the call does not hold any more: it is not to be started.
    NotApproved {
        /// A person wants this task to end.
        stop: bool,
        /// What the conversation is in by now.
        mode: Mode,
    },
    /// The claim is not ours any more: nothing was written, cancel the task.
    Lost,
    /// Written; the claim has ended.
    Ended {
        /// What is to be sent.
        queued: Vec<QueuedOutbound>,
        /// The lane's next task, claimed.
        next: Option<Box<TaskClaim>>,
        /// What the task cost in all, its earlier claims included.
        usage: Usage,
        /// Lanes in which a task may start that has waited for this one.
        ready: Vec<Lane>,
        /// Its children that run and are told to stop.
        stopping: Vec<TaskId>,
    },
}

/// A claimed task with all that its worker needs: the hot path reads nothing else.
#[derive(Clone, Debug)]
pub struct TaskClaim {
    /// The proof.
    pub claim: Claim,
    /// The conversation it speaks in: an agent's task in its parent's.
    pub conversation: ConversationId,
    /// Its lane.
    pub lane: Lane,
    /// The place that owns the conversation.
    pub place: PlaceId,
    /// The row number of the conversation it speaks in.
    pub conversation_row: i64,
    /// The folder its place works in, as the owner set it.
    pub workspace: Option<String>,
    /// The row number of its place's first conversation: names the place's folder in the cache.
    pub place_row: i64,
    /// How often it was claimed, this time included.
    pub attempts: u32,
    /// The facts it was made with; the mode is the conversation's of now.
    pub facts: Facts,
    /// What an owner has chosen for its conversation, or for the chat whose thread that is.
    pub chosen: Choice,
    /// The agent of the config that answers, with what it brings: set by whoever works on it, and stored by its name alone.
    pub agent: Option<Arc<OwnAgent>>,
    /// Whoever works on it has changed its facts, and the stored ones do not say so yet.
    pub reshaped: bool,
    /// The messages it answers, oldest first.
    pub heard: Vec<(InboxId, Inbound)>,
    /// What it is to read instead, when it came from no message.
    pub words: Option<Words>,
    /// Untriggered lines of the conversation since the last task, oldest first.
    pub context: Vec<Inbound>,
    /// The run's header as last stored; absent at the first claim.
    pub header: Option<String>,
    /// The task's own transcript so far.
    pub transcript: Vec<Item>,
    /// The newest finished tasks of this conversation and epoch from where its history is cut, oldest first.
    pub history: Vec<Past>,
    /// The least trust in whom those tasks answered; `None` without a history.
    pub asked_by: Option<Trust>,
    /// Answers of this conversation that were not delivered since the last task: what they said.
    pub undelivered: Vec<String>,
    /// The question this task asked last, when it has been parked on one.
    pub settled: Option<Box<QuestionAnswer>>,
    /// The approval that this task sought last.
    pub approval: Option<Box<ApprovalRow>>,
    /// The newest tap or words here by which an approval of the task was decided.
    pub decided_by: Option<Box<Inbound>>,
    /// What its provider wants back with its own answers, by their step.
    pub own_forms: BTreeMap<String, OwnForm>,
    /// What other tasks of this conversation wait to be answered, oldest first.
    pub open: Vec<QuestionRow>,
    /// Messages wait that have joined its request since it was made.
    pub has_joined: bool,
    /// Its parent waits for its end.
    pub is_awaited: bool,
    /// The children that it has waited for.
    pub children: Vec<ChildEnd>,
    /// What its parent, that one's other children and its own children have used.
    pub family: Usage,
}

/// What became of a child, for the parent that has waited for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildEnd {
    /// Its task.
    pub task: TaskId,
    /// The call that has begun it, and behind a slash the agent's name where the call names several.
    pub call: String,
    /// How it stands.
    pub state: TaskState,
    /// Why it failed or was stopped.
    pub why: Option<String>,
    /// What it has written last; empty when it has written nothing.
    pub text: String,
    /// The level of that.
    pub level: Taint,
}

/// An answer of a model in its provider's own form.
#[derive(Clone, Debug)]
pub struct StepForm {
    /// What all of its calls have in common.
    pub step: String,
    /// The form.
    pub form: OwnForm,
}

/// What a task says in another conversation.
#[derive(Clone, Debug)]
pub struct Relay {
    /// What is sent.
    pub draft: Draft,
    /// The facts of a task that says it there.
    pub facts: Facts,
    /// What stands in the history there.
    pub items: Vec<Item>,
}

/// A finished task, as the history of its conversation has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// Which ending of its conversation and epoch it was.
    pub finish: i64,
    /// Its long answers are shown cut.
    pub is_short: bool,
    /// Its transcript.
    pub items: Vec<Item>,
}

#[cfg(any(test, feature = "testing"))]
impl PartialEq<Vec<Item>> for Past {
    fn eq(&self, items: &Vec<Item>) -> bool {
        self.items == *items
    }
}

/// Where the history of a conversation begins, in endings of its epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryStart {
    /// The first task that is still read.
    pub from: i64,
    /// Tasks that ended before this one are shown short.
    pub short: i64,
}

/// What became of something said.
#[derive(Clone, Debug)]
pub enum SayResult {
    /// Stored now: hand it to the delivery worker and wait for its receipt.
    New(QueuedOutbound),
    /// Stored before: this is where it stands.
    Known(OutboundId, DeliveryState),
    /// The claim is not ours any more.
    Lost,
}
