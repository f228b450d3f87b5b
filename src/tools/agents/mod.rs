//! Agents: tasks that a task has others do, and what it may do with them.

mod list;
mod message;
mod name;
mod peek;
pub mod settings;
mod spawn;
mod stop;
#[cfg(test)]
mod tests;

pub(crate) use list::ListAgents;
pub(crate) use message::MessageAgent;
pub(crate) use peek::PeekAgent;
pub(crate) use spawn::Spawn;
pub(crate) use stop::StopAgent;

use std::time::Duration;

use selkie_domain::choice::Choice;
use selkie_domain::narrowing::Narrowing;

/// What the main agent of a conversation is called: the task that people talk to.
pub const MAIN: &str = "main";

/// What a task wants an agent to do.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildOrder {
    /// The agent's name, unique in the conversation.
    pub name: String,
    /// What it is to do.
    pub task: String,
    /// The task waits for its end.
    pub awaited: bool,
    /// What becomes of it.
    pub start: Start,
    /// How long it may take.
    pub timeout: Duration,
    /// Who leaves it fewer tools than the task has.
    pub narrowed: Vec<Narrowing>,
    /// Which model answers and how hard it thinks, where that is not the task's own.
    pub choice: Choice,
    /// The JSON Schema that its answer has to fit.
    pub schema: Option<String>,
    /// How many of the task's agents run side by side.
    pub side_by_side: u32,
}

/// How an agent takes up what it is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It knows nothing yet.
    Afresh,
    /// It goes on with what it knows.
    GoesOn,
    /// It reads it while it works.
    Joins,
}
