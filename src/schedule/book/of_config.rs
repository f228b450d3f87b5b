//! Schedules of the config: kept as they stand there, taken away with it.

use selkie_channel_core::PersonId;

use super::{Book, BookError, BookParts, first};
use crate::fixed::{FixedPlan, KEYS};
use selkie_domain::schedule::{Maker, Schedule, ScheduleState};
use selkie_store::{Change, KeepResult, Location, NewSchedule, ScheduleRow};

impl Book {
    /// Keeps a schedule of the config as it stands there: one whose words are the same goes on as it is, another one
    /// begins anew. `None` for one that never comes due.
    ///
    /// # Errors
    /// `Refused` when it cannot be carried out.
    pub async fn fix(
        &self,
        fixed: FixedPlan,
        location: Location,
        person: PersonId,
    ) -> Result<Option<ScheduleRow>, BookError> {
        let BookParts { ledger, clock, redactor, .. } = &self.parts;
        let now = clock.now();
        let maker = Maker::owner(person);
        let mut schedule = Schedule {
            v: Schedule::VERSION,
            title: fixed.title.clone(),
            when: fixed.when.to_string(),
            zone: fixed.zone.name().to_owned(),
            action: fixed.action.clone().with(|text| redactor.clean(text)),
            maker,
            terms: fixed.terms.clone(),
        };
        let known = ledger.schedules_keyed(&fixed.key).await?;
        let known = known.into_iter().find(|row| row.key == fixed.key);
        if let Some(row) = &known {
            if fixed.is_when(&row.schedule.when) {
                schedule.when.clone_from(&row.schedule.when);
            }
            if row.state != ScheduleState::Removed && row.schedule == schedule {
                return Ok(known);
            }
        }
        let Ok(next_at) = first(&schedule, now).map(Some) else { return Ok(None) };
        let row = match known {
            Some(row) => {
                let change = Change::Replace { schedule: Box::new(schedule), next_at, now };
                ledger.reschedule(row.version, change).await?
            }
            None => {
                let most = u32::MAX;
                let new = NewSchedule { key: fixed.key, location, schedule, next_at, most, now };
                match ledger.schedule(new).await? {
                    KeepResult::New(row) | KeepResult::Known(row) => Some(row),
                    KeepResult::Full => None,
                }
            }
        };
        self.bell.notify_one();
        Ok(row)
    }

    /// Takes schedules of the config away that do not stand there any more.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn keep_only(&self, keys: &[String]) -> Result<(), BookError> {
        let BookParts { ledger, .. } = &self.parts;
        for row in ledger.schedules_keyed(KEYS).await? {
            if row.state != ScheduleState::Removed && !keys.contains(&row.key) {
                self.changed(&row, Change::Remove).await?;
                tracing::info!(schedule = %row.id(), key = row.key, "the config no longer lists it");
            }
        }
        Ok(())
    }
}
