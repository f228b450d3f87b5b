//! Who in this process waits for the end of a task: the terminal.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::{oneshot, watch};

use crate::domain::ids::InboxId;
use crate::store::Standing;

/// Who in this process waits for the end of the task that answers a row.
#[derive(Default)]
pub(super) struct Endings(Mutex<HashMap<InboxId, oneshot::Sender<Finished>>>);

/// The end of a task, and what became of its words.
pub(super) struct Finished {
    pub(super) state: String,
    pub(super) standings: Vec<watch::Receiver<Standing>>,
}

impl Endings {
    /// Waits for the task that answers `row`.
    pub(super) fn expect(&self, row: InboxId) -> oneshot::Receiver<Finished> {
        let (sender, receiver) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(row, sender);
        receiver
    }

    /// Nobody waits for the task that answers `row` any more.
    pub(super) fn forget(&self, row: InboxId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&row);
    }

    /// Takes out all who wait for one of the rows that a task answers.
    pub(super) fn take(&self, rows: &[InboxId]) -> Vec<oneshot::Sender<Finished>> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.is_empty() {
            return Vec::new();
        }
        rows.iter().filter_map(|row| waiting.remove(row)).collect()
    }
}
