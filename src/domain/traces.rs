//! Tasks that have ended, for whoever traces them. Telling never waits.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc::Sender;

use crate::course::Course;
use crate::ids::TaskId;
use crate::metrics::Metrics;
use crate::usage::Usage;

/// A task from its message to its receipt, without a word of anybody.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskTrace {
    /// Which.
    pub task: TaskId,
    /// The name of its channel.
    pub channel: &'static str,
    /// `done`, `failed`, `stopped`.
    pub outcome: &'static str,
    /// When it was asked for.
    pub asked_at: Option<DateTime<Utc>>,
    /// When its end was stored.
    pub ended_at: DateTime<Utc>,
    /// What it did.
    pub course: Course,
    /// What it has used in all.
    pub usage: Usage,
    /// What became of what it said.
    pub sent: &'static str,
    /// How long that took.
    pub sending: Duration,
}

/// The near end of a queue of traces; by default nobody's.
#[derive(Clone, Debug, Default)]
pub struct Traces(Option<Queue>);

#[derive(Clone, Debug)]
struct Queue {
    sender: Sender<TaskTrace>,
    metrics: Arc<Metrics>,
}

impl Traces {
    /// Tells it to who reads the other end; what finds no room is counted there.
    pub fn into_queue(sender: Sender<TaskTrace>, metrics: Arc<Metrics>) -> Self {
        Self(Some(Queue { sender, metrics }))
    }

    /// Tells a task.
    pub fn tell(&self, trace: impl FnOnce() -> TaskTrace) {
        let Some(queue) = &self.0 else { return };
        if queue.sender.try_send(trace()).is_err() {
            queue.metrics.lost_traces(1);
        }
    }
}
