//! Times of schedules that came while a life was a backup: the one that the backup was made of has carried them out.

use chrono::{DateTime, Utc};

use crate::intake::firing::Firings;
use crate::intake::messages::schedules as messages;
use selkie_schedule::turn::{come, on_the_wall, plan};
use selkie_schedule::zone::Zone;
use selkie_store::{FiringRecord, LastTime, OccurrenceAction, ScheduleRow, StoreError, Turn};

/// Passes over what of a schedule has come, and notes it in its history; `false` when the schedule cannot be read, which
/// is told when it comes due.
///
/// # Errors
/// When the store cannot be written.
pub async fn pass_over(
    firings: &Firings,
    row: &ScheduleRow,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let Ok(plan) = plan(&row.schedule) else { return Ok(false) };
    let come = come(row, &plan, now);
    let last = come.fires.or_else(|| come.missed.last().map(|missed| missed.last));
    let zone = Zone::named(&row.schedule.zone).unwrap_or(Zone::UTC);
    let skipped = || OccurrenceAction::Skip(messages::PASSED_WHILE_RESTORED.to_owned());
    let firing = FiringRecord {
        of: row.version,
        turn: come.fires.map(|at| Turn { at, does: skipped() }),
        missed: come.missed,
        last: last.map(|at| LastTime { at, local: on_the_wall(zone, at) }),
        next_at: come.next_at,
        wait: None,
        by_hand: false,
    };
    let stored = firings.intake.fire(firing).await?;
    firings.intake.begin_fired(stored);
    Ok(true)
}
