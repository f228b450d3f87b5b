//! Agents as tools see them: which there are, what they do, and their end.

use async_trait::async_trait;

use super::{TodoReport, Visitor};
use crate::ToolError;
use selkie_domain::choice::Choice;
use selkie_domain::narrowing::Narrowing;
use selkie_domain::span::Span;

/// The agents that a task may know of: itself, its parent, those of its conversation, and its peers, the tasks that run in
/// the same workspace.
#[async_trait]
pub trait Agents: Send + Sync {
    /// Lists them, the task itself first.
    ///
    /// # Errors
    /// When the store does not answer.
    async fn list(&self, by: &Visitor) -> Result<Vec<KnownAgent>, ToolError>;

    /// Says whether the task may let this agent of the config work.
    ///
    /// # Errors
    /// In words: there is none of this name, or it is not for whoever asks.
    fn own(&self, by: &Visitor, name: &str) -> Result<(), ToolError>;

    /// Tells what an agent knows and does: the newest of its conversation.
    ///
    /// # Errors
    /// In words: there is none of this name.
    async fn peek(&self, by: &Visitor, name: &str) -> Result<TodoReport, ToolError>;

    /// Ends what an agent of the conversation does.
    ///
    /// # Errors
    /// In words: there is none of this name, or it is none of this conversation's.
    async fn stop(&self, by: &Visitor, name: &str) -> Result<String, ToolError>;
}

/// An agent that a task may know of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAgent {
    /// Its name.
    pub name: String,
    /// What it is to the task.
    pub role: Role,
    /// It works, or waits for its turn or for somebody.
    pub is_open: bool,
    /// How it stands, in a word or a few.
    pub status: String,
    /// What it is to do, in short.
    pub task: String,
    /// Since it was begun, or since it has ended.
    pub age: Span,
    /// What answers it, as it was begun.
    pub choice: Choice,
    /// Who leaves it fewer tools than its task has.
    pub narrowed: Vec<Narrowing>,
}

/// What an agent is to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The task itself.
    Own,
    /// The task that it works for.
    Parent,
    /// It works for the task's conversation.
    Child,
    /// A task that runs in the same workspace.
    Peer,
}

impl Role {
    /// Says it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Own => "you",
            Self::Parent => "your parent",
            Self::Child => "your agent",
            Self::Peer => "a peer",
        }
    }
}
