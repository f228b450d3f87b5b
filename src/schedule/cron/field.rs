//! One field of a crontab expression → the numbers it stands for, as bits.

use std::str::FromStr as _;

use cron::{Schedule, TimeUnitSpec};

use super::error::CronError;
use crate::foreign_words::shown;

/// Which field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Minute,
    Hour,
    Day,
    Month,
    Weekday,
}

const WEEKDAYS: [&str; 7] =
    ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// One item of a field's list: `*`, `5`, `1-5`, each with a step or without.
struct Item<'a> {
    first: &'a str,
    last: Option<&'a str>,
    step: Option<&'a str>,
}

impl Field {
    /// Reads a field, in small letters: bit n stands for n, Sunday is 0.
    pub fn read(self, text: &str) -> Result<u64, CronError> {
        let mut bits = 0;
        for part in text.split(',') {
            let Some(item) = Item::of(part) else {
                return Err(self.refuses(part, "is not understood"));
            };
            if item.is_turned_round() {
                return Err(self.refuses(part, "ends before it begins: write two ranges"));
            }
            let read = match self {
                Self::Weekday => weekdays(&item).and_then(|days| self.ask(&days)),
                _ => self.ask(part),
            };
            bits |= read.ok_or_else(|| self.refuses(part, self.reason(&item)))?;
        }
        Ok(bits)
    }

    /// Asks the crate, which knows seconds, and 1 for Sunday.
    fn ask(self, part: &str) -> Option<u64> {
        let schedule = |fields: String| Schedule::from_str(&fields).ok();
        Some(match self {
            Self::Minute => bits(schedule(format!("0 {part} * * * *"))?.minutes()),
            Self::Hour => bits(schedule(format!("0 0 {part} * * *"))?.hours()),
            Self::Day => bits(schedule(format!("0 0 0 {part} * *"))?.days_of_month()),
            Self::Month => bits(schedule(format!("0 0 0 1 {part} *"))?.months()),
            Self::Weekday => bits(schedule(format!("0 0 0 * * {part}"))?.days_of_week()) >> 1,
        })
    }

    /// Says why an item of the right form is not taken.
    fn reason(self, item: &Item) -> &'static str {
        let is_zero = |step: &str| step.bytes().all(|digit| digit == b'0');
        if item.step.is_some_and(is_zero) {
            return "has a step of 0: the least is 1";
        }
        let wrong_step = item.step.is_some_and(|step| self.ask(&format!("*/{step}")).is_none());
        match self {
            Self::Minute if wrong_step => {
                "has a step the field is too short for: \"every 90m\" is taken as a schedule of its own"
            }
            _ if wrong_step => "has a step the field is too short for",
            _ => "is not in the field",
        }
    }

    fn refuses(self, value: &str, why: &str) -> CronError {
        CronError::Field {
            field: self.name(),
            value: shown(value),
            why: why.to_owned(),
            takes: self.takes(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day of month",
            Self::Month => "month",
            Self::Weekday => "weekday",
        }
    }

    fn takes(self) -> &'static str {
        match self {
            Self::Minute => "0-59, *, lists like 0,30, ranges like 10-20, steps like */5",
            Self::Hour => "0-23, *, lists like 8,20, ranges like 9-17, steps like */2",
            Self::Day => "1-31, *, lists like 1,15, ranges like 1-7, steps like */2",
            Self::Month => "1-12 or jan-dec, *, lists, ranges, steps",
            Self::Weekday => "0-7 or sun-sat (0 and 7 are Sunday), *, lists, ranges, steps",
        }
    }
}

impl<'a> Item<'a> {
    /// Splits an item. The crate would read `5*` as two fields, so the form is looked at here.
    fn of(part: &'a str) -> Option<Self> {
        let is_number =
            |text: &&str| (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        let is_name = |text: &&str| {
            (3..=9).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase())
        };
        let step = part.split_once('/').map(|(_, step)| step);
        let base = part.split_once('/').map_or(part, |(base, _)| base);
        let first = base.split_once('-').map_or(base, |(first, _)| first);
        let last = base.split_once('-').map(|(_, last)| last);
        let is_value = |text: &&str| is_number(text) || is_name(text);
        let whole = first == "*" && last.is_none();
        let good = (whole || is_value(&first))
            && last.as_ref().is_none_or(is_value)
            && step.as_ref().is_none_or(is_number);
        good.then_some(Self { first, last, step })
    }

    fn is_turned_round(&self) -> bool {
        let first: Option<u32> = self.first.parse().ok();
        let last: Option<u32> = self.last.and_then(|last| last.parse().ok());
        first.zip(last).is_some_and(|(first, last)| first > last)
    }
}

/// Writes the weekdays of an item as names, which mean the same to everybody.
fn weekdays(item: &Item) -> Option<String> {
    let step: usize = item.step.map_or(Some(1), |step| step.parse().ok())?;
    if step == 0 || step > 7 {
        return None;
    }
    let first = if item.first == "*" { 0 } else { weekday(item.first)? };
    let last = match item.last.map(weekday) {
        // A week that ends on Sunday.
        Some(Some(0)) if first > 0 => 7,
        Some(last) => last?,
        None if item.first == "*" || item.step.is_some() => first.max(6),
        None => first,
    };
    let named = (first..=last).step_by(step).map(|day| &WEEKDAYS[day % 7][..3]);
    let named: Vec<&str> = named.collect();
    (!named.is_empty()).then(|| named.join(","))
}

/// 0 to 7, by number or name.
fn weekday(text: &str) -> Option<usize> {
    let named = WEEKDAYS.iter().position(|day| *day == text || day[..3] == *text);
    named.or_else(|| text.parse().ok().filter(|day| *day <= 7))
}

fn bits(unit: &impl TimeUnitSpec) -> u64 {
    unit.iter().fold(0, |bits, ordinal| bits | 1 << ordinal)
}
