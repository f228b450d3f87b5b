//! Who in this process waits for the end of a task: the terminal.

use std::collections::HashMap;
use std::sync::Mutex;

use tokio::sync::{oneshot, watch};

use selkie_channel_core::locked;
use selkie_domain::ids::TaskId;
use selkie_store::DeliveryState;

/// Who in this process waits for the end of a task.
#[derive(Default)]
pub struct TaskWaiters(Mutex<HashMap<TaskId, oneshot::Sender<TaskEnd>>>);

/// The end of a task, and what became of its words.
pub struct TaskEnd {
    pub(crate) state: String,
    pub(crate) waiters: Vec<watch::Receiver<DeliveryState>>,
}

impl TaskWaiters {
    /// Waits for the end of a task.
    pub fn expect(&self, task: TaskId) -> oneshot::Receiver<TaskEnd> {
        let (sender, receiver) = oneshot::channel();
        locked(&self.0).insert(task, sender);
        receiver
    }

    /// Nobody waits for it any more.
    pub fn forget(&self, task: TaskId) {
        locked(&self.0).remove(&task);
    }

    /// Takes out who waits for the end of a task.
    pub fn take(&self, task: TaskId) -> Option<oneshot::Sender<TaskEnd>> {
        locked(&self.0).remove(&task)
    }
}
