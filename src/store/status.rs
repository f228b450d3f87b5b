//! The message that shows how far a task is: where it stands, so that no crash leaves one behind.

use async_trait::async_trait;
use selkie_channel_core::{ConversationId, MessageRef};

use crate::domain::ids::TaskId;
use crate::store::error::Result;

/// Status messages that stand on a platform.
#[async_trait]
pub trait StatusMessages: Send + Sync {
    /// Notes the status message of a task; without an id one is about to be sent. Relaxed.
    async fn note_status(&self, task: TaskId, message: Option<MessageRef>) -> Result<()>;

    /// Forgets it: nothing of it stands any more, or what stands may stay. Relaxed.
    async fn forget_status(&self, task: TaskId) -> Result<()>;

    /// Returns what is noted of a task: the message, or that one was about to be sent.
    async fn noted_status(&self, task: TaskId) -> Result<Option<Option<MessageRef>>>;

    /// Returns the status messages that tasks left standing which have ended.
    async fn stray_statuses(&self) -> Result<Vec<Stray>>;
}

/// A status message whose task has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// The task.
    pub task: TaskId,
    /// Where the message stands.
    pub conversation: ConversationId,
    /// The message; unknown when a crash came between its sending and its id.
    pub message: Option<MessageRef>,
}
