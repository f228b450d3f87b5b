//! Conversations as tools see them: which there are, what was said, words that are sent into one.

use async_trait::async_trait;
use selkie_channel_core::{ConversationId, PersonId};

use super::TodoReport;
use crate::ToolError;
use selkie_domain::facts::Trust;
use selkie_domain::ids::TaskId;

/// The conversations that there are, as far as whoever asks may know of them: an owner in private of all, everybody else
/// of their own, and in a group of that one alone.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Lists them, the last active first.
    ///
    /// # Errors
    /// When the store does not answer.
    async fn list(&self, by: &Visitor, limit: usize) -> Result<TodoReport, ToolError>;

    /// Tells what was said in one since it was last begun afresh: the newest `limit` messages.
    ///
    /// # Errors
    /// In words: there is none of this id that they may know of.
    async fn history(
        &self,
        by: &Visitor,
        session: &str,
        limit: usize,
    ) -> Result<History, ToolError>;

    /// Sends words into one, where they begin a task on behalf of whoever asked; once for each call.
    ///
    /// # Errors
    /// In words: there is none of this id, or it is this one, or nobody would be heard there.
    async fn send(&self, by: &Visitor, session: &str, content: &str) -> Result<String, ToolError>;

    /// Tells what the conversation of the task has come to: messages, tokens, cost.
    ///
    /// # Errors
    /// When the store does not answer.
    async fn status(&self, by: &Visitor) -> Result<String, ToolError>;
}

/// What was said in a conversation.
#[derive(Clone, Debug)]
pub struct History {
    /// For the model: others' words.
    pub text: String,
    /// The conversation, where it is another one than the task's.
    pub of: Option<ConversationId>,
}

/// Whose task looks at conversations, and from where.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// The task.
    pub task: TaskId,
    /// The call's id, unique within the task.
    pub call: String,
    /// Where it speaks.
    pub conversation: ConversationId,
    /// Who asked; nobody where nobody has.
    pub person: Option<PersonId>,
    /// The name that people know them by; may be empty.
    pub name: String,
    /// The least trust in play.
    pub trust: Trust,
    /// Whether an owner alone reads what is told.
    pub sees_all: bool,
}
