//! What an event is stored as: with what becomes of it.

use chrono::{DateTime, TimeDelta, Utc};
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
    /// Of a line that speaks to nobody: what it becomes where its speaker's request is not answered yet, for it belongs to
    /// that then.
    pub belongs: Option<NewTask>,
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
    /// An event that belongs to nothing that was said before.
    pub fn new(inbound: Inbound, disposition: Disposition) -> Self {
        Self { inbound, disposition, belongs: None }
    }

    /// Returns the task that may come of it, or take it in.
    pub fn task(&self) -> Option<&NewTask> {
        match &self.disposition {
            Disposition::Task(task) | Disposition::MeantNow(task) => Some(task),
            _ => self.belongs.as_ref(),
        }
    }

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

/// A task that another task begins: an agent's.
#[derive(Clone, Debug)]
pub struct NewChild {
    /// What it is to do, and in which conversation.
    pub request: TaskRequest,
    /// The parent waits for its end.
    pub awaited: bool,
    /// Its conversation begins afresh, where it was there before.
    pub fresh: bool,
    /// It says something to an agent that works: it takes nobody's turn.
    pub joins: bool,
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
    /// With what else it is one request; `None` for one that stands by itself.
    pub gathers: Option<Gathering>,
    /// Stops the conversation's running task of the same speaker (anybody's, for an owner).
    pub interrupts: bool,
    /// It is not made where so many of [its kind](Cause::kind) wait in its conversation.
    pub most_waiting: Option<u32>,
}

impl NewTask {
    /// A task that starts as soon as its lane is free.
    pub fn new(cause: Cause, facts: Facts) -> Self {
        Self {
            cause,
            facts,
            not_before: None,
            gathers: None,
            interrupts: false,
            most_waiting: None,
        }
    }
}

/// What belongs to one request: what the same person sends to the same conversation as long as the request has no answer,
/// and not long after what they sent before. A request takes in nothing for more than ten times as long.
#[derive(Clone, Debug)]
pub struct Gathering {
    /// Under which word: the same for all that one person sends.
    pub word: String,
    /// How long after what was sent before.
    pub within: TimeDelta,
    /// What it says of what comes next.
    pub next: NextPiece,
}

/// What a message says of the one that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextPiece {
    /// There may be none: the request starts at once.
    Unknown,
    /// Words may come: others' words alone ask for nothing.
    Words,
    /// There is one, by all appearances: the request waits for it.
    Expected,
}
