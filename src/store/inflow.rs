//! What came in while a task runs: read before a model call, marked with the answer that has seen it.

use selkie_channel_core::Inbound;

use selkie_domain::facts::Facts;
use selkie_domain::ids::{InboxId, TaskId};

/// What waits in the lane of a running task.
#[derive(Clone, Debug, Default)]
pub struct Inflow {
    /// Tasks that nobody has begun, in the lane's order.
    pub waiting: Vec<WaitingTask>,
    /// Edits of the messages the task answers that its model has not seen, oldest first.
    pub edits: Vec<(InboxId, Inbound)>,
}

/// A waiting task.
#[derive(Clone, Debug)]
pub struct WaitingTask {
    /// Which.
    pub task: TaskId,
    /// What it was made with.
    pub facts: Facts,
    /// Its messages, oldest first.
    pub heard: Vec<(InboxId, Inbound)>,
}

/// What the model of a task has seen besides its own messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenMarks {
    /// Waiting tasks of the same lane: the task answers their messages, too.
    pub tasks: Vec<TaskId>,
    /// Edits of its messages.
    pub edits: Vec<InboxId>,
    /// At which step.
    pub step: u32,
}

impl SeenMarks {
    /// Whether nothing came in.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.edits.is_empty()
    }
}
