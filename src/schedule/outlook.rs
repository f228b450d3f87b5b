//! What lies ahead of a schedule, in words.

use chrono::{DateTime, FixedOffset, Utc};

use super::count::{self, upcoming};
use super::turn::plan;
use super::words::{moment, words};
use selkie_domain::schedule::ScheduleState;
use selkie_store::ScheduleRow;

/// What lies ahead of a schedule, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// When it comes due.
    pub when: String,
    /// Its next times, five at most, in its zone.
    pub next: Vec<String>,
    /// The same for programs.
    pub times: Vec<DateTime<FixedOffset>>,
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
    let ahead: Vec<DateTime<Utc>> = std::iter::once(next_at).chain(later).collect();
    Outlook {
        when,
        next: ahead.iter().map(|at| moment(*at, plan.zone)).collect(),
        times: ahead.iter().map(|at| plan.zone.stamp(*at)).collect(),
        monthly: count::forecast(&plan, now, row.fired),
    }
}
