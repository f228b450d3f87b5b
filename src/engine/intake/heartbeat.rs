//! The heartbeat: a schedule of the program's own, kept as the config says. The bot looks by itself at what the owner's
//! file names, and stays silent when there is nothing to tell.

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::PersonId;

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::intake::heartbeat::settings::HeartbeatSettings;
use crate::intake::messages::schedules as messages;
use crate::work::heartbeat_alert;
use crate::work::timetable::BookTimetable;
use selkie_domain::live::Live;
use selkie_domain::schedule::{
    Action, HEARTBEAT_OFF, Maker, Misfire, Schedule, ScheduleState, Terms,
};
use selkie_schedule::expression::{Every, Expression};
use selkie_schedule::turn::{name, next, plan};
use selkie_schedule::zone::Zone;
use selkie_store::{
    Change, KeepResult, Location, NewSchedule, Result, ScheduleRow, StoreError, Which,
};

pub mod file;
pub mod settings;

/// Begins the key of its schedule; the conversation follows.
const KEY: &str = "heartbeat:";

/// Keeps the heartbeat's schedule, and looks before it beats.
pub struct Heartbeat {
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) timetable: Arc<BookTimetable>,
    pub(crate) settings: Live<HeartbeatSettings>,
    pub(crate) zone: Zone,
    pub(crate) state_dir: PathBuf,
}

impl Heartbeat {
    /// Brings its schedule to what the config says: made, changed, waiting while it is switched off.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn keep(&self) -> Result<()> {
        let wanted = self.wanted().await;
        let kept = match &wanted {
            Some(wanted) => Some(self.made(wanted).await?),
            None => None,
        };
        for row in self.rows().await? {
            let is_other = kept.as_ref().is_none_or(|kept| kept.id() != row.id());
            if is_other && row.state == ScheduleState::Active {
                let why = HEARTBEAT_OFF.to_owned();
                self.context.storage.ledger.reschedule(row.version, Change::Pause { why }).await?;
            }
        }
        Ok(())
    }

    /// Its schedule as the config wants it; `None` when it is off, or nobody can be reached.
    async fn wanted(&self) -> Option<NewSchedule> {
        if !self.settings.now().enabled {
            return None;
        }
        let found = self.timetable.target(self.settings.now().to.as_deref()).await;
        let location = found.inspect_err(|why| tracing::warn!(why, "there is no heartbeat"));
        let owner = self.timetable.owners.first()?.clone();
        let now = self.context.runtime.now();
        self.schedule(location.ok()?, owner, now)
    }

    fn schedule(
        &self,
        location: Location,
        owner: PersonId,
        now: DateTime<Utc>,
    ) -> Option<NewSchedule> {
        let HeartbeatSettings { every, first_after, active, .. } = &*self.settings.now();
        let whole = DateTime::from_timestamp_millis(now.timestamp_millis())?;
        let first = TimeDelta::from_std(first_after.0).ok()?;
        let anchor = whole + first - TimeDelta::from_std(every.0.0).ok()?;
        let when = Expression::Every(Every::from_anchor(every.0, anchor)?);
        let terms = Terms {
            active: active.as_ref().map(|hours| hours.as_str().to_owned()),
            // Whatever was missed, the next look sees it.
            misfire: Misfire::Skip,
            ..Terms::default()
        };
        let schedule = Schedule {
            v: Schedule::VERSION,
            title: String::new(),
            when: when.to_string(),
            zone: self.zone.name().to_owned(),
            action: Action::Heartbeat,
            maker: Maker::owner(owner),
            terms,
        };
        let next_at = plan(&schedule).ok()?.next(now, 0);
        let key = format!("{KEY}{}", location.conversation.full());
        Some(NewSchedule { key, location, schedule, next_at, most: u32::MAX, now })
    }

    /// Makes it, or changes the one that is there. One that an older selkie let somebody remove is made anew.
    async fn made(&self, wanted: &NewSchedule) -> Result<ScheduleRow> {
        let ledger = &self.context.storage.ledger;
        let mut new = wanted.clone();
        loop {
            let row = match ledger.schedule(new.clone()).await? {
                KeepResult::New(row) => return Ok(row),
                KeepResult::Known(row) if row.state == ScheduleState::Removed => {
                    new.key = format!("{}#{}", wanted.key, row.id());
                    continue;
                }
                KeepResult::Known(row) => row,
                // Nobody counts its schedules.
                KeepResult::Full => {
                    return Err(StoreError::Corrupt("a heartbeat too many: a defect".to_owned()));
                }
            };
            let Some(change) = change(&row, wanted) else { return Ok(row) };
            // One that was changed under our eyes, or still waits, is looked at again.
            let changed = ledger.reschedule(row.version, change).await?;
            if let Some(changed) = changed.filter(|row| row.state == ScheduleState::Active) {
                return Ok(changed);
            }
        }
    }

    async fn rows(&self) -> Result<Vec<ScheduleRow>> {
        let Some(owner) = self.timetable.owners.first() else { return Ok(Vec::new()) };
        let which = Which { person: Some(owner.clone()), limit: usize::MAX, ..Which::default() };
        let mut rows = self.context.storage.ledger.schedules(&which).await?;
        rows.retain(|row| row.schedule.action == Action::Heartbeat);
        Ok(rows)
    }

    /// Says what to look at now.
    ///
    /// # Errors
    /// Why this time is passed over.
    pub async fn looks_at(&self, row: &ScheduleRow) -> std::result::Result<String, String> {
        let storage = &self.context.storage;
        // A kill may have come before it was told.
        heartbeat_alert::tell(&self.context, &self.outbox, row.id()).await;
        let status = storage.insist(|ledger| ledger.status(&row.conversation)).await;
        if status.is_some_and(|status| status.running.is_some() || status.waiting > 0) {
            return Err(messages::BUSY.to_owned());
        }
        let state_dir = self.state_dir.clone();
        let read = tokio::task::spawn_blocking(move || file::read(&state_dir)).await;
        read.unwrap_or_else(|error| Err(format!("{} cannot be read: {error}", file::NAME)))
    }
}

/// What makes of a heartbeat that is there the one that is wanted.
fn change(row: &ScheduleRow, wanted: &NewSchedule) -> Option<Change> {
    let span = |schedule: &Schedule| match schedule.when.parse() {
        Ok(Expression::Every(every)) => Some(every.span()),
        _ => None,
    };
    let NewSchedule { schedule, next_at, now, .. } = wanted;
    let is_off = row.state == ScheduleState::Paused && row.why == HEARTBEAT_OFF;
    // Only what it is counted from may be another one.
    let same = Schedule { when: schedule.when.clone(), ..row.schedule.clone() } == *schedule
        && span(&row.schedule) == span(schedule);
    match (same, is_off) {
        (true, false) => None,
        (true, true) => {
            let plan = plan(&row.schedule).ok()?;
            Some(Change::Resume {
                schedule: Box::new(row.schedule.clone()),
                next_at: next(&plan, &name(row.id()), *now, row.fired),
                now: *now,
            })
        }
        (false, _) => {
            Some(Change::Amend { schedule: Box::new(schedule.clone()), next_at: *next_at })
        }
    }
}
