//! The times of an expression as bits, and a search that jumps from field to field: a month that cannot match
//! costs one step, whatever its days, hours and minutes.

use chrono::{Datelike as _, NaiveDate, NaiveDateTime, NaiveTime, Timelike as _};

/// How many years a search looks ahead. 29 February comes again after eight years at most, and on one weekday
/// after forty.
const YEARS: i32 = 41;

/// What an expression stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sets {
    pub times: Times,
    pub days: Days,
    /// Fires as often as clocks show a matching time.
    pub runs_through: bool,
}

/// Times of day: bit n is minute n, hour n.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    pub minutes: u64,
    pub hours: u32,
}

/// Days: bit n is day n of the month, month n, weekday n (Sunday is 0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Days {
    pub days: u32,
    pub months: u16,
    pub weekdays: u8,
    /// The day of the month or the weekday is enough.
    pub either: bool,
}

/// A search, which counts its steps.
pub struct Search<'a> {
    sets: &'a Sets,
    steps: u32,
}

impl<'a> Search<'a> {
    /// Begins one.
    pub fn over(sets: &'a Sets) -> Self {
        Self { sets, steps: 0 }
    }

    /// Returns the first matching time that is not before `from`, a whole minute.
    pub fn at_or_after(&mut self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        let times = &self.sets.times;
        let day = self.day(from.date())?;
        if day > from.date() {
            return Some(day.and_time(times.at_or_after(NaiveTime::MIN)?));
        }
        if let Some(time) = times.at_or_after(from.time()) {
            return Some(day.and_time(time));
        }
        let day = self.day(day.succ_opt()?)?;
        Some(day.and_time(times.at_or_after(NaiveTime::MIN)?))
    }

    /// Returns how many months it looked at.
    #[cfg(test)]
    pub fn steps(&self) -> u32 {
        self.steps
    }

    fn day(&mut self, from: NaiveDate) -> Option<NaiveDate> {
        let days = &self.sets.days;
        let mut year = from.year();
        let mut month = from.month();
        let mut not_before = u32::MAX << from.day();
        while year <= from.year().saturating_add(YEARS) {
            self.steps += 1;
            let matching = days.of_month(year, month)? & not_before;
            if matching != 0 {
                return NaiveDate::from_ymd_opt(year, month, matching.trailing_zeros());
            }
            not_before = u32::MAX;
            let later = u32::from(days.months) & (u32::MAX << (month + 1));
            if later == 0 {
                year = year.checked_add(1)?;
                month = days.months.trailing_zeros();
            } else {
                month = later.trailing_zeros();
            }
        }
        None
    }
}

impl Times {
    /// Returns the first time of day that is not before `from`.
    pub fn at_or_after(&self, from: NaiveTime) -> Option<NaiveTime> {
        let hour = from.hour();
        let minutes = self.minutes & (u64::MAX << from.minute());
        if self.hours & (1 << hour) != 0 && minutes != 0 {
            return NaiveTime::from_hms_opt(hour, minutes.trailing_zeros(), 0);
        }
        let hours = self.hours & (u32::MAX << (hour + 1));
        if hours == 0 {
            return None;
        }
        NaiveTime::from_hms_opt(hours.trailing_zeros(), self.minutes.trailing_zeros(), 0)
    }

    /// Returns all of a day.
    pub fn all(&self) -> impl Iterator<Item = NaiveTime> {
        let hours = (0..24).filter(|hour| self.hours & (1 << hour) != 0);
        hours.flat_map(|hour| {
            let minutes = (0..60).filter(|minute| self.minutes & (1 << minute) != 0);
            minutes.filter_map(move |minute| NaiveTime::from_hms_opt(hour, minute, 0))
        })
    }
}

impl Days {
    /// Every day there is.
    pub const EVERY: Self =
        Self { days: 0xffff_fffe, months: 0x1ffe, weekdays: 0x7f, either: false };

    /// Tells whether a day matches.
    pub fn has(&self, date: NaiveDate) -> bool {
        let month = self.of_month(date.year(), date.month());
        month.is_some_and(|days| days & (1 << date.day()) != 0)
    }

    /// Tells whether there is a matching day in the calendar.
    pub fn exist(&self) -> bool {
        // Every date of the calendar falls on every weekday at some time, 29 February too. A leap year has all.
        self.either
            || (1..=12).any(|month| self.has_month(month) && self.days & whole(2000, month) != 0)
    }

    /// The matching days of a month.
    fn of_month(&self, year: i32, month: u32) -> Option<u32> {
        if !self.has_month(month) {
            return Some(0);
        }
        let first = NaiveDate::from_ymd_opt(year, month, 1)?.weekday().num_days_from_sunday();
        let weekdays = u32::from(self.weekdays);
        // The week as it begins on the first of this month, five times, and day 1 is bit 1.
        let week = u64::from((weekdays >> first | weekdays << (7 - first)) & 0x7f);
        let weeks = (week * (1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28)) << 1;
        let by_weekday = (weeks & u64::from(u32::MAX)) as u32;
        let matching = if self.either { self.days | by_weekday } else { self.days & by_weekday };
        Some(matching & whole(year, month))
    }

    fn has_month(&self, month: u32) -> bool {
        self.months & (1 << month) != 0
    }
}

/// All days of a month.
fn whole(year: i32, month: u32) -> u32 {
    let last = match month {
        2 if NaiveDate::from_yo_opt(year, 366).is_some() => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    ((1_u64 << (last + 1)) - 2) as u32
}
