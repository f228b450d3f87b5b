//! What came in while a task runs: read before a model call, marked with the answer that has seen it.

use selkie_channel_core::Inbound;

use selkie_domain::facts::Facts;
use selkie_domain::ids::{InboxId, TaskId};
use selkie_domain::words::Words;

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
    /// What it is to read instead, where an agent says it.
    pub words: Option<Words>,
    /// They are part of the running task's request.
    pub joins: bool,
}

/// What the model of a task has seen besides its own messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenMarks {
    /// Messages of waiting tasks of the same lane: the task answers them, too.
    pub tasks: Vec<SeenTask>,
    /// Edits of its messages.
    pub edits: Vec<InboxId>,
    /// At which step.
    pub step: u32,
}

/// What a model has seen of a waiting task: what came to that since, waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenTask {
    /// Which.
    pub task: TaskId,
    /// Its messages.
    pub rows: Vec<InboxId>,
}

impl WaitingTask {
    /// Returns that all of it was seen.
    pub fn seen(&self) -> SeenTask {
        SeenTask { task: self.task, rows: self.heard.iter().map(|(row, _)| *row).collect() }
    }
}

impl SeenMarks {
    /// Whether nothing came in.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.edits.is_empty()
    }
}
