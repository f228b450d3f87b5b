//! The book of schedules: what people and tools ask of them, checked and kept.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, Redactor};
use tokio::sync::Notify;

use super::count::{forecast, upcoming};
use super::expression::Expression;
use super::plan::Plan;
use super::turn::{name, next, plan};
use super::words::{moment, words};
use super::zone::Zone;
use crate::domain::clock::SharedClock;
use crate::domain::ids::ScheduleId;
use crate::domain::schedule::{Action, Maker, Schedule, ScheduleState, Terms, Wish};
use crate::store::{
    Change, Kept, Ledger, Location, NewSchedule, Occurrence, ScheduleRow, StoreError, Which,
};

/// The longest words that a schedule keeps, in bytes.
const LONGEST: usize = 16_000;
/// So many are listed.
pub const MOST_LISTED: usize = 200;
/// A change that somebody else came before is tried again so often.
const TRIES: usize = 4;

/// The book of schedules.
pub struct Book {
    ledger: Arc<dyn Ledger>,
    clock: SharedClock,
    /// The zone of times that name none.
    zone: Zone,
    /// So many active or paused schedules one person may have.
    most: u32,
    /// What may not be stored.
    redactor: Redactor,
    /// Rung at each change: the next time may be another one.
    bell: Arc<Notify>,
}

/// A schedule that somebody wants.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Names what makes it: wanted twice under one key it is one schedule.
    pub key: String,
    /// Where it speaks.
    pub location: Location,
    /// What people call it; may be empty.
    pub title: String,
    /// When, as it was written.
    pub when: String,
    /// The zone of that; the usual one where none is named.
    pub zone: Option<String>,
    /// What is done.
    pub action: Action,
    /// Whose it is.
    pub maker: Maker,
    /// Within which bounds.
    pub terms: Terms,
}

/// Why something asked of a schedule was not done.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// It cannot be, and why, for whoever asked.
    #[error("{0}")]
    Refused(String),
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Book {
    /// Opens the book.
    pub fn new(
        ledger: Arc<dyn Ledger>,
        clock: SharedClock,
        zone: Zone,
        most: u32,
        redactor: Redactor,
    ) -> Self {
        Self { ledger, clock, zone, most, redactor, bell: Arc::default() }
    }

    /// Returns what is rung at each change.
    pub fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.bell)
    }

    /// Keeps a schedule.
    ///
    /// # Errors
    /// `Refused` for a time, a zone or words that cannot be taken, and for one too many.
    pub async fn add(&self, wanted: Wanted) -> Result<ScheduleRow, BookError> {
        let now = self.clock.now();
        let Wanted { key, location, title, when, zone, action, maker, terms } = wanted;
        check(&action)?;
        let zone = match zone.as_deref().map(str::trim).filter(|zone| !zone.is_empty()) {
            Some(zone) => Zone::named(zone).map_err(refused)?,
            None => self.zone,
        };
        let when = Expression::written(&when, zone, now).map_err(refused)?;
        let schedule = Schedule {
            v: Schedule::VERSION,
            title: self.redactor.clean(title.trim()),
            when: when.to_string(),
            zone: zone.name().to_owned(),
            action: action.with(|text| self.redactor.clean(text)),
            maker,
            terms,
        };
        let next_at = first(&schedule, now)?;
        let new =
            NewSchedule { key, location, schedule, next_at: Some(next_at), most: self.most, now };
        let row = match self.ledger.schedule(new).await? {
            Kept::New(row) | Kept::Known(row) => row,
            Kept::Full => {
                let most = self.most;
                let why = format!("there are {most} schedules of yours already: remove one first");
                return Err(BookError::Refused(why));
            }
        };
        self.bell.notify_one();
        Ok(row)
    }

    /// Lists schedules, the next to come due first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn list(&self, which: &Which) -> Result<Vec<ScheduleRow>, BookError> {
        Ok(self.ledger.schedules(which).await?)
    }

    /// Returns a schedule, wherever it speaks, or `here` alone.
    ///
    /// # Errors
    /// `Refused` when there is none.
    pub async fn get(
        &self,
        id: ScheduleId,
        here: Option<&ConversationId>,
    ) -> Result<ScheduleRow, BookError> {
        let found = self.ledger.schedule_of(id).await?;
        let fits = |row: &ScheduleRow| {
            row.state != ScheduleState::Removed && here.is_none_or(|here| row.conversation == *here)
        };
        found.filter(fits).ok_or_else(|| unknown(&id.to_string()))
    }

    /// Does what somebody wishes with a schedule; `may` can refuse it with a reason.
    ///
    /// # Errors
    /// `Refused` when it cannot be done.
    pub async fn wish(
        &self,
        id: ScheduleId,
        wish: Wish,
        here: Option<&ConversationId>,
        may: impl Fn(&ScheduleRow) -> Result<(), String>,
    ) -> Result<ScheduleRow, BookError> {
        for _ in 0..TRIES {
            let row = self.get(id, here).await?;
            may(&row).map_err(BookError::Refused)?;
            let change = self.change(&row, wish)?;
            let Some(change) = change else { return Ok(row) };
            if let Some(changed) = self.ledger.reschedule(row.version, change).await? {
                self.bell.notify_one();
                return Ok(changed);
            }
        }
        let why = format!("schedule {id} changes all the time: try again");
        Err(BookError::Refused(why))
    }

    /// What a wish changes; nothing where it stands so already.
    fn change(&self, row: &ScheduleRow, wish: Wish) -> Result<Option<Change>, BookError> {
        let id = row.id();
        Ok(match (wish, row.state) {
            (Wish::Remove, _) => Some(Change::Remove),
            (_, ScheduleState::Ended | ScheduleState::Removed) => {
                let why = format!("schedule {id} has come due for the last time");
                return Err(BookError::Refused(why));
            }
            (Wish::Pause, ScheduleState::Active) => {
                Some(Change::Pause { why: "somebody paused it".to_owned() })
            }
            (Wish::Resume, ScheduleState::Paused) => {
                Some(Change::Resume { next_at: Some(resumes(row, self.clock.now())?) })
            }
            (Wish::Pause | Wish::Resume, _) => None,
        })
    }

    /// Returns the newest times of a schedule.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn history(
        &self,
        id: ScheduleId,
        limit: usize,
    ) -> Result<Vec<Occurrence>, BookError> {
        Ok(self.ledger.occurrences(id, limit).await?)
    }

    /// Says what a schedule does and when, in one line.
    pub fn line(&self, row: &ScheduleRow) -> String {
        let (id, state) = (row.id(), row.state);
        let Outlook { when, next, .. } = outlook(row, self.clock.now());
        let next = match (state, next.first()) {
            (ScheduleState::Active, Some(next)) => format!("next {next}"),
            _ if row.why.is_empty() => state.name().to_owned(),
            _ => format!("{}: {}", state.name(), row.why),
        };
        let Schedule { action, .. } = &row.schedule;
        format!("{id} · {when} · {next} · {}: {}", action.name(), row.schedule.name())
    }

    /// Returns what lies ahead of a schedule.
    pub fn outlook(&self, row: &ScheduleRow) -> Outlook {
        outlook(row, self.clock.now())
    }
}

/// What lies ahead of a schedule, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// When it comes due.
    pub when: String,
    /// Its next times, five at most, in its zone.
    pub next: Vec<String>,
    /// How often it comes due in the next 30 days.
    pub monthly: u64,
}

/// Reads what lies ahead of a schedule.
pub fn outlook(row: &ScheduleRow, now: DateTime<Utc>) -> Outlook {
    let Ok(plan) = plan(&row.schedule) else {
        return Outlook { when: row.schedule.when.clone(), ..Outlook::default() };
    };
    let when = words(&plan.expression, plan.zone);
    let Some(next_at) = row.next_at.filter(|_| row.state == ScheduleState::Active) else {
        return Outlook { when, ..Outlook::default() };
    };
    let fired = row.fired.saturating_add(1);
    let later = upcoming(&plan, next_at.max(now), fired, 4);
    let shown = |at: DateTime<Utc>| moment(at, plan.zone);
    Outlook {
        when,
        next: std::iter::once(next_at).chain(later).map(shown).collect(),
        monthly: forecast(&plan, now, row.fired),
    }
}

/// What a schedule says or asks has to be there, and not too long.
fn check(action: &Action) -> Result<(), BookError> {
    let text = action.text();
    if text.trim().is_empty() {
        let why = format!("a {} needs words: they are empty", action.name());
        return Err(BookError::Refused(why));
    }
    if text.len() > LONGEST {
        let why = format!("a {} takes up to {LONGEST} bytes, not {}", action.name(), text.len());
        return Err(BookError::Refused(why));
    }
    Ok(())
}

fn first(schedule: &Schedule, now: DateTime<Utc>) -> Result<DateTime<Utc>, BookError> {
    let plan = plan(schedule).map_err(BookError::Refused)?;
    // Its id is not known yet: jitter begins with the second time.
    plan.next(now, 0).ok_or_else(|| BookError::Refused(never(&plan)))
}

fn resumes(row: &ScheduleRow, now: DateTime<Utc>) -> Result<DateTime<Utc>, BookError> {
    let plan = plan(&row.schedule).map_err(BookError::Refused)?;
    // A reminder is said late rather than never.
    let kept = row.next_at.filter(|_| row.schedule.action.is_never_too_late());
    let next = kept.or_else(|| next(&plan, &name(row.id()), now, row.fired));
    next.ok_or_else(|| BookError::Refused(never(&plan)))
}

fn never(plan: &Plan) -> String {
    format!("{} does not come any more within its bounds", words(&plan.expression, plan.zone))
}

fn refused(error: impl std::fmt::Display) -> BookError {
    BookError::Refused(error.to_string())
}

/// There is no such schedule, as far as whoever asked can see.
pub fn unknown(id: &str) -> BookError {
    BookError::Refused(format!("there is no schedule {id} here: list shows those there are"))
}
