//! When a post goes out: a time, and how often from then on.

use std::str::FromStr;

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};

use super::cron::Cron;
use super::expression::{self, Expression, ExpressionError};
use super::foreign_words::shown;
use super::plan::{Limits, Plan};
use super::zone::Zone;

/// How often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recurrence {
    /// At this time alone.
    #[default]
    Once,
    /// Each day at this time of day.
    Daily,
    /// Each week on this day, at this time of day.
    Weekly,
    /// Each hour at this minute.
    Hourly,
}

/// No such recurrence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a recurrence (takes once, hourly, daily, weekly)")]
pub struct UnknownRecurrence(String);

impl Recurrence {
    /// Makes the plan of what begins at `time`: RFC 3339, a day and a time of the zone, or a time of day. The first
    /// firing is never before it; `08:00` is tomorrow's when today's is past, also for what comes hourly.
    ///
    /// # Errors
    /// When `time` is none, or past.
    pub fn from(self, time: &str, zone: Zone, now: DateTime<Utc>) -> Result<Plan, ExpressionError> {
        let first = expression::time(time, zone, now)?;
        let local = zone.local(first).time();
        // A time of day is taken as it is written: today the clock may show another one in its place.
        let local = expression::time_of_day(time).unwrap_or(local);
        let unreadable = || ExpressionError::Time(shown(time));
        let expression = match self {
            Self::Once => return Ok(Plan::of(Expression::Once(first), zone)),
            Self::Daily => Cron::daily(local),
            Self::Weekly => {
                Cron::weekly(zone.local(first).weekday(), local).ok_or_else(unreadable)?
            }
            Self::Hourly => Cron::hourly(local.minute()).ok_or_else(unreadable)?,
        };
        // Seconds of a written time are none of a crontab's: that minute is the first.
        let starts = first.with_second(0).and_then(|first| first.with_nanosecond(0));
        let starts = starts.filter(|starts| *starts > now).or(Some(first));
        let limits = Limits { starts, ..Limits::default() };
        Ok(Plan { expression: Expression::Cron(expression), zone, limits })
    }
}

impl Recurrence {
    /// Tells how often what was made [`from`](Self::from) a time comes; `None` for what was not.
    pub fn of(expression: &Expression) -> Option<Self> {
        let fields: Vec<&str> = match expression {
            Expression::Once(_) => return Some(Self::Once),
            Expression::Every(_) => return None,
            Expression::Cron(cron) => cron.fields().collect(),
        };
        match fields.as_slice() {
            [_, "*", "*", "*", "*"] => Some(Self::Hourly),
            [_, _, "*", "*", "*"] => Some(Self::Daily),
            [_, _, "*", "*", day] if day.parse::<u8>().is_ok() => Some(Self::Weekly),
            _ => None,
        }
    }
}

impl FromStr for Recurrence {
    type Err = UnknownRecurrence;

    fn from_str(text: &str) -> Result<Self, UnknownRecurrence> {
        match text.trim().to_ascii_lowercase().as_str() {
            "once" => Ok(Self::Once),
            "daily" => Ok(Self::Daily),
            "weekly" => Ok(Self::Weekly),
            "hourly" => Ok(Self::Hourly),
            _ => Err(UnknownRecurrence(shown(text))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn plan(recurrence: &str, time: &str) -> Result<Plan, ExpressionError> {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let now = utc("2026-11-22T15:00:00Z");
        recurrence.parse::<Recurrence>().unwrap().from(time, zone, now)
    }

    fn times(recurrence: &str, time: &str) -> Vec<String> {
        let now = utc("2026-11-22T15:00:00Z");
        let plan = plan(recurrence, time).unwrap();
        let two = std::iter::successors(plan.next_after(now), |at| plan.next_after(*at)).take(2);
        two.map(|at| at.format("%dT%H:%M").to_string()).collect()
    }

    #[test]
    fn a_past_time_of_day_is_tomorrows() {
        assert_eq!(times("once", "08:00"), ["23T07:00"]);
        assert_eq!(times("daily", "08:00"), ["23T07:00", "24T07:00"]);
        assert_eq!(times("daily", "16:30"), ["22T15:30", "23T15:30"]);
        assert_eq!(times("weekly", "08:00"), ["23T07:00", "30T07:00"]);
        assert_eq!(times("hourly", "16:30"), ["22T15:30", "22T16:30"]);
    }

    #[test]
    fn how_often_is_read_back() {
        for (written, time) in
            [("once", "08:00"), ("daily", "08:05"), ("weekly", "08:05"), ("hourly", "16:30")]
        {
            let expression = plan(written, time).unwrap().expression;
            assert_eq!(Recurrence::of(&expression), Some(written.parse().unwrap()), "{expression}");
        }
        let other: Cron = "0 8 * * 1-5".parse().unwrap();
        assert_eq!(Recurrence::of(&Expression::Cron(other)), None);
    }

    #[test]
    fn nothing_fires_before_the_time_that_was_written() {
        assert_eq!(times("daily", "2026-11-25T08:00:00+01:00"), ["25T07:00", "26T07:00"]);
        assert_eq!(times("weekly", "2026-11-22T23:30:00-08:00"), ["23T07:30", "30T07:30"]);
        assert_eq!(times("hourly", "2026-11-25 08:15"), ["25T07:15", "25T08:15"]);
        assert_eq!(times("Daily", "2026-11-25T08:00:30+01:00"), ["25T07:00", "26T07:00"]);
    }

    #[test]
    fn what_is_past_or_no_time_is_refused() {
        let past = plan("once", "2026-11-21T08:00:00+01:00").unwrap_err();
        assert_eq!(past, ExpressionError::Past("2026-11-21T08:00:00+01:00".to_owned()));
        assert!(matches!(plan("daily", "8 o'clock"), Err(ExpressionError::Time(_))));
        let said = "monthly".parse::<Recurrence>().unwrap_err().to_string();
        assert_eq!(said, "\"monthly\" is not a recurrence (takes once, hourly, daily, weekly)");
    }

    #[test]
    fn a_time_of_day_that_is_left_out_today_is_there_tomorrow() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let now = utc("2026-03-28T20:00:00Z");
        let plan = Recurrence::Daily.from("02:30", zone, now).unwrap();
        let two = std::iter::successors(plan.next_after(now), |at| plan.next_after(*at)).take(2);
        let expected = [utc("2026-03-29T01:00:00Z"), utc("2026-03-30T00:30:00Z")];
        assert_eq!(two.collect::<Vec<_>>(), expected);
    }
}
