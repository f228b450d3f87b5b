//! Schedules and their times: the verbs of [`Schedules`] and [`DueSchedules`].

use std::ops::Range;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::ConversationId;

use super::conversations;
use super::firing::{self, FiringText, RawFired};
use super::rows::{millis, time};
use super::schedule_change;
use super::schedules::{self, RawKept, RawSchedule};
use crate::error::{Result, StoreError};
use crate::intake::Fuse;
use crate::schedule::{
    Change, DueSchedules, FiringRecord, FiringResult, KeepResult, NewSchedule, Occurrence,
    ScheduleRow, Schedules, Usual, Version, Which,
};
use crate::sql::{Plan, SqlLedger};
use crate::value::params;
use selkie_domain::ids::{ScheduleId, TaskId};
use selkie_domain::usage::Usage;

#[async_trait]
impl Schedules for SqlLedger {
    async fn schedule(&self, new: NewSchedule) -> Result<KeepResult> {
        let contents = schedules::written(&new.schedule)?;
        let plan = Plan::DURABLE.bytes(contents.len()).after(&new.key);
        let kept = self.write(plan, move |tx| schedules::keep(tx, &new, &contents)).await?;
        Ok(match kept {
            RawKept::New(row) => KeepResult::New(row.read()?),
            RawKept::Known(row) => KeepResult::Known(row.read()?),
            RawKept::Full => KeepResult::Full,
        })
    }

    async fn reschedule(&self, of: Version, change: Change) -> Result<Option<ScheduleRow>> {
        let contents = match &change {
            Change::Amend { schedule, .. }
            | Change::Resume { schedule, .. }
            | Change::Replace { schedule, .. }
            | Change::BringBack { schedule, .. } => schedules::written(schedule)?,
            _ => String::new(),
        };
        let plan = Plan::DURABLE.bytes(contents.len()).after(&of.id.0);
        let now = self.now();
        let found = self.write(plan, move |tx| {
            let changed = schedule_change::change(tx, of, &change, &contents)?;
            match change {
                Change::Remove | Change::Withdraw if changed => {
                    schedules::withdraw(tx, of.id, None, now)?
                }
                Change::RemoveBy(task) if changed => {
                    schedules::withdraw(tx, of.id, Some(task), now)?;
                }
                _ => {}
            }
            if changed { schedules::by_id(tx, of.id) } else { Ok(None) }
        });
        found.await?.map(RawSchedule::read).transpose()
    }

    async fn schedule_of(&self, id: ScheduleId) -> Result<Option<ScheduleRow>> {
        let found = self.read(move |tx| schedules::by_id(tx, id)).await?;
        found.map(RawSchedule::read).transpose()
    }

    async fn schedules(&self, which: &Which) -> Result<Vec<ScheduleRow>> {
        let which = which.clone();
        let found = self.read(move |tx| schedules::list(tx, &which)).await?;
        found.into_iter().map(RawSchedule::read).collect()
    }

    async fn how_many_schedules(&self, which: &Which) -> Result<u64> {
        let which = which.clone();
        self.read(move |tx| schedules::how_many(tx, &which)).await
    }

    async fn occurrences(&self, id: ScheduleId, limit: usize) -> Result<Vec<Occurrence>> {
        self.read(move |tx| firing::history(tx, id, limit)).await
    }

    async fn schedule_behind(&self, task: TaskId) -> Result<Option<ScheduleRow>> {
        let found = self.read(move |tx| schedules::listed(tx, schedules::BEHIND, params![task.0]));
        found.await?.into_iter().next().map(RawSchedule::read).transpose()
    }

    async fn schedules_keyed(&self, beginning: &str) -> Result<Vec<ScheduleRow>> {
        let first = beginning.to_owned();
        // Behind everything that begins so: keys are compared by their bytes.
        let last = format!("{beginning}\u{10ffff}");
        let found =
            self.read(move |tx| schedules::listed(tx, schedules::KEYED, params![&first, &last]));
        found.await?.into_iter().map(RawSchedule::read).collect()
    }
}

#[async_trait]
impl DueSchedules for SqlLedger {
    async fn due_schedules(&self, now: DateTime<Utc>, limit: usize) -> Result<Vec<ScheduleRow>> {
        let due =
            self.read(move |tx| schedules::listed(tx, schedules::DUE, params![millis(now), limit]));
        let mut rows = Vec::new();
        for raw in due.await? {
            let of = raw.version();
            match raw.read() {
                Ok(row) => rows.push(row),
                Err(error) => self.set_aside(of, &error).await?,
            }
        }
        Ok(rows)
    }

    async fn next_due(&self) -> Result<Option<DateTime<Utc>>> {
        let next = self.read(|tx| tx.first::<i64>(schedules::NEXT, params![])).await?;
        Ok(next.map(time))
    }

    async fn fire(&self, firing: FiringRecord, fuse: Fuse) -> Result<FiringResult> {
        let firing = FiringText::new(firing)?;
        let plan = Plan::DURABLE.bytes(firing.bytes()).after(&firing.schedule().0);
        let instance = fuse.instance.clone();
        let fired = self.write(plan, move |tx| firing::fire(tx, &firing, &fuse)).await?;
        Ok(match fired {
            RawFired::Stale => FiringResult::Stale,
            RawFired::UnderWay => FiringResult::UnderWay,
            RawFired::CarriedOut => FiringResult::CarriedOut,
            RawFired::Skipped(why) => FiringResult::Skipped(why),
            RawFired::Missed => FiringResult::Missed,
            RawFired::Said(queued) => FiringResult::Said(queued),
            RawFired::Task(raw) => {
                FiringResult::Task(Box::new(self.requested(*raw, &instance).await))
            }
        })
    }

    async fn used_by(&self, id: ScheduleId, within: Range<DateTime<Utc>>) -> Result<Usage> {
        self.read(move |tx| schedules::used(tx, id, &within)).await
    }

    async fn usual(&self, conversation: &ConversationId, most: usize) -> Result<Usual> {
        let id = conversation.clone();
        self.read(move |tx| match conversations::find(tx, &id)? {
            Some(row) => schedules::usual(tx, row, most),
            None => Ok(Usual::default()),
        })
        .await
    }

    async fn active_after(&self, id: ScheduleId, most: usize) -> Result<Vec<ScheduleRow>> {
        let found =
            self.read(move |tx| schedules::listed(tx, schedules::ACTIVE, params![id.0, most]));
        // One that cannot be read is set aside when it comes due.
        Ok(found.await?.into_iter().filter_map(|raw| raw.read().ok()).collect())
    }

    async fn dated_after(
        &self,
        moment: DateTime<Utc>,
        behind: ScheduleId,
        most: usize,
    ) -> Result<Vec<ScheduleRow>> {
        let by = (millis(moment), behind.0);
        let found = self.read(move |tx| {
            schedules::listed(tx, schedules::DATED_AFTER, params![by.0, by.1, most])
        });
        // One that cannot be read is set aside when it comes due.
        Ok(found.await?.into_iter().filter_map(|raw| raw.read().ok()).collect())
    }

    async fn zone_data(&self) -> Result<Option<String>> {
        self.read(|tx| tx.only("SELECT zones FROM meta WHERE id = 1", params![])).await
    }

    async fn note_zone_data(&self, version: &str) -> Result<()> {
        let version = version.to_owned();
        self.write(Plan::DURABLE.after("zones"), move |tx| {
            tx.execute_later("UPDATE meta SET zones = ?1 WHERE id = 1", params![&version])
        })
        .await
    }
}

impl SqlLedger {
    /// A schedule that cannot be read waits: nobody could carry it out, and those behind it go on.
    async fn set_aside(&self, of: Version, error: &StoreError) -> Result<()> {
        tracing::error!(schedule = %of.id, %error, "a schedule cannot be read: it is paused");
        let pause = Change::Pause { why: format!("it cannot be read: {error}") };
        let plan = Plan::DURABLE.after(&of.id.0);
        self.write(plan, move |tx| schedule_change::change(tx, of, &pause, "")).await?;
        Ok(())
    }
}
