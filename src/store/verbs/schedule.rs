//! Schedules and their times: the verbs of [`Schedules`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::firing::{self, Prepared, RawFired};
use super::rows::{millis, time};
use super::schedules::{self, RawKept, RawSchedule};
use crate::domain::ids::ScheduleId;
use crate::store::error::{Result, StoreError};
use crate::store::intake::Fuse;
use crate::store::schedule::{
    Change, Fired, Firing, Kept, NewSchedule, Occurrence, ScheduleRow, Schedules, Version, Which,
};
use crate::store::sql::{Plan, SqlLedger};
use crate::store::value::params;

#[async_trait]
impl Schedules for SqlLedger {
    async fn schedule(&self, new: NewSchedule) -> Result<Kept> {
        let contents = schedules::written(&new.schedule)?;
        let plan = Plan::DURABLE.bytes(contents.len()).after(&new.key);
        let kept = self.write(plan, move |tx| schedules::keep(tx, &new, &contents)).await?;
        Ok(match kept {
            RawKept::New(row) => Kept::New(row.read()?),
            RawKept::Known(row) => Kept::Known(row.read()?),
            RawKept::Full => Kept::Full,
        })
    }

    async fn reschedule(&self, of: Version, change: Change) -> Result<Option<ScheduleRow>> {
        let contents = match &change {
            Change::Amend { schedule, .. } => schedules::written(schedule)?,
            _ => String::new(),
        };
        let plan = Plan::DURABLE.bytes(contents.len()).after(&of.id.0);
        let found = self.write(plan, move |tx| {
            let changed = schedules::change(tx, of, &change, &contents)?;
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

    async fn due_schedules(&self, now: DateTime<Utc>, limit: usize) -> Result<Vec<ScheduleRow>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
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

    async fn fire(&self, firing: Firing, fuse: Fuse) -> Result<Fired> {
        let firing = Prepared::new(firing)?;
        let plan = Plan::DURABLE.bytes(firing.bytes()).after(&firing.schedule().0);
        let instance = fuse.instance.clone();
        let fired = self.write(plan, move |tx| firing::fire(tx, &firing, &fuse)).await?;
        Ok(match fired {
            RawFired::Stale => Fired::Stale,
            RawFired::Skipped(why) => Fired::Skipped(why),
            RawFired::Missed => Fired::Missed,
            RawFired::Said(queued) => Fired::Said(queued),
            RawFired::Task(raw) => Fired::Task(Box::new(self.requested(*raw, &instance).await)),
        })
    }

    async fn occurrences(&self, id: ScheduleId, limit: usize) -> Result<Vec<Occurrence>> {
        self.read(move |tx| firing::history(tx, id, limit)).await
    }
}

impl SqlLedger {
    /// A schedule that cannot be read waits: nobody could carry it out, and those behind it go on.
    async fn set_aside(&self, of: Version, error: &StoreError) -> Result<()> {
        tracing::error!(schedule = %of.id, %error, "a schedule cannot be read: it is paused");
        let pause = Change::Pause { why: format!("it cannot be read: {error}") };
        let plan = Plan::DURABLE.after(&of.id.0);
        self.write(plan, move |tx| schedules::change(tx, of, &pause, "")).await?;
        Ok(())
    }
}
