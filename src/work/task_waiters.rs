//! Who in this process waits for the end of a task: the terminal.

use std::collections::HashMap;
use std::sync::Mutex;

use tokio::sync::{oneshot, watch};

use crate::domain::ids::InboxId;
use crate::store::DeliveryState;
use selkie_channel_core::locked;

/// Who in this process waits for the end of the task that answers a row.
#[derive(Default)]
pub(crate) struct TaskWaiters(Mutex<HashMap<InboxId, oneshot::Sender<Finished>>>);

/// The end of a task, and what became of its words.
pub(crate) struct Finished {
    pub(crate) state: String,
    pub(crate) waiters: Vec<watch::Receiver<DeliveryState>>,
}

impl TaskWaiters {
    /// Waits for the task that answers `row`.
    pub(crate) fn expect(&self, row: InboxId) -> oneshot::Receiver<Finished> {
        let (sender, receiver) = oneshot::channel();
        locked(&self.0).insert(row, sender);
        receiver
    }

    /// Nobody waits for the task that answers `row` any more.
    pub(crate) fn forget(&self, row: InboxId) {
        locked(&self.0).remove(&row);
    }

    /// Takes out all who wait for one of the rows that a task answers.
    pub(crate) fn take(&self, rows: &[InboxId]) -> Vec<oneshot::Sender<Finished>> {
        let mut waiting = locked(&self.0);
        if waiting.is_empty() {
            return Vec::new();
        }
        rows.iter().filter_map(|row| waiting.remove(row)).collect()
    }
}
