//! The running tasks of this process, so that a stop reaches them at once. The truth is in the ledger;
//! this is a hint.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::domain::ids::TaskId;

/// The running tasks.
pub(super) struct Stops {
    work: CancellationToken,
    running: Mutex<HashMap<TaskId, StopMark>>,
}

/// How one task is told to stop.
#[derive(Clone)]
pub(super) struct StopMark {
    asked: CancellationToken,
    cancel: CancellationToken,
}

impl StopMark {
    /// Cancelled when a person stopped the task or the daemon ends.
    pub(super) fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Whether a person stopped it.
    pub(super) fn is_asked(&self) -> bool {
        self.asked.is_cancelled()
    }
}

impl Stops {
    /// Every mark is cancelled with `work`.
    pub(super) fn new(work: CancellationToken) -> Self {
        Self { work, running: Mutex::default() }
    }

    /// Begins a task.
    pub(super) fn begin(&self, task: TaskId) -> StopMark {
        let mark = StopMark { asked: CancellationToken::new(), cancel: self.work.child_token() };
        self.lock().insert(task, mark.clone());
        mark
    }

    /// Ends it.
    pub(super) fn end(&self, task: TaskId) {
        self.lock().remove(&task);
    }

    /// Stops it, when it runs here.
    pub(super) fn stop(&self, task: TaskId) {
        if let Some(mark) = self.lock().get(&task) {
            mark.asked.cancel();
            mark.cancel.cancel();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<TaskId, StopMark>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
