//! A reminder that waits is brought to another moment, by the clocks of another zone.

use chrono::{DateTime, Utc};

use super::{Book, BookError};
use crate::expression::Expression;
use crate::zone::Zone;
use selkie_domain::schedule::{Action, Schedule, ScheduleState};
use selkie_store::{Change, ScheduleRow};

impl Book {
    /// Brings a reminder that waits to another moment; it is said at once where that is over.
    ///
    /// # Errors
    /// `Refused` when it is no reminder of one moment, waits no more, or was changed meanwhile.
    pub async fn move_reminder(
        &self,
        row: ScheduleRow,
        zone: Zone,
        at: DateTime<Utc>,
    ) -> Result<ScheduleRow, BookError> {
        let id = row.id();
        let waits = matches!(row.state, ScheduleState::Active | ScheduleState::Paused);
        let is_once = matches!(row.schedule.when.parse(), Ok(Expression::Once(_)));
        if !waits || !is_once || !matches!(row.schedule.action, Action::Remind { .. }) {
            return Err(BookError::Refused(format!("schedule {id} is no reminder that waits")));
        }
        let schedule = Schedule {
            when: Expression::Once(at).to_string(),
            zone: zone.name().to_owned(),
            ..row.schedule.clone()
        };
        let change = Change::Amend { schedule: Box::new(schedule), next_at: Some(at) };
        let changed = self.changed(&row, change).await?;
        changed.ok_or_else(|| BookError::Refused(format!("schedule {id} has just been changed")))
    }
}
