//! Progress of tasks that wait for somebody's approval: what shows it stays, for the task's next claim or until it ends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use selkie_channel_core::locked;

use super::TaskProgress;
use selkie_domain::ids::TaskId;

/// What is shown of tasks that wait. Held here, one task is never shown by two.
#[derive(Default)]
pub struct KeptProgress {
    tasks: Mutex<HashMap<TaskId, Arc<TaskProgress>>>,
}

impl KeptProgress {
    /// Keeps it, before the task is stored as one that waits: whoever claims it next finds it.
    pub fn keep(&self, task: TaskId, progress: &Arc<TaskProgress>) {
        locked(&self.tasks).insert(task, Arc::clone(progress));
    }

    /// Shows what a task waits for; nothing when it has gone on meanwhile.
    pub fn waits(&self, task: TaskId, line: String) {
        // Under the lock: what it has come to by its next claim is not overwritten.
        if let Some(progress) = locked(&self.tasks).get(&task) {
            progress.waits(line);
        }
    }

    /// Returns what is shown of a task that waits.
    pub fn of(&self, task: TaskId) -> Option<Arc<TaskProgress>> {
        locked(&self.tasks).get(&task).cloned()
    }

    /// Hands it out to the task's next claim.
    pub fn take(&self, task: TaskId) -> Option<Arc<TaskProgress>> {
        locked(&self.tasks).remove(&task)
    }

    /// The task has ended: takes away what stands. Returns whether anything was kept.
    pub fn end(&self, task: TaskId) -> bool {
        let kept = self.take(task);
        if let Some(progress) = &kept {
            progress.close();
        }
        kept.is_some()
    }
}
