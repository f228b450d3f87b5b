//! What happens, told live to whoever watches (the console, the terminal). Nothing depends on being
//! heard: the ledger is the truth, this is a hint to look.

use selkie_channel_core::ConversationId;
use serde::Serialize;
use tokio::sync::broadcast;

use crate::ids::{InboxId, OutboundId, TaskId};
use crate::plan::Plan;
use crate::usage::Usage;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "happening", rename_all = "snake_case")]
pub enum Event {
    /// A message was stored.
    #[serde(rename = "heard")]
    Received {
        /// Where.
        conversation: ConversationId,
        /// Its row.
        inbox: InboxId,
    },
    /// A worker has begun (or resumed) a task; its shape can be read.
    Started {
        /// Where.
        conversation: ConversationId,
        /// Which.
        task: TaskId,
    },
    /// The model is asked.
    Asked {
        /// Where.
        conversation: ConversationId,
        /// Which.
        task: TaskId,
        /// From 1.
        step: u32,
    },
    /// The model wrote some of its answer.
    Wrote {
        /// Which.
        task: TaskId,
        /// The new text.
        text: String,
    },
    /// What the model wrote of this answer is void: it is asked again, or another is.
    Again {
        /// Which.
        task: TaskId,
    },
    /// A tool was called.
    Called {
        /// Where.
        conversation: ConversationId,
        /// Which.
        task: TaskId,
        /// The tool.
        tool: String,
        /// Its arguments, shortened.
        arguments: String,
    },
    /// A tool has answered.
    Answered {
        /// Where.
        conversation: ConversationId,
        /// Which.
        task: TaskId,
        /// The tool.
        tool: String,
        /// It failed or was refused.
        is_error: bool,
        /// Its answer, shortened.
        text: String,
    },
    /// A task has a plan, or is further with it.
    Planned {
        /// Where.
        conversation: ConversationId,
        /// Which.
        task: TaskId,
        /// As it stands.
        plan: Plan,
    },
    /// What a running tool has come to, in one line.
    Doing {
        /// Where.
        conversation: ConversationId,
        /// Which.
        task: TaskId,
        /// The newest of its output, one line without secrets.
        newest: String,
    },
    /// A task has ended.
    Ended {
        /// Where.
        conversation: ConversationId,
        /// Which.
        task: TaskId,
        /// `done`, `failed`, `stopped`, `parked`.
        state: String,
        /// What it cost.
        usage: Usage,
    },
    /// Something said has arrived or was refused.
    Delivered {
        /// Where.
        conversation: ConversationId,
        /// What.
        outbound: OutboundId,
        /// `sent`, `refused`, `unclear`, …
        state: String,
    },
}

/// Sends events to all who listen.
#[derive(Clone, Debug)]
pub struct Events(broadcast::Sender<Event>);

impl Default for Events {
    fn default() -> Self {
        Self(broadcast::channel(1024).0)
    }
}

impl Events {
    /// Tells it; `make` runs only when somebody listens.
    pub fn emit(&self, make: impl FnOnce() -> Event) {
        if self.are_heard() {
            // No listener any more is no error: nothing depends on being heard.
            drop(self.0.send(make()));
        }
    }

    /// Whether anybody listens.
    pub fn are_heard(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Listens from now on. A slow listener loses the oldest.
    pub fn listen(&self) -> broadcast::Receiver<Event> {
        self.0.subscribe()
    }
}
