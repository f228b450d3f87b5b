//! The book of schedules: what people and tools ask of them, checked and kept.

use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, PersonId, Redactor};
use tokio::sync::Notify;

use super::bounds;
use super::expression::Expression;
use super::forecast::{self, KnownTimes};
use super::foreign_words::shown;
use super::line::Line;
use super::outlook::{Outlook, outlook};
use super::plan::Plan;
use super::recurrence::Recurrence;
use super::turn::plan;
use super::words::{moment, words};
use super::zone::Zone;
use selkie_domain::clock::SharedClock;
use selkie_domain::ids::{ScheduleId, TaskId};
use selkie_domain::live::Live;
use selkie_domain::schedule::{Action, Maker, Schedule, ScheduleState, Terms};
use selkie_domain::spelling::nearest;
use selkie_llm::PriceList;
use selkie_store::{
    KeepResult, Ledger, Location, NewSchedule, Occurrence, ScheduleRow, StoreError, Which,
};

mod again;
mod amended;
mod brought;
mod moved;
mod of_config;
mod retimed;
mod wished;

pub use amended::PostChange;
pub use brought::Ahead;
pub use wished::RequestOrigin;

/// So many are listed where a person or a model reads them in one message.
pub const MAX_LISTED: usize = 200;
/// So many earlier tasks a model reads at most.
pub const MAX_HISTORY: u32 = 16;
/// So many tasks of a conversation tell what the next one will cost.
const LOOKED_AT: usize = 20;
/// A change that somebody else came before is tried again so often.
const TRIES: usize = 4;

/// The book of schedules.
pub struct Book {
    parts: BookParts,
    /// Rung at each change: the next time may be another one.
    bell: Arc<Notify>,
    /// Tasks that were withdrawn with their schedules.
    withdrawn: Mutex<Vec<TaskId>>,
}

/// What a book is made of.
pub struct BookParts {
    /// Where schedules are kept.
    pub ledger: Arc<dyn Ledger>,
    /// The time.
    pub clock: SharedClock,
    /// The zone of times that name none.
    pub zone: Zone,
    /// So many active or paused schedules one person may have.
    pub most: Live<u32>,
    /// The model profiles that a schedule may name, and what they cost.
    pub prices: Live<PriceList>,
    /// Hides what may not be stored.
    pub redactor: Redactor,
}

/// A schedule that somebody wants.
#[derive(Clone, Debug)]
pub struct ScheduleRequest {
    /// Names what makes it: wanted twice under one key it is one schedule.
    pub key: String,
    /// Where it speaks.
    pub location: Location,
    /// What people call it; may be empty.
    pub title: String,
    /// When, as it was written.
    pub when: String,
    /// How often, where `when` is the first time alone.
    pub recurrence: Option<Recurrence>,
    /// The zone of that; the usual one where none is named.
    pub zone: Option<String>,
    /// What is done.
    pub action: Action,
    /// Whose it is.
    pub maker: Maker,
    /// Within which bounds.
    pub terms: Terms,
}

/// When something is wanted, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Time {
    /// When.
    pub expression: Expression,
    /// Whose clocks count.
    pub zone: Zone,
    /// Not before this moment.
    pub starts: Option<DateTime<Utc>>,
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
    pub fn new(parts: BookParts) -> Self {
        Self { parts, bell: Arc::default(), withdrawn: Mutex::default() }
    }

    /// Returns the zone of times that name none.
    pub fn zone(&self) -> Zone {
        self.parts.zone
    }

    /// Returns the time.
    pub fn now(&self) -> DateTime<Utc> {
        self.parts.clock.now()
    }

    /// Returns what is rung at each change.
    pub fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.bell)
    }

    /// Whether a schedule could be kept.
    ///
    /// # Errors
    /// `Refused` for a time, a zone, a model or words that cannot be taken.
    pub fn check(&self, wanted: &ScheduleRequest) -> Result<(), BookError> {
        let now = self.parts.clock.now();
        first(&self.schedule(wanted)?, now).map(|_| ())
    }

    /// Whether a person may have so many schedules more.
    ///
    /// # Errors
    /// `Refused` when not.
    pub async fn has_room(&self, person: &PersonId, more: usize) -> Result<(), BookError> {
        let most = usize::try_from(*self.parts.most.now()).unwrap_or(usize::MAX);
        let which = Which { person: Some(person.clone()), limit: most, ..Which::default() };
        let has = self.parts.ledger.schedules(&which).await?.len();
        if has.saturating_add(more) <= most {
            return Ok(());
        }
        let why = format!(
            "there are {has} schedules of yours already, and {most} are taken: {more} more do not fit"
        );
        Err(BookError::Refused(why))
    }

    fn schedule(&self, wanted: &ScheduleRequest) -> Result<Schedule, BookError> {
        let redactor = &self.parts.redactor;
        let ScheduleRequest { title, action, maker, terms, .. } = wanted;
        action.objection().map_or(Ok(()), |why| Err(BookError::Refused(why)))?;
        self.knows_model(action)?;
        check_history(terms)?;
        let Time { expression, zone, starts } = self.time(wanted)?;
        bounds::check(terms, &Plan::of(expression.clone(), zone), self.parts.clock.now())
            .map_err(BookError::Refused)?;
        Ok(Schedule {
            v: Schedule::VERSION,
            title: redactor.clean(title.trim()),
            when: expression.to_string(),
            zone: zone.name().to_owned(),
            action: action.clone().with(|text| redactor.clean(text)),
            maker: maker.clone(),
            terms: Terms { starts: starts.or(terms.starts), ..terms.clone() },
        })
    }

    /// Keeps a schedule.
    ///
    /// # Errors
    /// `Refused` for a time, a zone, a model or words that cannot be taken, and for one too many.
    pub async fn add(&self, wanted: ScheduleRequest) -> Result<ScheduleRow, BookError> {
        let BookParts { ledger, clock, most, .. } = &self.parts;
        let now = clock.now();
        let schedule = self.schedule(&wanted)?;
        let ScheduleRequest { key, location, .. } = wanted;
        let next_at = first(&schedule, now)?;
        let new =
            NewSchedule { key, location, schedule, next_at: Some(next_at), most: *most.now(), now };
        let row = match ledger.schedule(new).await? {
            KeepResult::New(row) | KeepResult::Known(row) => row,
            KeepResult::Full => return Err(BookError::Refused(self.full())),
        };
        self.bell.notify_one();
        Ok(row)
    }

    /// Reads when something is wanted.
    ///
    /// # Errors
    /// `Refused` for a time or a zone that cannot be taken.
    pub fn time(&self, wanted: &ScheduleRequest) -> Result<Time, BookError> {
        let zone = match wanted.zone.as_deref() {
            Some(zone) => Zone::named(zone).map_err(refused)?,
            None => self.parts.zone,
        };
        let now = self.parts.clock.now();
        match wanted.recurrence {
            Some(recurrence) => {
                let plan = recurrence.from(&wanted.when, zone, now).map_err(refused)?;
                Ok(Time { expression: plan.expression, zone, starts: plan.limits.starts })
            }
            None => {
                let expression = Expression::written(&wanted.when, zone, now).map_err(refused)?;
                Ok(Time { expression, zone, starts: None })
            }
        }
    }

    /// Lists schedules, the next to come due first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn list(&self, which: &Which) -> Result<Vec<ScheduleRow>, BookError> {
        Ok(self.parts.ledger.schedules(which).await?)
    }

    /// Returns the schedule that was kept last under a key, or under one made of it and `#`.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn keyed(&self, key: &str) -> Result<Option<ScheduleRow>, BookError> {
        let rows = self.parts.ledger.schedules_keyed(key).await?;
        let is_of = |row: &ScheduleRow| {
            row.key.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
        };
        Ok(rows.into_iter().filter(is_of).max_by_key(ScheduleRow::id))
    }

    /// Counts the schedules that would be listed without a limit.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn how_many(&self, which: &Which) -> Result<u64, BookError> {
        Ok(self.parts.ledger.how_many_schedules(which).await?)
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
        let found = self.parts.ledger.schedule_of(id).await?;
        let fits = |row: &ScheduleRow| {
            row.state != ScheduleState::Removed && here.is_none_or(|here| row.conversation == *here)
        };
        found.filter(fits).ok_or_else(|| unknown(&id.to_string()))
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
        Ok(self.parts.ledger.occurrences(id, limit).await?)
    }

    /// Says what a schedule does and when, in one line.
    pub fn line(&self, row: &ScheduleRow) -> String {
        let Outlook { when, next, .. } = outlook(row, self.parts.clock.now());
        let Schedule { action, .. } = &row.schedule;
        let to = match action {
            Action::Post { to, .. } => Some(to.key()),
            _ => None,
        };
        let line = Line {
            id: row.id(),
            when: &when,
            state: row.state,
            why: &row.why,
            next: next.first().map(String::as_str),
            does: action.name(),
            to,
            asked: None,
            name: &row.schedule.name(),
        };
        line.to_string()
    }

    /// Takes what the config says now: how many schedules a person may have, and what the models cost.
    pub fn put(&self, most: u32, prices: PriceList) {
        self.parts.most.put(most);
        self.parts.prices.put(prices);
    }

    /// Says which profiles there are, of a name that is none of them.
    pub fn unknown_model(&self, model: &str) -> Option<String> {
        unknown_model(model, &self.parts.prices.now())
    }

    /// A prompt names a profile that is there.
    fn knows_model(&self, action: &Action) -> Result<(), BookError> {
        let Action::Prompt { model: Some(model), .. } = action else { return Ok(()) };
        self.unknown_model(model).map_or(Ok(()), |why| Err(BookError::Refused(why)))
    }

    /// Says what a schedule will come to in a month; empty when it comes due no more. `paid`: how many paid messages
    /// each time costs where it speaks.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn forecast(
        &self,
        row: &ScheduleRow,
        paid: Option<u64>,
    ) -> Result<String, BookError> {
        let BookParts { ledger, prices, .. } = &self.parts;
        let usual = ledger.usual(&row.conversation, LOOKED_AT).await?;
        let monthly = self.outlook(row).monthly;
        Ok(forecast::words(
            &row.schedule,
            &KnownTimes { monthly, usual, prices: &prices.now(), paid },
        ))
    }

    /// Returns what lies ahead of a schedule.
    pub fn outlook(&self, row: &ScheduleRow) -> Outlook {
        outlook(row, self.parts.clock.now())
    }
}

/// Says which profiles there are, of a name that is none of them.
pub fn unknown_model(model: &str, prices: &PriceList) -> Option<String> {
    if prices.profiles.contains_key(model) {
        return None;
    }
    let names: Vec<&str> = prices.profiles.keys().map(String::as_str).collect();
    let near = nearest(model, names.iter().copied());
    let hint = near.map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
    let takes = match names.is_empty() {
        true => "there is none: leave it out, and the main model answers".to_owned(),
        false => format!("takes {}", names.join(", ")),
    };
    Some(format!("{:?} is not a model profile of the config ({takes}).{hint}", shown(model)))
}

fn check_history(terms: &Terms) -> Result<(), BookError> {
    if terms.history <= MAX_HISTORY {
        return Ok(());
    }
    let why =
        format!("a history of {} tasks is not kept: it takes 0 to {MAX_HISTORY}", terms.history);
    Err(BookError::Refused(why))
}

fn first(schedule: &Schedule, now: DateTime<Utc>) -> Result<DateTime<Utc>, BookError> {
    let plan = plan(schedule).map_err(BookError::Refused)?;
    // Its id is not known yet: jitter begins with the second time.
    plan.next(now, 0).ok_or_else(|| BookError::Refused(never(&plan, now)))
}

fn never(plan: &Plan, now: DateTime<Utc>) -> String {
    if let Some(ends) = plan.limits.ends.filter(|ends| *ends <= now) {
        return format!("its end, {}, is over (takes a later time)", moment(ends, plan.zone));
    }
    format!("{} never comes due within its bounds", words(&plan.expression, plan.zone))
}

fn refused(error: impl std::fmt::Display) -> BookError {
    BookError::Refused(error.to_string())
}

/// There is no such schedule, as far as whoever asked can see.
pub fn unknown(id: &str) -> BookError {
    BookError::Refused(format!(
        "there is no schedule {id} here: the list of schedules shows which there are"
    ))
}
