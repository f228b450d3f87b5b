//! A schedule that was dated by a clock which was ahead, brought back to now. Pure.

use chrono::{DateTime, TimeDelta, Utc};

use super::expression::Expression;
use super::jump::LEAP;
use super::turn::{name, next, plan};
use selkie_domain::schedule::Schedule;
use selkie_store::ScheduleRow;

/// A first time that was written as a time of day is no further ahead of when it was written.
const A_DAY: TimeDelta = TimeDelta::days(1);

/// What a schedule is from now on.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleSpec {
    /// Its contents.
    pub schedule: Schedule,
    /// When it next comes due.
    pub next_at: Option<DateTime<Utc>>,
}

/// Brings a schedule back: what recurs is counted from now, an interval keeps its beat. A moment that was written as one
/// stays that moment, and what is due by now stays due.
///
/// # Errors
/// In words: it cannot be read.
pub fn brought_back(row: &ScheduleRow, now: DateTime<Utc>) -> Result<ScheduleSpec, String> {
    let mut schedule = row.schedule.clone();
    if let Ok(Expression::Every(every)) = schedule.when.parse() {
        schedule.when = Expression::Every(every.counted_by(now)).to_string();
    }
    let was_made_ahead = row.created_at > now + LEAP;
    let is_near = |starts: &DateTime<Utc>| *starts - row.created_at <= A_DAY;
    if was_made_ahead && schedule.terms.starts.as_ref().is_some_and(is_near) {
        schedule.terms.starts = None;
    }
    let plan = plan(&schedule)?;
    let is_due = row.next_at.filter(|at| *at <= now);
    let next_at = is_due.or_else(|| next(&plan, &name(row.id()), now, row.fired));
    Ok(ScheduleSpec { schedule, next_at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::tests::row;

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    /// Brings one back that was made in 2031.
    fn back(when: &str, next_at: &str) -> ScheduleSpec {
        let made = ScheduleRow {
            created_at: utc("2031-05-05T10:00:00Z"),
            ..row(when, next_at, Default::default())
        };
        brought_back(&made, utc("2026-11-22T12:20:00Z")).unwrap()
    }

    #[test]
    fn what_recurs_is_counted_from_now() {
        let daily = back("0 8 * * *", "2031-05-06T06:00:00Z");
        assert_eq!(daily.next_at, Some(utc("2026-11-23T07:00:00Z")));
        assert_eq!(daily.schedule.when, "0 8 * * *");
    }

    #[test]
    fn an_interval_keeps_its_beat() {
        let hourly = back("every 1h from 2031-05-05T10:15:00Z", "2031-05-05T11:15:00Z");
        assert_eq!(hourly.schedule.when, "every 1h from 2026-11-22T12:15:00Z");
        assert_eq!(hourly.next_at, Some(utc("2026-11-22T13:15:00Z")));
        let older = back("every 1h from 2026-11-01T10:15:00Z", "2031-05-05T11:15:00Z");
        assert_eq!(older.schedule.when, "every 1h from 2026-11-01T10:15:00Z");
        assert_eq!(older.next_at, Some(utc("2026-11-22T13:15:00Z")));
    }

    #[test]
    fn a_moment_stays_and_what_is_due_stays_due() {
        let once = back("at 2031-05-06T06:00:00Z", "2031-05-06T06:00:00Z");
        assert_eq!(once.next_at, Some(utc("2031-05-06T06:00:00Z")));
        let due = back("at 2026-11-22T12:00:00Z", "2026-11-22T12:00:00Z");
        assert_eq!(due.next_at, Some(utc("2026-11-22T12:00:00Z")));
    }

    #[test]
    fn a_first_time_that_was_tomorrow_then_is_none_now() {
        let starting = |starts: &str| {
            let mut made = ScheduleRow {
                created_at: utc("2031-05-05T10:00:00Z"),
                ..row("0 8 * * *", "2031-05-06T06:00:00Z", Default::default())
            };
            made.schedule.terms.starts = Some(utc(starts));
            brought_back(&made, utc("2026-11-22T12:20:00Z")).unwrap().next_at
        };
        assert_eq!(starting("2031-05-06T06:00:00Z"), Some(utc("2026-11-23T07:00:00Z")));
        assert_eq!(starting("2032-01-01T07:00:00Z"), Some(utc("2032-01-01T07:00:00Z")));
    }

    #[test]
    fn what_cannot_be_read_says_so() {
        let mut bad = row("0 8 * * *", "2031-05-06T06:00:00Z", Default::default());
        bad.schedule.zone = "Europe/Bonn".to_owned();
        assert!(brought_back(&bad, utc("2026-11-22T12:20:00Z")).is_err());
    }
}
