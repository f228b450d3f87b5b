//! A 5-field crontab expression: minute, hour, day of the month, month, weekday.
//!
//! The crate `cron` reads each field; this bridge adds what crontabs have and the crate has not: five fields,
//! 0 and 7 for Sunday (the crate's 1 is Sunday), a day that matches the day of the month OR the weekday, the
//! names `@midnight` and `@annually`, errors that name the field, and searching in local time with the rules of
//! [`super::local`]. As in Vixie's cron, a field that begins with `*` restricts nothing on its own: where the day of
//! the month or the weekday does, both have to match (`0 0 */2 * 1`: Mondays that are odd days).

mod error;
mod field;
mod sets;
mod zoned;

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc, Weekday};

use super::foreign_words::shown;
use super::zone::Zone;
pub use error::CronError;
use field::Field;
use sets::{Days, Sets, Times};

/// Bytes of an expression.
const MAX_LENGTH: usize = 256;

/// Names of whole expressions.
const NAMES: [(&str, &str); 7] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
];

/// A crontab expression that comes true at some time.
#[derive(Clone, PartialEq, Eq)]
pub struct Cron {
    text: String,
    sets: Sets,
}

impl Cron {
    /// Makes the expression of a time of day.
    pub fn daily(time: NaiveTime) -> Self {
        use chrono::Timelike as _;
        Self {
            text: format!("{} {} * * *", time.minute(), time.hour()),
            sets: Sets {
                times: Times { minutes: 1 << time.minute(), hours: 1 << time.hour() },
                days: Days::EVERY,
                runs_through: false,
            },
        }
    }

    /// Makes the expression of a minute of every hour; `None` when no hour has it.
    pub fn hourly(minute: u32) -> Option<Self> {
        format!("{minute} * * * *").parse().ok()
    }

    /// Makes the expression of a time of day on a day of the week; `None` when there is no such time.
    pub fn weekly(day: Weekday, time: NaiveTime) -> Option<Self> {
        use chrono::Timelike as _;
        let day = day.num_days_from_sunday();
        format!("{} {} * * {day}", time.minute(), time.hour()).parse().ok()
    }

    /// Returns the first instant after `after`, by the zone's clocks. The search goes 41 years ahead, which every
    /// expression that could be made comes true in.
    pub fn next_after(&self, zone: Zone, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        zoned::next_after(&self.sets, zone, after)
    }

    /// Tells whether it fires on this day, where its clocks are not changed.
    pub fn is_on(&self, date: NaiveDate) -> bool {
        self.sets.days.has(date)
    }

    /// Counts how often it fires on such a day, at times that `passes` takes.
    pub fn times_a_day(&self, passes: impl Fn(NaiveTime) -> bool) -> u32 {
        let count = self.sets.times.all().filter(|time| passes(*time)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Tells whether it fires as often as clocks show a matching time, and not once for a time of day.
    pub fn runs_through(&self) -> bool {
        self.sets.runs_through
    }

    /// Returns its five fields.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.text.split(' ')
    }
}

impl FromStr for Cron {
    type Err = CronError;

    /// Reads an expression: five fields, or a name like `@daily`.
    fn from_str(text: &str) -> Result<Self, CronError> {
        if text.len() > MAX_LENGTH {
            return Err(CronError::TooLong { most: MAX_LENGTH });
        }
        let text = text.to_ascii_lowercase();
        let text = text.trim();
        if !text.starts_with('@') {
            return five(text);
        }
        match NAMES.iter().find(|(name, _)| *name == text) {
            Some((_, fields)) => five(fields),
            None => Err(CronError::Name { name: shown(text) }),
        }
    }
}

fn five(text: &str) -> Result<Cron, CronError> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let &[minute, hour, day, month, weekday] = fields.as_slice() else {
        return Err(CronError::Fields { number: fields.len() });
    };
    let times =
        Times { minutes: Field::Minute.read(minute)?, hours: Field::Hour.read(hour)? as u32 };
    let days = Days {
        days: Field::Day.read(day)? as u32,
        months: Field::Month.read(month)? as u16,
        weekdays: Field::Weekday.read(weekday)? as u8,
        either: !day.starts_with('*') && !weekday.starts_with('*'),
    };
    let text = fields.join(" ");
    if !days.exist() {
        return Err(CronError::Never { text: shown(&text) });
    }
    let runs_through = minute.starts_with('*') || hour.starts_with('*');
    Ok(Cron { text, sets: Sets { times, days, runs_through } })
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cron({})", self.text)
    }
}

#[cfg(test)]
mod tests;
