//! What tools need of the house and may not import: each port is one noun, implemented above.

mod addressees;
mod agents;
mod live;
mod passing;
mod permissions;
mod post_files;
mod sessions;
mod studio;

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{Body, ConversationId, PersonId, Post, PostedBy};

use crate::ToolError;
use crate::asked::UserText;
use selkie_domain::count::counted;
use selkie_domain::facts::{Mode, Trust};
use selkie_domain::ids::{ScheduleId, TaskId};
use selkie_domain::plan::Plan;
use selkie_domain::schedule::Wish;
use selkie_domain::taint::Taint;
use selkie_domain::usage::Meter;
use selkie_domain::written::TextProgress;

pub use addressees::{Addressee, AddresseeQuery, Addressees, Sender};
pub use agents::{Agents, KnownAgent, Role};
pub use passing::{RelayOutcome, RelayRequest, SayOutcome};
pub use permissions::{Asker, NoAsker, Permission, Permissions};
pub use post_files::{KeptFile, PostFiles};
pub use sessions::{History, Sessions, Visitor};
pub use studio::Studio;

/// Speaks into the conversation of the task, and into no other.
#[async_trait]
pub trait Reply: Send + Sync {
    /// Stores what is said under the call's id, waits for the platform's receipt up to 20 s.
    async fn say(&self, call: &str, body: Body) -> Result<SayOutcome, ToolError>;

    /// The same for a body with a file: `file` is what was judged, and its bytes of now are what is sent,
    /// whatever is put in its place before the platform takes it.
    async fn send(&self, call: &str, body: Body, file: File) -> Result<SayOutcome, ToolError>;

    /// Speaks in public instead: stores what is said to the conversation `to`, which a channel lets be posted to,
    /// under the call's id, and waits for the platform's receipt up to 20 s.
    async fn post(&self, call: &str, to: &str, body: Body) -> Result<SayOutcome, ToolError> {
        let _ = (call, to, body);
        Err(ToolError::tell(
            "nothing is posted by hand here: `selkie say` posts at the command line",
        ))
    }

    /// Says something in another conversation, where it stands in the history from then on; once for each key.
    async fn pass(&self, passing: RelayRequest) -> Result<RelayOutcome, ToolError> {
        let _ = passing;
        Err(ToolError::tell(
            "nothing is sent to anybody by hand here: `selkie say --to CONVERSATION TEXT` says your own words",
        ))
    }

    /// Says by which account and login something would be posted to the conversation `to` now; within some seconds.
    async fn poster(&self, to: &str) -> Option<Poster> {
        let _ = to;
        None
    }

    /// The login with the platform's id of the account, where it tells that within some seconds.
    async fn posted_by(&self, to: &str) -> Option<PostedBy> {
        let _ = to;
        None
    }

    /// Whether what a person or model wrote (`-100123`, `tg:-100123`) names this conversation or its
    /// place. `None` when it names no conversation at all.
    fn is_here(&self, written: &str) -> Option<bool>;
}

/// By whom something would be posted.
#[derive(Clone, Debug)]
pub struct Poster {
    /// The account, as people know it; by its id where the platform does not tell.
    pub account: String,
    /// Names its login, and tells nothing of it.
    pub login: String,
}

/// Tells the people of the conversation how far the task is, in one message that is edited in place.
/// Droppable: nothing depends on it, nothing waits for it.
pub trait Progress: Send + Sync {
    /// Shows the task's plan as it stands.
    fn plan(&self, plan: &Plan);

    /// Shows what is being done just now, in one line (a command's newest output).
    fn doing(&self, line: &str);

    /// Shows what the tool at work does, in its spec's words alone; `None` when it has answered. The
    /// dispatcher's caller tells it, no tool does.
    fn tool(&self, _words: Option<&str>) {}

    /// Shows that the model's answer takes long, or that it is there. The caller of the model tells it.
    fn waiting(&self, _waits: bool) {}

    /// Shows the answer as far as it is written, secrets and all: who shows it hides them. The caller of the model
    /// tells it.
    fn wrote(&self, _written: TextProgress<'_>) {}
}

/// Shows nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn plan(&self, _plan: &Plan) {}

    fn doing(&self, _line: &str) {}
}

/// A model for small work: one question, one answer, no tools.
#[async_trait]
pub trait Small: Send + Sync {
    /// Answers `text` as `instruction` says, within `limit`. What it takes is counted in `spent`, whatever comes
    /// of it.
    async fn ask(
        &self,
        instruction: &str,
        text: &str,
        limit: Duration,
        spent: &Meter,
    ) -> Result<String, ToolError>;

    /// Says what is missing for an answer; `None` when nothing is.
    fn lacks(&self) -> Option<&'static str> {
        None
    }

    /// Returns another model by its profile's name.
    ///
    /// # Errors
    /// The names there are.
    fn named(&self, _profile: &str) -> Result<Arc<dyn Small>, Vec<String>> {
        Err(Vec::new())
    }
}

/// What a conversation is in.
#[async_trait]
pub trait Modes: Send + Sync {
    /// Changes it; the task's next step has the new shape.
    async fn change(&self, conversation: &ConversationId, mode: Mode) -> Result<(), ToolError>;
}

/// The schedules of a conversation.
#[async_trait]
pub trait Timetable: Send + Sync {
    /// Keeps a schedule; returns what to tell of it. The same call keeps one.
    ///
    /// # Errors
    /// In words: a time that cannot be read, one schedule too many, nowhere to speak.
    async fn add(&self, entry: Entry) -> Result<String, ToolError>;

    /// Says why a schedule could not be kept, before anybody is asked about it.
    fn fault(&self, entry: &Entry) -> Option<String> {
        let _ = entry;
        None
    }

    /// Lists the schedules, and how far their words come from others.
    async fn list(&self, conversation: &ConversationId) -> Result<ScheduleList, ToolError>;

    /// Whether a schedule says fixed words, and nothing more.
    ///
    /// # Errors
    /// When the daemon stops.
    async fn is_reminder(&self, id: ScheduleId) -> Result<bool, ToolError> {
        let _ = id;
        Ok(false)
    }

    /// Has a schedule taken away, wait, or go on; returns what to tell of it.
    ///
    /// # Errors
    /// In words: there is none here, or it is not whose.
    async fn wish(
        &self,
        conversation: &ConversationId,
        by: &Wisher,
        id: ScheduleId,
        wish: Wish,
    ) -> Result<String, ToolError>;
}

/// A schedule that a tool keeps.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Names the call that keeps it.
    pub key: String,
    /// The conversation that it is kept in.
    pub conversation: ConversationId,
    /// When, as it was written.
    pub when: When,
    /// The zone of that; the usual one where none is named.
    pub zone: Option<String>,
    /// What is to be done.
    pub does: EntryDoes,
    /// Who asked for it.
    pub by: Wisher,
    /// The level of what the words came out of.
    pub taint: Taint,
}

/// When a schedule comes due, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// A crontab line, `every 10m`, `in 20m`, `at 18:30`.
    Expression(String),
    /// A time, and how often from then on.
    Recurring {
        /// RFC 3339, or a time of day.
        time: String,
        /// `once`, `daily` or `hourly`.
        recurrence: &'static str,
    },
}

/// What a schedule that a tool keeps is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryDoes {
    /// A prompt is carried out.
    Prompt(String),
    /// These words are said, late rather than never.
    Remind(String),
    /// A post goes out.
    Post(PostResult),
}

/// A post in public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostResult {
    /// The key of the conversation that is posted to.
    pub to: &'static str,
    /// The post.
    pub post: Post,
}

/// Who wants something of a schedule.
#[derive(Clone, Debug)]
pub struct Wisher {
    /// The task that wishes it; nothing for a person's own word.
    pub task: Option<TaskId>,
    /// Who.
    pub person: PersonId,
    /// How far they are trusted.
    pub trust: Trust,
}

/// The schedules of a conversation, in lines.
#[derive(Clone, Debug, Default)]
pub struct ScheduleList {
    /// One for each.
    pub lines: Vec<String>,
    /// So many more there are, which come due later.
    pub more: u64,
    /// The level of their words.
    pub level: Taint,
}

impl ScheduleList {
    /// Says how many are not shown; `None` when all are.
    pub fn rest(&self) -> Option<String> {
        let schedules = counted(self.more, ["more schedule", "more schedules"]);
        (self.more > 0)
            .then(|| format!("and {schedules}: `selkie schedules list` on the machine shows all"))
    }
}

/// The list of what people want done: files that they edit, too.
#[async_trait]
pub trait TodoFile: Send + Sync {
    /// Changes it, as far as the task may see it; `model` is asked where words alone do not tell.
    ///
    /// # Errors
    /// In the words of the reference: nothing fits, several do, somebody is named who is not known.
    async fn update(
        &self,
        by: &TodoAsker,
        model: &Arc<dyn Small>,
        wanted: TodoWanted,
    ) -> Result<TodoReport, ToolError>;

    /// Whether an item that names this chat belongs to another one than the task's.
    ///
    /// # Errors
    /// `invalid chat_id: …`
    fn is_elsewhere(&self, by: &TodoAsker, chat: &str) -> Result<bool, ToolError>;
}

/// The task that wants something of the list.
#[derive(Clone)]
pub struct TodoAsker {
    /// Where it speaks.
    pub conversation: ConversationId,
    /// Whether it sees all of the list: an owner alone does, everybody else what belongs to their conversation.
    pub sees_all: bool,
    /// Whether nobody else writes in its conversation.
    pub is_private: bool,
    /// Who wants it; nobody where nobody has asked.
    pub wisher: Option<Wisher>,
    /// Whether somebody asked for the task just now.
    pub is_asked: bool,
    /// What was asked, and by whom.
    pub asked: Arc<UserText>,
    /// An owner has approved this very call.
    pub is_approved: bool,
    /// The level of what it reads.
    pub taint: Taint,
    /// Counts what models take.
    pub spent: Arc<Meter>,
    /// The time.
    pub now: DateTime<Utc>,
}

/// What is told of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoReport {
    /// For the model.
    pub text: String,
    /// The level of what stood there before and stands in the text.
    pub level: Taint,
}

/// What is wanted of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TodoWanted {
    /// An item more.
    Add {
        /// What is to be done.
        content: String,
        /// Whom it speaks of, by their names.
        people: Vec<String>,
        /// The chat that it belongs to, when it is named.
        chat: Option<String>,
    },
    /// An item is done.
    Complete {
        /// Words of it.
        words: String,
        /// The chat that it belongs to, when it is named.
        chat: Option<String>,
    },
}

/// The conversation's todo list.
#[async_trait]
pub trait Todos: Send + Sync {
    /// Returns the list as JSON; `None` when there is none.
    async fn read(&self, conversation: &ConversationId) -> Result<Option<String>, ToolError>;

    /// Replaces the list.
    async fn write(&self, conversation: &ConversationId, json: String) -> Result<(), ToolError>;
}
