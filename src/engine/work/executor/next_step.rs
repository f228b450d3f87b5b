//! What is to be done after a task, or after it was to wait for a person.

use chrono::{DateTime, Utc};

use selkie_domain::task::Lane;
use selkie_store::{Draft, TaskClaim};

/// What is to be done after a task.
#[derive(Default)]
pub struct NextStep {
    /// The lane's next task, when it was handed over.
    pub next: Option<TaskClaim>,
    /// When the task goes on at the latest, though nobody wakes it.
    pub wake_at: Option<DateTime<Utc>>,
    /// Lanes in which a task may start that has waited for this one, or that it has begun.
    pub ready: Vec<Lane>,
    /// Somebody is asked now.
    pub has_asked: bool,
    /// People are told what it waits for, and what tells them stays.
    pub is_announced: bool,
}

/// What a task says at its end.
#[derive(Default)]
pub struct LastWords {
    /// In writing.
    pub say: Vec<Draft>,
    /// In Markdown, what of it is said aloud, too.
    pub aloud: Option<String>,
}

/// What came of a park.
pub enum ParkOutcome {
    /// It waits, or another owner has it.
    Parked(Box<NextStep>),
    /// A person stopped the task before it could ask.
    Stopped,
    /// There is nobody here, or no way to ask.
    NobodyToAsk,
}
