//! Decides what to do next and does it: the run (no I/O), the only loop with await, prompt, history, budget.

mod budget;
mod context;
mod drive;
mod earlier;
mod header;
mod hidden;
mod history;
mod inflow;
mod loop_guard;
pub mod messages;
mod narrow;
mod own_forms;
mod patience;
mod pictures;
pub mod plan;
pub mod prompt;
mod quota;
mod run;
mod settings;
mod short;
mod small;
mod telling;
mod window;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use selkie_channel_core::Redactor;
use tokio_util::sync::CancellationToken;

use selkie_domain::approval::Request;
use selkie_domain::clock::SharedClock;
use selkie_domain::course::Course;
use selkie_domain::crash::Crash;
use selkie_domain::event::Events;
use selkie_domain::facts::Facts;
use selkie_domain::ids::TaskId;
use selkie_domain::metrics::Metrics;
use selkie_domain::question::Ask;
use selkie_domain::taint::Taint;
use selkie_domain::tool::{ToolBlock, ToolList};
use selkie_domain::transcript::{Item, UserMessage};
use selkie_domain::usage::Usage;
use selkie_llm::{Model, Profiles};
use selkie_store::{End, HistoryStart, NewChild, SeenMarks, TaskClaim, Work, WritingCall};
use selkie_tools::registry::Registry;
use selkie_tools::scope::Scope;

pub use context::{ContextPart, ContextSource};
pub use inflow::{Inflow, Newer, Source};
pub use quota::{Quota, QuotaError};
pub use run::taken_in;
pub use settings::Settings;
pub use small::SmallModel;

/// Drives runs. One for all workers.
pub struct Agent {
    /// How far one task may go.
    pub settings: Settings,
    /// The `main` route.
    pub model: Arc<dyn Model>,
    /// What a task may name to be answered by instead.
    pub profiles: Arc<Profiles>,
    /// The ledger's verbs of work.
    pub work: Arc<dyn Work>,
    /// Who watches.
    pub events: Events,
    /// What is counted and timed.
    pub metrics: Arc<Metrics>,
    /// Where to die, in tests.
    pub crash: Arc<Crash>,
    /// The time.
    pub clock: SharedClock,
    /// Hides secrets in tool answers and in what models write.
    pub redactor: Redactor,
}

impl Agent {
    /// Returns how many tokens the model reads that answers a task: the profile of this name, else the `main` route.
    pub fn window(&self, profile: Option<&str>) -> u64 {
        self.model_of(profile).card().context
    }

    /// Returns the profile of this name; the `main` route where none is named, or it has left the config.
    fn model_of(&self, profile: Option<&str>) -> Arc<dyn Model> {
        let Some(name) = profile else { return Arc::clone(&self.model) };
        let found = self.profiles.get(name);
        if found.is_none() {
            tracing::warn!(profile = name, "this model profile no longer exists: main answers");
        }
        Arc::clone(found.unwrap_or(&self.model))
    }
}

/// A task as its worker hands it to the agent.
pub struct Assignment<'a> {
    /// The claimed task.
    pub claimed: &'a TaskClaim,
    /// Its messages with their files fetched; empty when the transcript has them already.
    pub heard: Vec<UserMessage>,
    /// Shapes the task anew when its facts change.
    pub shape: &'a (dyn Fn(&Facts) -> Registry + Send + Sync),
    /// Fits what it may call into a window.
    pub fit: fn(&Arc<ToolBlock>, u64) -> Arc<ToolList>,
    /// Makes the scope of a call from the facts and the call's id.
    pub scope: &'a (dyn Fn(&Facts, &str) -> Scope + Send + Sync),
    /// Who the bot is, for the system prompt; empty for the built-in words.
    pub persona: Arc<str>,
    /// What it reads right before its newest message.
    pub context: Vec<ContextPart>,
    /// What comes in while it runs.
    pub inflow: &'a dyn Inflow,
    /// What its usage counts against; `None` for who may use anything.
    pub quota: Option<&'a dyn Quota>,
    /// Cancelled when the task is stopped or the daemon ends.
    pub cancel: CancellationToken,
}

/// How a drive ended: the worker renders and commits it.
#[derive(Clone, Debug, Default)]
pub struct DriveOutcome {
    /// Items that are not stored yet.
    pub append: Vec<Item>,
    /// The run's header.
    pub header: String,
    /// How.
    pub end: End,
    /// What is to be said, in markdown; empty when everything was said by tools.
    pub text: String,
    /// The names of the pictures that are to be sent behind it, in [`selkie_tools::PICTURES`].
    pub pictures: Vec<String>,
    /// Usage that is not stored yet.
    pub usage: Usage,
    /// The conversation so far is not to be used any more: raise the epoch.
    pub set_aside: bool,
    /// What the last answer has seen besides: to be marked in the same write.
    pub seen: SeenMarks,
    /// The facts, when they changed and are not stored yet.
    pub facts: Option<Box<Facts>>,
    /// The highest level of what it has read.
    pub level: Taint,
    /// Where the conversation's history begins from now on, when that has changed.
    pub cut: Option<HistoryStart>,
    /// Every task whose messages this drive has taken in.
    pub absorbed: Vec<TaskId>,
    /// The calls of a model that wrote items of these.
    pub wrote: Vec<WritingCall>,
    /// What the task did since it was last taken up.
    pub course: Course,
}

/// How far a drive got.
#[derive(Clone, Debug)]
pub enum DriveEnd {
    /// To the end.
    Ended(Box<DriveOutcome>),
    /// To a question: a person has to answer before it goes on.
    Asks(Box<PendingQuestion>),
    /// To a call that somebody has to approve.
    Seeks(Box<Seeks>),
    /// To calls that let agents work.
    Waits(Box<PendingChildren>),
}

/// Children that are to begin.
#[derive(Clone, Debug)]
pub struct NewChildren {
    /// The children.
    pub children: Vec<NewChild>,
    /// How many of them run side by side.
    pub side_by_side: u32,
    /// When the last of them is to have ended.
    pub until: DateTime<Utc>,
}

/// The children that a run is to be parked on.
#[derive(Clone, Debug)]
pub struct PendingChildren {
    /// The children.
    pub new: NewChildren,
    /// Items that are not stored yet.
    pub append: Vec<Item>,
    /// The run's header.
    pub header: String,
    /// Usage that is not stored yet.
    pub usage: Usage,
}

/// The approval that a run is to be parked on.
#[derive(Clone, Debug)]
pub struct Seeks {
    /// Names it for ever.
    pub key: String,
    /// What for.
    pub request: Request,
    /// Items that are not stored yet.
    pub append: Vec<Item>,
    /// The run's header.
    pub header: String,
    /// Usage that is not stored yet.
    pub usage: Usage,
}

/// A question that a run is to be parked on.
#[derive(Clone, Debug)]
pub struct PendingQuestion {
    /// Names it for ever.
    pub key: String,
    /// What is asked.
    pub ask: Ask,
    /// Items that are not stored yet.
    pub append: Vec<Item>,
    /// The run's header.
    pub header: String,
    /// Usage that is not stored yet.
    pub usage: Usage,
}

/// Why a drive ended without an ending.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DropReason {
    /// The claim is lost: write nothing more.
    #[error("the claim of this task is lost")]
    Lost,
    /// The store cannot write: leave the task to a later claim.
    #[error("{0}")]
    Broken(String),
    /// The daemon ends: the task goes on at the next start.
    #[error("the daemon is stopping")]
    Stopping,
}
