//! Messages that change while a task works: where they stand, so that no crash leaves one behind.

use async_trait::async_trait;
use selkie_channel_core::{ConversationId, MessageRef, Part};

use crate::error::Result;
use selkie_domain::ids::TaskId;

/// What a message of a task shows that is changed while the task works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusChange {
    /// How far the task is.
    Status,
    /// Its answer, as far as it is written. [`crate::Advance::Finish`] forgets one that the answer takes over.
    Answer,
}

impl StatusChange {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Status, Self::Answer];
}

/// What is noted of such a message. Without an id it was about to be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusNote {
    /// Where it stands.
    pub message: Option<MessageRef>,
    /// The call that sends it, of an answer: it is known again by that.
    pub part: Option<Part>,
}

impl StatusNote {
    /// It stands there.
    pub fn at(message: MessageRef) -> Self {
        Self { message: Some(message), part: None }
    }
}

/// Messages that stand on a platform while their task works.
#[async_trait]
pub trait StatusMessages: Send + Sync {
    /// Notes such a message of a task. Relaxed.
    async fn note_status(&self, of: StatusChange, task: TaskId, noted: StatusNote) -> Result<()>;

    /// Forgets it: nothing of it stands any more, or what stands may stay. Relaxed.
    async fn forget_status(&self, of: StatusChange, task: TaskId) -> Result<()>;

    /// Returns what is noted of a task.
    async fn noted_status(&self, of: StatusChange, task: TaskId) -> Result<Option<StatusNote>>;

    /// Returns the messages that tasks left standing which have ended.
    async fn stray_statuses(&self, of: StatusChange) -> Result<Vec<Stray>>;
}

/// Such a message whose task has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// The task.
    pub task: TaskId,
    /// Where the message stands.
    pub conversation: ConversationId,
    /// The message; unknown when a crash came between its sending and its id.
    pub message: Option<MessageRef>,
}
