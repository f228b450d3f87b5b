//! What people wish done with a schedule that stands: removed, paused, resumed.

use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, locked};

use super::{Book, BookError, BookParts, TRIES, never};
use crate::fixed::KEYS;
use crate::turn::{name, next, plan};
use selkie_domain::ids::{ScheduleId, TaskId};
use selkie_domain::schedule::{Action, HEARTBEAT_OFF, OccurrenceState, ScheduleState, Wish};
use selkie_store::{Change, Occurrence, ScheduleRow};

/// So many of its newest times are looked through for tasks that end with a schedule.
const LATEST: usize = 50;

/// From where something is asked of a schedule.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestOrigin<'a> {
    /// Of those that speak here alone.
    pub here: Option<&'a ConversationId>,
    /// By this task.
    pub task: Option<TaskId>,
}

impl Book {
    /// Does what somebody wishes with a schedule; `may` can refuse it with a reason.
    ///
    /// # Errors
    /// `Refused` when it cannot be done.
    pub async fn wish(
        &self,
        id: ScheduleId,
        wish: Wish,
        asking: RequestOrigin<'_>,
        may: impl Fn(&ScheduleRow) -> Result<(), String>,
    ) -> Result<ScheduleRow, BookError> {
        for _ in 0..TRIES {
            let row = self.get(id, asking.here).await?;
            may(&row).map_err(BookError::Refused)?;
            let is_post = matches!(row.schedule.action, Action::Post { .. });
            let change = match (self.change(&row, wish)?, asking.task) {
                // Who lets it go on by their own word has read why it waits; a task may have read others' words.
                (Some(Change::Resume { mut schedule, next_at, now }), None) => {
                    schedule.maker.is_cleared = true;
                    Change::Resume { schedule, next_at, now }
                }
                // A post on its way would go out behind the back of whoever removed it.
                (Some(Change::Remove), _) if is_post => Change::Withdraw,
                (Some(Change::Remove), Some(task)) => Change::RemoveBy(task),
                (Some(change), _) => change,
                (None, _) => return Ok(row),
            };
            let withdraws = matches!(change, Change::Withdraw);
            if let Some(changed) = self.changed(&row, change).await? {
                return Ok(changed);
            }
            if withdraws {
                self.is_not_on_its_way(id).await?;
            }
        }
        let why = format!("schedule {id} keeps changing: try again");
        Err(BookError::Refused(why))
    }

    /// Changes a schedule, and notes which of its tasks have ended with it.
    pub(super) async fn changed(
        &self,
        row: &ScheduleRow,
        change: Change,
    ) -> Result<Option<ScheduleRow>, BookError> {
        let BookParts { ledger, .. } = &self.parts;
        let spared = match &change {
            Change::RemoveBy(task) => Some(*task),
            _ => None,
        };
        let open = match &change {
            Change::Remove | Change::RemoveBy(_) | Change::Withdraw => {
                ledger.occurrences(row.id(), LATEST).await?
            }
            _ => Vec::new(),
        };
        let changed = ledger.reschedule(row.version, change).await?;
        if changed.is_some() {
            let is_open = |time: &Occurrence| {
                matches!(time.state, OccurrenceState::Due | OccurrenceState::Running)
            };
            let tasks = open.into_iter().filter(is_open).filter_map(|time| time.task);
            locked(&self.withdrawn).extend(tasks.filter(|task| spared != Some(*task)));
            self.bell.notify_one();
        }
        Ok(changed)
    }

    /// Takes the tasks that were withdrawn with their schedules since it was last asked: they may run in this process.
    pub fn withdrawn(&self) -> Vec<TaskId> {
        std::mem::take(&mut *locked(&self.withdrawn))
    }

    /// What a wish changes; nothing where it stands so already.
    pub(super) fn change(
        &self,
        row: &ScheduleRow,
        wish: Wish,
    ) -> Result<Option<Change>, BookError> {
        let id = row.id();
        Ok(match (wish, row.state) {
            (Wish::Remove, _) if row.key.starts_with(KEYS) => {
                let why = format!(
                    "schedule {id} comes from the config: remove it from `schedules` there, or pause it"
                );
                return Err(BookError::Refused(why));
            }
            (Wish::Remove, _) if is_the_configs(row) => {
                let why = format!(
                    "schedule {id} is the heartbeat: set `heartbeat.enabled: false` in the config, or pause it"
                );
                return Err(BookError::Refused(why));
            }
            (Wish::Remove, _) => Some(Change::Remove),
            (_, ScheduleState::Ended | ScheduleState::Removed) => {
                let why = format!("schedule {id} has come due for the last time");
                return Err(BookError::Refused(why));
            }
            (Wish::Pause, ScheduleState::Active) => {
                Some(Change::Pause { why: "somebody paused it".to_owned() })
            }
            (Wish::Resume, state) if state == ScheduleState::Paused || !row.why.is_empty() => {
                let now = self.parts.clock.now();
                let schedule = Box::new(row.schedule.clone());
                Some(Change::Resume { schedule, next_at: Some(resumes(row, now)?), now })
            }
            (Wish::Pause | Wish::Resume, _) => None,
        })
    }
}

/// Whether it is the heartbeat that the config wants: one that it wants no more may go.
fn is_the_configs(row: &ScheduleRow) -> bool {
    let is_off = row.state == ScheduleState::Paused && row.why == HEARTBEAT_OFF;
    row.schedule.action == Action::Heartbeat && !is_off
}

fn resumes(row: &ScheduleRow, now: DateTime<Utc>) -> Result<DateTime<Utc>, BookError> {
    let plan = plan(&row.schedule).map_err(BookError::Refused)?;
    // A reminder is said late rather than never.
    let kept = row.next_at.filter(|_| row.schedule.action.is_never_too_late());
    let next = kept.or_else(|| next(&plan, &name(row.id()), now, row.fired));
    let run = format!("`selkie schedules run {}` carries it out once", row.id());
    next.ok_or_else(|| BookError::Refused(format!("{}: {run}", never(&plan, now))))
}
