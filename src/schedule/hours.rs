//! Active hours: the part of the day in which a schedule may fire.

use std::fmt;
use std::str::FromStr;

use chrono::{NaiveTime, TimeDelta, Timelike as _};

use super::expression::time_of_day;
use super::foreign_words::shown;

/// From one time of day up to, and without, another one; past midnight when that is the earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveHours {
    from: NaiveTime,
    to: NaiveTime,
}

/// A part of a day that begins and ends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// How far into the day it begins.
    pub begins: TimeDelta,
    /// How far into the day it is over.
    pub ends: TimeDelta,
}

/// No such hours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} are no active hours (takes 08:00-22:00, or 22:00-06:00 past midnight; leave them out for all day)"
)]
pub struct HoursError(String);

impl ActiveHours {
    /// When they begin.
    pub fn from(self) -> NaiveTime {
        self.from
    }

    /// Tells whether a time of day lies within.
    pub fn has(self, time: NaiveTime) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&time)
        } else {
            time >= self.from || time < self.to
        }
    }

    /// Returns them as parts of one day.
    pub fn stretches(self) -> Vec<Stretch> {
        let midnight = TimeDelta::zero();
        let until = |time: NaiveTime| time - NaiveTime::MIN;
        let stretch = |begins, ends| Stretch { begins, ends };
        if self.from < self.to {
            return vec![stretch(until(self.from), until(self.to))];
        }
        vec![stretch(midnight, until(self.to)), stretch(until(self.from), TimeDelta::days(1))]
    }
}

impl FromStr for ActiveHours {
    type Err = HoursError;

    fn from_str(text: &str) -> Result<Self, HoursError> {
        let wrong = || HoursError(shown(text.trim()));
        let (from, to) = text.split_once('-').ok_or_else(wrong)?;
        let from = time_of_day(from).ok_or_else(wrong)?;
        let to = if to.trim() == "24:00" { Some(NaiveTime::MIN) } else { time_of_day(to) };
        let to = to.ok_or_else(wrong)?;
        if from == to { Err(wrong()) } else { Ok(Self { from, to }) }
    }
}

impl fmt::Display for ActiveHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from;
        let to = self.to;
        write!(f, "{:02}:{:02}-", from.hour(), from.minute())?;
        write!(f, "{:02}:{:02}", to.hour(), to.minute())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn time(hour: u32, minute: u32) -> NaiveTime {
        NaiveTime::from_hms_opt(hour, minute, 0).unwrap()
    }

    #[test]
    fn hours_may_cross_midnight() {
        let day: ActiveHours = "8:00-22:00".parse().unwrap();
        assert_eq!(day.to_string(), "08:00-22:00");
        let within = |hours: ActiveHours, at: &[(u32, u32)]| -> Vec<bool> {
            at.iter().map(|(hour, minute)| hours.has(time(*hour, *minute))).collect()
        };
        let at = [(7, 59), (8, 0), (21, 59), (22, 0)];
        assert_eq!(within(day, &at), [false, true, true, false]);
        let night: ActiveHours = "22:00 - 06:00".parse().unwrap();
        let at = [(21, 59), (22, 0), (23, 59), (0, 0), (5, 59), (6, 0)];
        assert_eq!(within(night, &at), [false, true, true, true, true, false]);
        let evening: ActiveHours = "18:00-24:00".parse().unwrap();
        assert!(evening.has(time(23, 59)) && !evening.has(time(0, 0)));
    }

    #[test]
    fn what_are_no_hours_is_refused_with_what_is_taken() {
        for bad in ["", "8-22", "08:00", "08:00-08:00", "25:00-26:00", "08:00-24:01", "24:00-08:00"]
        {
            let said = bad.parse::<ActiveHours>().unwrap_err().to_string();
            assert!(said.contains("08:00-22:00"), "{bad}: {said}");
        }
    }

    proptest! {
        #[test]
        fn stretches_hold_what_the_hours_hold(from in 0_u32..1440, to in 0_u32..1440, at in 0_i64..1440) {
            let text = format!("{}:{:02}-{}:{:02}", from / 60, from % 60, to / 60, to % 60);
            prop_assume!(from != to);
            let hours: ActiveHours = text.parse().unwrap();
            prop_assert_eq!(hours.to_string().parse(), Ok(hours));
            let at = TimeDelta::minutes(at);
            let within = hours.stretches().iter().any(|s| s.begins <= at && at < s.ends);
            prop_assert_eq!(within, hours.has(NaiveTime::MIN + at));
        }
    }
}
