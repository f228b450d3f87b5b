//! A reminder that is said again: its words, once more, at another time.

use chrono::{DateTime, SubsecRound as _, Utc};

use super::{Book, BookError, first};
use crate::expression::Expression;
use selkie_domain::schedule::{Schedule, Terms};
use selkie_store::{Location, NewSchedule, ReminderRow};

impl Book {
    /// Makes of a reminder the one that says its words at `at`, whose it is: one for each that was said, so that whoever
    /// wants it twice has it once.
    ///
    /// # Errors
    /// `Refused` for a time that is over.
    pub fn again(&self, row: &ReminderRow, at: DateTime<Utc>) -> Result<NewSchedule, BookError> {
        let ReminderRow { id, schedule: old, .. } = row;
        let now = self.now();
        let at = at.trunc_subsecs(0);
        let schedule = Schedule {
            when: Expression::Once(at).to_string(),
            terms: Terms::default(),
            ..old.schedule.clone()
        };
        let next_at = Some(first(&schedule, now)?);
        let location = Location {
            conversation: old.conversation.clone(),
            place: old.place.clone(),
            title: old.title.clone(),
        };
        let key = format!("schedule:{}@{}#snooze", id.schedule, id.at.timestamp_millis());
        Ok(NewSchedule { key, location, schedule, next_at, most: *self.parts.most.now(), now })
    }

    /// Says that somebody has as many schedules as they may.
    pub fn full(&self) -> String {
        format!("there are {} schedules of yours already: remove one first", self.parts.most.now())
    }
}
