//! One piece of work: where it came from, whose it is, what proves the right to do it.

use selkie_channel_core::ConversationId;
use serde::{Deserialize, Serialize};

use crate::ids::{Instance, TaskId};
use crate::named::named;

/// The promise that one task runs at a time: a conversation's, or a parent task's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane(
    /// `<account>|<key>` of a conversation, or `task:<parent>`.
    pub String,
);

impl Lane {
    /// Returns a conversation's own lane.
    pub fn of(conversation: &ConversationId) -> Self {
        Self(conversation.full())
    }

    /// Returns the account of a conversation's lane; `None` for a lane of children.
    pub fn account(&self) -> Option<&str> {
        self.0.split_once('|').map(|(account, _)| account)
    }
}

/// The right to work on a task: dies with its instance, and with the next claim of the same task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The task.
    pub task: TaskId,
    /// Counts the claims of this task; every write carries it.
    pub number: i64,
    /// Whose it is.
    pub instance: Instance,
}

named! {
    /// Where a task stands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TaskState {
        /// In its lane.
        Waiting = "waiting",
        /// Claimed.
        Running = "running",
        /// Waits for a person, a child or a time; holds neither lane nor worker.
        Parked = "parked",
        /// Finished.
        Done = "done",
        /// Ended with an honest line.
        Failed = "failed",
        /// Ended by a person.
        Stopped = "stopped",
    }
}

/// What a parked task waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "on", rename_all = "snake_case")]
pub enum ParkedOn {
    /// A person's answer to the question with this key.
    Question {
        /// The question's key.
        key: String,
    },
    /// Somebody's approval of a call: the approval with this key.
    Approval {
        /// The approval's key.
        key: String,
    },
    /// The agents of its open calls.
    Children,
    /// A moment; the task's `wake_at` says which.
    Time,
}
