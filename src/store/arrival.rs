//! What an event is stored as: with what becomes of it.

use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, Inbound, PlaceId, What};

use selkie_domain::cause::Cause;
use selkie_domain::facts::Facts;
use selkie_domain::ids::TaskId;
use selkie_domain::words::Words;

/// One event and what becomes of it.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The event.
    pub inbound: Inbound,
    /// What becomes of it.
    pub disposition: Disposition,
}

/// What becomes of an event.
#[derive(Clone, Debug)]
pub enum Disposition {
    /// It starts a task (or joins the waiting task of its album).
    Task(NewTask),
    /// It is carried out at once by [`crate::Intake::command`].
    Command,
    /// A button of ours was tapped: carried out at once by [`super::Questions::answer`].
    Tap,
    /// It changes the text of a waiting message; of a running or done one it is only kept.
    Edit,
    /// Nobody spoke to the bot: it waits for the gate of its group.
    Gate,
    /// It changes a message so that it means the bot: a task, unless the message had one before; then it
    /// is an [`Self::Edit`].
    MeantNow(NewTask),
    /// A message is taken back: its text goes wherever it is stored, the task it started ends.
    Unsent,
    /// Kept as context for a later task.
    Context,
    /// Said before this task's first message and fetched now: context of this task alone. A row that was
    /// there and untriggered becomes that.
    Earlier(TaskId),
    /// Kept, and nothing comes of it.
    Ignored(&'static str),
    /// Kept as it came.
    Unparsed,
    /// The place goes on under another id: its conversations become aliases of the new ones.
    Moved(PlaceId),
    /// The conversation is closed: queued parts are refused.
    Closed(String),
    /// The conversation is open (again).
    Opened,
}

impl Arrival {
    /// Whether it could be the answer to an open question, going by itself: a person's plain words. Such
    /// a message is kept as an answer when its speaker is asked something here that takes these words.
    pub fn may_answer(&self) -> bool {
        let Inbound { what, command, text, forwarded, attachments, album, .. } = &self.inbound;
        let heard = matches!(
            self.disposition,
            Disposition::Task(_)
                | Disposition::Command
                | Disposition::Context
                | Disposition::Ignored("untriggered")
        );
        heard
            && *what == What::Message
            && command.is_none()
            && !forwarded
            && attachments.is_empty()
            && album.is_none()
            && !text.trim().is_empty()
    }
}

/// Where something belongs that came as no message.
#[derive(Clone, Debug)]
pub struct Location {
    /// The conversation.
    pub conversation: ConversationId,
    /// The place that owns it.
    pub place: PlaceId,
    /// The place's title; empty when it has none.
    pub title: String,
}

/// A task of a cause that is no message, with what it is to read.
#[derive(Clone, Debug)]
pub struct TaskRequest {
    /// Where it speaks.
    pub location: Location,
    /// Its place among the tasks of its lane, as [`Inbound::order`] is a message's.
    pub order: i64,
    /// The task; it gathers nothing.
    pub task: NewTask,
    /// What it is to read.
    pub words: Words,
}

/// A task to be made.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// Where it comes from: pushing the same cause twice makes one task.
    pub cause: Cause,
    /// What shape will look at.
    pub facts: Facts,
    /// Not to be claimed before (an album gathers its pictures).
    pub not_before: Option<DateTime<Utc>>,
    /// Joins the waiting task of the same conversation and word: an album's, or a speaker's.
    pub gathers: Option<String>,
    /// Stops the conversation's running task of the same speaker (anybody's, for an owner).
    pub interrupts: bool,
}

impl NewTask {
    /// A task that starts as soon as its lane is free.
    pub fn new(cause: Cause, facts: Facts) -> Self {
        Self { cause, facts, not_before: None, gathers: None, interrupts: false }
    }
}
