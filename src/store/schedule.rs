//! Schedules: kept, changed, and carried out when they come due, each time once.

use std::ops::Range;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, PersonId, PlaceId};

use crate::arrival::{Location, TaskRequest};
use crate::delivery::{DeliveryState, Draft, QueuedOutbound};
use crate::error::Result;
use crate::intake::{Fuse, RequestResult};
use selkie_domain::ids::{ScheduleId, TaskId};
use selkie_domain::schedule::{OccurrenceState, Schedule, ScheduleState};
use selkie_domain::usage::Usage;

/// Schedules and their times, as people make, change and list them.
#[async_trait]
pub trait Schedules: Send + Sync {
    /// Keeps a schedule, once for its key. Durable.
    async fn schedule(&self, new: NewSchedule) -> Result<KeepResult>;

    /// Changes a schedule that stands as it was read; `None` when it has changed since, or is not there. Durable.
    async fn reschedule(&self, of: Version, change: Change) -> Result<Option<ScheduleRow>>;

    /// Returns one schedule, a removed one too.
    async fn schedule_of(&self, id: ScheduleId) -> Result<Option<ScheduleRow>>;

    /// Lists schedules, the next to come due first, then those that never will.
    async fn schedules(&self, which: &Which) -> Result<Vec<ScheduleRow>>;

    /// Counts the schedules that would be listed without a limit.
    async fn how_many_schedules(&self, which: &Which) -> Result<u64>;

    /// Returns the newest times of a schedule, the newest first.
    async fn occurrences(&self, id: ScheduleId, limit: usize) -> Result<Vec<Occurrence>>;

    /// Returns the schedule that made a task; `None` for a task of another cause.
    async fn schedule_behind(&self, task: TaskId) -> Result<Option<ScheduleRow>>;

    /// Returns every schedule whose key begins so, those that are over, too.
    async fn schedules_keyed(&self, beginning: &str) -> Result<Vec<ScheduleRow>>;
}

/// Schedules as the clock goes through them, and what their tasks have used.
#[async_trait]
pub trait DueSchedules: Send + Sync {
    /// Returns the active schedules that are due at `now`, the earliest first.
    async fn due_schedules(&self, now: DateTime<Utc>, limit: usize) -> Result<Vec<ScheduleRow>>;

    /// Returns when the next active schedule comes due.
    async fn next_due(&self) -> Result<Option<DateTime<Utc>>>;

    /// Carries out one time of a schedule, or notes why not, and sets its next time, in one write: a time that
    /// was carried out never is again. Durable.
    async fn fire(&self, firing: FiringRecord, fuse: Fuse) -> Result<FiringResult>;

    /// Returns what the tasks of a schedule have used that were made within this time.
    async fn used_by(&self, id: ScheduleId, within: Range<DateTime<Utc>>) -> Result<Usage>;

    /// Returns what the newest tasks of a conversation have used that asked a model, so many at most.
    async fn usual(&self, conversation: &ConversationId, most: usize) -> Result<Usual>;

    /// Returns active schedules behind this one, by their numbers, so many at most.
    async fn active_after(&self, id: ScheduleId, most: usize) -> Result<Vec<ScheduleRow>>;

    /// Returns active and paused schedules behind this one, by their numbers, so many at most, that were made, resumed or
    /// carried out later than this moment: by a clock that was ahead.
    async fn dated_after(
        &self,
        moment: DateTime<Utc>,
        behind: ScheduleId,
        most: usize,
    ) -> Result<Vec<ScheduleRow>>;

    /// Returns the version of the zone data by which next times were set; `None` when nobody knows.
    async fn zone_data(&self) -> Result<Option<String>>;

    /// Notes the version of the zone data by which all next times are set now. Durable.
    async fn note_zone_data(&self, version: &str) -> Result<()>;
}

/// What some tasks have used together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usual {
    /// How many tasks.
    pub tasks: u32,
    /// What they have used.
    pub usage: Usage,
}

/// A schedule to be kept.
#[derive(Clone, Debug)]
pub struct NewSchedule {
    /// Names what made it: kept twice under one key it is one schedule.
    pub key: String,
    /// Where it speaks.
    pub location: Location,
    /// The schedule.
    pub schedule: Schedule,
    /// When it first comes due.
    pub next_at: Option<DateTime<Utc>>,
    /// So many active or paused ones its maker may have in all.
    pub most: u32,
    /// Now.
    pub now: DateTime<Utc>,
}

/// What became of a schedule that was to be kept.
#[derive(Clone, Debug, PartialEq)]
pub enum KeepResult {
    /// It is.
    New(ScheduleRow),
    /// It was before.
    Known(ScheduleRow),
    /// Its maker has as many as they may.
    Full,
}

/// A schedule as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Which.
    pub id: ScheduleId,
    /// Counts its changes.
    pub number: i64,
}

/// What becomes of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It waits, and why; its time stays open.
    Pause {
        /// Why, for people.
        why: String,
    },
    /// It goes on, with this time; what it has used of its day is forgiven.
    Resume {
        /// The contents.
        schedule: Box<Schedule>,
        /// When it next comes due.
        next_at: Option<DateTime<Utc>>,
        /// Now.
        now: DateTime<Utc>,
    },
    /// It comes due at another time: its zone's clocks are set by other rules.
    Retime {
        /// When it next comes due.
        next_at: Option<DateTime<Utc>>,
    },
    /// It is taken away, and what it has begun ends.
    Remove,
    /// The same, by one of its own tasks: that goes on.
    RemoveBy(TaskId),
    /// It begins anew with these contents, even one that is over; one that waits for somebody still does.
    Replace {
        /// The contents.
        schedule: Box<Schedule>,
        /// When it next comes due.
        next_at: Option<DateTime<Utc>>,
        /// Now.
        now: DateTime<Utc>,
    },
    /// It is taken away, unless something that it says is on its way.
    Withdraw,
    /// What a clock that was ahead has written in it is set back to now, its interval and its next time with it; what
    /// waited for its next day waits no more.
    BringBack {
        /// The contents.
        schedule: Box<Schedule>,
        /// When it next comes due.
        next_at: Option<DateTime<Utc>>,
        /// Now.
        now: DateTime<Utc>,
    },
    /// It gets other contents, and this time, unless something that it says is on its way.
    Amend {
        /// The contents.
        schedule: Box<Schedule>,
        /// When it next comes due.
        next_at: Option<DateTime<Utc>>,
    },
}

/// A stored schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleRow {
    /// The row, with its version.
    pub version: Version,
    /// What made it.
    pub key: String,
    /// The conversation it speaks in, as it is called now.
    pub conversation: ConversationId,
    /// The place of that.
    pub place: PlaceId,
    /// The place's title; may be empty.
    pub title: String,
    /// The conversation is closed, and why.
    pub closed: Option<String>,
    /// The schedule.
    pub schedule: Schedule,
    /// Where it stands.
    pub state: ScheduleState,
    /// Why it stands so; empty when that needs no reason.
    pub why: String,
    /// When it next comes due.
    pub next_at: Option<DateTime<Utc>>,
    /// How often it was carried out.
    pub fired: u32,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// What it has used of a day counts from here at the earliest: it was resumed then.
    pub counts_from: DateTime<Utc>,
    /// The last time that was carried out or passed over.
    pub last: Option<LastTime>,
}

/// The last time of a schedule that was carried out or passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastTime {
    /// The time.
    pub at: DateTime<Utc>,
    /// What the clocks of its zone showed then, by the zone data of that day: `2026-11-22T08:00:00`.
    pub local: String,
}

impl ScheduleRow {
    /// Returns its id.
    pub fn id(&self) -> ScheduleId {
        self.version.id
    }

    /// Whether it was made in the conversation that it speaks in: by somebody who was listened to there. Others speak
    /// where somebody wants it who is elsewhere.
    pub fn was_made_there(&self) -> bool {
        ["call:", "remind:"].iter().any(|made| self.key.starts_with(made))
    }
}

/// Which schedules are listed.
#[derive(Clone, Debug, Default)]
pub struct Which {
    /// Only those that speak in this conversation.
    pub conversation: Option<ConversationId>,
    /// Only those of this person.
    pub person: Option<PersonId>,
    /// Only those that stand so.
    pub states: States,
    /// At most so many.
    pub limit: usize,
}

/// How the schedules of a list may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States {
    /// Active or paused.
    pub open: bool,
    /// At their end.
    pub ended: bool,
    /// Removed.
    pub removed: bool,
}

impl States {
    /// Active or paused.
    pub const OPEN: Self = Self { open: true, ended: false, removed: false };
    /// Everything that nobody removed.
    pub const KEPT: Self = Self { ended: true, ..Self::OPEN };
    /// Whatever there is.
    pub const ALL: Self = Self { removed: true, ..Self::KEPT };
    /// What somebody removed.
    pub const REMOVED: Self = Self { open: false, ended: false, removed: true };
}

impl Default for States {
    fn default() -> Self {
        Self::OPEN
    }
}

/// One time of a schedule, to be carried out.
#[derive(Clone, Debug)]
pub struct FiringRecord {
    /// The schedule as it was read.
    pub of: Version,
    /// The time that has come, and what is done; nothing when all that has come was missed.
    pub turn: Option<Turn>,
    /// Times before this one that are not made up for.
    pub missed: Vec<MissedTimes>,
    /// The last of all these times; nothing when none has come.
    pub last: Option<LastTime>,
    /// When it next comes due; never again when there is none.
    pub next_at: Option<DateTime<Utc>>,
    /// It waits from now on, or until `next_at`, and why.
    pub wait: Option<Wait>,
    /// Somebody has it come due now: not while it is under way, and one that waits or is over stays so.
    pub by_hand: bool,
}

/// Why a schedule waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Until somebody lets it go on.
    ForSomebody(String),
    /// Until its next time, which is later than it would be.
    ForItsTime(String),
}

/// One time of a schedule that has come.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The time.
    pub at: DateTime<Utc>,
    /// What is done.
    pub does: OccurrenceAction,
}

/// What is done at one time of a schedule.
#[derive(Clone, Debug)]
pub enum OccurrenceAction {
    /// A task.
    Task(Box<TaskRequest>),
    /// Fixed words.
    Say(Box<Draft>),
    /// Nothing, and why.
    Skip(String),
}

/// Times that were missed and are not made up for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissedTimes {
    /// The first of them.
    pub first: DateTime<Utc>,
    /// The last of them.
    pub last: DateTime<Utc>,
    /// How many.
    pub times: u32,
    /// Why, for people.
    pub why: String,
}

/// What became of one time of a schedule.
#[derive(Clone, Debug)]
pub enum FiringResult {
    /// The schedule has changed, or this time was carried out: nothing was written.
    Stale,
    /// Somebody had it come due while it was under way: nothing was written.
    UnderWay,
    /// This very time was carried out before, by a clock that was ahead: its next time is set, and no more.
    CarriedOut,
    /// It was noted why nothing was done.
    Skipped(String),
    /// It was noted what was missed.
    Missed,
    /// Its task was made.
    Task(Box<RequestResult>),
    /// Its words were stored to be sent.
    Said(QueuedOutbound),
}

/// One time of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Occurrence {
    /// The time.
    pub at: DateTime<Utc>,
    /// The last of several that it stands for.
    pub until: Option<DateTime<Utc>>,
    /// For how many it stands.
    pub times: u32,
    /// When it was carried out or passed over.
    pub fired_at: DateTime<Utc>,
    /// Where it stands.
    pub state: OccurrenceState,
    /// Its task.
    pub task: Option<TaskId>,
    /// Where what it said stands; `None` when nothing was.
    pub delivered: Option<DeliveryState>,
}
