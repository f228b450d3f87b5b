//! The running tasks of this process, so that a stop, and what joins their requests, reaches them at once. The truth is in
//! the ledger; this is a hint.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use futures_util::FutureExt as _;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use selkie_channel_core::locked;
use selkie_domain::ids::TaskId;
use selkie_store::JoinedRequest;

/// Stops and messages that came early and are remembered.
const MANY_EARLY: usize = 1_000;

/// The running tasks.
pub struct RunningTasks {
    work: CancellationToken,
    running: Mutex<MarkedTasks>,
}

#[derive(Default)]
struct MarkedTasks {
    marks: HashMap<TaskId, TaskMark>,
    /// Stopped between the claim and its worker.
    early: HashSet<TaskId>,
    /// Joined between the claim and its worker.
    joined_early: HashMap<TaskId, Option<DateTime<Utc>>>,
}

/// How one task is told to stop, and that more has joined its request.
#[derive(Clone)]
pub struct TaskMark {
    asked: CancellationToken,
    cancel: CancellationToken,
    keeps_answer: Arc<AtomicBool>,
    joined: Arc<JoinBell>,
}

/// What has joined the request of a task.
#[derive(Default)]
struct JoinBell {
    bell: Notify,
    /// Until when more is expected.
    until: Mutex<Option<DateTime<Utc>>>,
}

impl TaskMark {
    /// Cancelled when a person stopped the task or the daemon ends.
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Whether a person stopped it.
    pub fn is_asked(&self) -> bool {
        self.asked.is_cancelled()
    }

    /// Whether what is written of the answer stays: `/stop` takes nothing back.
    pub fn keeps_answer(&self) -> bool {
        self.keeps_answer.load(Ordering::Relaxed)
    }

    /// Stops the task, which keeps what it has written of its answer.
    pub fn stop_in_place(&self) {
        self.keeps_answer.store(true, Ordering::Relaxed);
        self.stop();
    }

    /// Waits until something has joined the task's request.
    pub async fn joins(&self) {
        self.joined.bell.notified().await;
        // It is still to be taken.
        self.joined.bell.notify_one();
    }

    /// Forgets what has joined: it is being read. Returns until when more is expected, where something had joined.
    pub fn take_joined(&self) -> Option<Option<DateTime<Utc>>> {
        let rang = self.joined.bell.notified().now_or_never();
        rang.map(|()| locked(&self.joined.until).take())
    }

    /// Says that something has joined.
    pub fn join(&self, until: Option<DateTime<Utc>>) {
        *locked(&self.joined.until) = until;
        self.joined.bell.notify_one();
    }

    fn stop(&self) {
        self.asked.cancel();
        self.cancel.cancel();
    }
}

impl RunningTasks {
    /// Every mark is cancelled with `work`.
    pub fn new(work: CancellationToken) -> Self {
        Self { work, running: Mutex::default() }
    }

    /// Begins a task.
    pub fn begin(&self, task: TaskId) -> TaskMark {
        let mark = TaskMark {
            asked: CancellationToken::new(),
            cancel: self.work.child_token(),
            keeps_answer: Arc::default(),
            joined: Arc::default(),
        };
        let mut running = self.lock();
        if running.early.remove(&task) {
            mark.stop();
        }
        if let Some(until) = running.joined_early.remove(&task) {
            mark.join(until);
        }
        running.marks.insert(task, mark.clone());
        mark
    }

    /// Ends it.
    pub fn end(&self, task: TaskId) {
        self.lock().marks.remove(&task);
    }

    /// Lets a task that is about to be stopped keep what it has written.
    pub fn keep_answer(&self, task: TaskId) {
        if let Some(mark) = self.lock().marks.get(&task) {
            mark.keeps_answer.store(true, Ordering::Relaxed);
        }
    }

    /// Stops it, when it runs here or is about to.
    pub fn stop(&self, task: TaskId) {
        let mut running = self.lock();
        if let Some(mark) = running.marks.get(&task) {
            return mark.stop();
        }
        if running.early.len() >= MANY_EARLY {
            // Most of them were parked and never begin; the others learn it by their next write.
            running.early.clear();
        }
        running.early.insert(task);
    }

    /// Tells a task that something has joined its request, when it runs here or is about to.
    pub fn join(&self, joined: JoinedRequest) {
        let mut running = self.lock();
        if let Some(mark) = running.marks.get(&joined.task) {
            return mark.join(joined.until);
        }
        if running.joined_early.len() >= MANY_EARLY {
            // What has joined them waits for tasks of its own.
            running.joined_early.clear();
        }
        running.joined_early.insert(joined.task, joined.until);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, MarkedTasks> {
        locked(&self.running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_that_comes_before_the_worker_is_not_forgotten() {
        let running = RunningTasks::new(CancellationToken::new());
        running.stop(TaskId(1));
        let (early, other) = (running.begin(TaskId(1)), running.begin(TaskId(2)));
        assert!(early.is_asked() && early.cancel().is_cancelled());
        assert!(!other.is_asked());
        running.end(TaskId(1));
        assert!(!running.begin(TaskId(1)).is_asked(), "a stop stops one claim");
    }
}
