//! When something is to happen, as it is written, and as a row keeps it.
//!
//! People write a crontab expression (`0 8 * * 1-5`, `@daily`), `every 10m`, `in 20m`, or `at` with a time. A row
//! keeps [`Expression`]'s `Display`, which reads back as the same value and needs neither clock nor zone.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use chrono::{
    DateTime, Days, NaiveDateTime, NaiveTime, SecondsFormat, TimeDelta, Timelike as _, Utc,
};

use super::cron::{Cron, CronError};
use super::foreign_words::shown;
use super::local;
use super::zone::Zone;
use selkie_domain::span::Span;

/// Bytes of what somebody writes.
const MAX_LENGTH: usize = 256;
/// The shortest interval.
const LEAST: Duration = Duration::from_secs(60);
/// The longest interval, and how far ahead `in` goes.
const GREATEST: Duration = Duration::from_secs(366 * 86_400);

const UNITS: [(&[&str], u64); 4] = [
    (&["s", "sec", "secs", "second", "seconds"], 1),
    (&["m", "min", "mins", "minute", "minutes"], 60),
    (&["h", "hour", "hours"], 3_600),
    (&["d", "day", "days"], 86_400),
];

/// What is taken, for those who wrote something else.
pub const TAKES: &str = "takes a crontab expression (\"0 8 * * 1-5\", \"@daily\"), \"every 10m\", \"in 20m\", \
\"at 08:00\" or \"at 2026-12-24T18:00:00+01:00\"";

/// When something is to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// By the calendar and the clock of a zone.
    Cron(Cron),
    /// Again and again, by the stopwatch.
    Every(Every),
    /// Once.
    Once(DateTime<Utc>),
}

/// An interval, counted from an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Every {
    span: Span,
    anchor: DateTime<Utc>,
}

/// Why what was written says no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// Nothing is known that begins like this.
    #[error("{0:?} is not a schedule: {TAKES}")]
    Unknown(String),
    /// It is longer than anything that is meant.
    #[error("a schedule is at most {MAX_LENGTH} characters long: {TAKES}")]
    TooLong,
    /// A crontab expression that is wrong.
    #[error(transparent)]
    Cron(#[from] CronError),
    /// A zone in front of it.
    #[error("{0:?}: leave the zone out of the schedule, and name it as `timezone`")]
    Zone(String),
    /// No length of time.
    #[error("{0:?} is not a length of time (takes 90s, 10m, 2h, 1d or 1h30m)")]
    Span(String),
    /// An interval nobody keeps up with, or waits for.
    #[error("\"every {0}\" is not taken: an interval is one minute to one year")]
    Interval(Span),
    /// Too far, or not at all.
    #[error("\"in {0}\" is not taken: it is one second to one year")]
    Ahead(Span),
    /// No point in time.
    #[error(
        "{0:?} is not a time (takes 08:00, tomorrow 08:00, 2026-12-24 18:00, or 2026-12-24T18:00:00+01:00)"
    )]
    Time(String),
    /// It is over.
    #[error("{0} is in the past: write a time to come")]
    Past(String),
}

impl Expression {
    /// Reads what somebody wrote in a zone, now.
    ///
    /// # Errors
    /// What is wrong, and what is taken.
    pub fn written(text: &str, zone: Zone, now: DateTime<Utc>) -> Result<Self, ExpressionError> {
        if text.len() > MAX_LENGTH {
            return Err(ExpressionError::TooLong);
        }
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        let after = |word: &str| lower.strip_prefix(word).filter(|rest| begins_anew(rest));
        if let Some(rest) = after("every").or_else(|| after("@every")) {
            return interval(rest, now);
        }
        if let Some(rest) = after("in") {
            return ahead(rest, now);
        }
        if let Some(rest) = after("at") {
            // As it was written: an error repeats it.
            return Ok(Self::Once(time(&text[text.len() - rest.len()..], zone, now)?));
        }
        if lower.starts_with("cron_tz=") || lower.starts_with("tz=") {
            return Err(ExpressionError::Zone(shown(text)));
        }
        if point(text, zone).is_some() || tomorrow(text).is_some() {
            return Ok(Self::Once(time(text, zone, now)?));
        }
        if lower.starts_with('@') || looks_like_crontab(&lower) {
            return Ok(Self::Cron(lower.parse()?));
        }
        Err(ExpressionError::Unknown(shown(text)))
    }

    /// Returns the first instant after `after`.
    pub fn next_after(&self, zone: Zone, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::Cron(cron) => cron.next_after(zone, after),
            Self::Every(every) => every.next_after(after),
            Self::Once(at) => Some(*at).filter(|at| *at > after),
        }
    }
}

impl Every {
    /// Makes an interval, whose first time is one span after `anchor`; `None` when it is too short or too long.
    pub fn from_anchor(span: Span, anchor: DateTime<Utc>) -> Option<Self> {
        let whole = anchor.timestamp_subsec_nanos().is_multiple_of(1_000_000);
        (whole && (LEAST..=GREATEST).contains(&span.0)).then_some(Self { span, anchor })
    }

    /// How long it is from one time to the next.
    pub fn span(self) -> Span {
        self.span
    }

    /// The instant it is counted from.
    pub fn anchor(self) -> DateTime<Utc> {
        self.anchor
    }

    /// The same beat, counted from an instant that is not after `now`.
    #[must_use]
    pub fn counted_by(self, now: DateTime<Utc>) -> Self {
        let ahead = (self.anchor - now).num_milliseconds();
        if ahead <= 0 {
            return self;
        }
        // Rounded up; neither is anywhere near the greatest number.
        let spans = (ahead - 1).div_euclid(self.millis()) + 1;
        let back = TimeDelta::milliseconds(spans.saturating_mul(self.millis()));
        Self { anchor: self.anchor - back, ..self }
    }

    /// Returns the first instant after `after`.
    pub fn next_after(self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let next = self.until(after).checked_add(1)?.checked_mul(self.millis())?;
        self.anchor.checked_add_signed(TimeDelta::try_milliseconds(next)?)
    }

    /// Counts its instants after `after` and not after `until`.
    pub fn count(self, after: DateTime<Utc>, until: DateTime<Utc>) -> u64 {
        u64::try_from(self.until(until) - self.until(after)).unwrap_or(0)
    }

    /// Counts its instants that are not after `at`.
    fn until(self, at: DateTime<Utc>) -> i64 {
        (at - self.anchor).num_milliseconds().div_euclid(self.millis()).max(0)
    }

    fn millis(self) -> i64 {
        // A year at most, see `from_anchor`.
        self.span.0.as_millis() as i64
    }
}

/// Reads a point in time that is to come: RFC 3339, a day and a time of the zone, tomorrow and a time of day, or a time
/// of day alone, which is tomorrow's when today's is past.
///
/// # Errors
/// When it is no time, or past.
pub fn time(text: &str, zone: Zone, now: DateTime<Utc>) -> Result<DateTime<Utc>, ExpressionError> {
    let text = text.trim();
    let wrong = || ExpressionError::Time(shown(text));
    if let Some(time) = time_of_day(text) {
        return Cron::daily(time).next_after(zone, now).ok_or_else(wrong);
    }
    if let Some(time) = tomorrow(text) {
        let day = zone.local(now).date().checked_add_days(Days::new(1));
        return day.and_then(|day| local::fixed(zone, day.and_time(time))).ok_or_else(wrong);
    }
    let at = point(text, zone).ok_or_else(wrong)?;
    if at <= now { Err(ExpressionError::Past(shown(text))) } else { Ok(at) }
}

/// Reads RFC 3339, or a day and a time of the zone.
pub fn point(text: &str, zone: Zone) -> Option<DateTime<Utc>> {
    let whole = |at: DateTime<Utc>| DateTime::from_timestamp_millis(at.timestamp_millis());
    let upper = text.trim().to_ascii_uppercase();
    if let Ok(at) = DateTime::parse_from_rfc3339(&upper) {
        return whole(at.to_utc());
    }
    let forms = ["%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
    let mut read = forms.iter().filter_map(|form| NaiveDateTime::parse_from_str(&upper, form).ok());
    local::fixed(zone, read.next()?).and_then(whole)
}

/// Reads `8:00`, `08:00`, `8am` and `8:30 pm`.
pub fn time_of_day(text: &str) -> Option<NaiveTime> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(morning) = text.strip_suffix("am") {
        return half_day(morning.trim_end(), 0);
    }
    if let Some(evening) = text.strip_suffix("pm") {
        return half_day(evening.trim_end(), 12);
    }
    let (hour, minute) = text.split_once(':')?;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let form = (1..=2).contains(&hour.len()) && minute.len() == 2;
    let good = form && digits(hour) && digits(minute);
    good.then(|| NaiveTime::from_hms_opt(hour.parse().ok()?, minute.parse().ok()?, 0))?
}

/// Reads 12, 1, 2 … 11 with or without minutes; the first of them is `begins` o'clock.
fn half_day(text: &str, begins: u32) -> Option<NaiveTime> {
    let whole = format!("{text}:00");
    let time = time_of_day(if text.contains(':') { text } else { &whole })?;
    let hour = Some(time.hour()).filter(|hour| (1..=12).contains(hour))?;
    time.with_hour(hour % 12 + begins)
}

/// Reads `tomorrow 8:00` and `tomorrow at 8:00`.
fn tomorrow(text: &str) -> Option<NaiveTime> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [day, time] | [day, "at" | "At" | "AT", time] if day.eq_ignore_ascii_case("tomorrow") => {
            time_of_day(time)
        }
        _ => None,
    }
}

fn interval(text: &str, now: DateTime<Utc>) -> Result<Expression, ExpressionError> {
    let span = span(text)?;
    let anchor = DateTime::from_timestamp_millis(now.timestamp_millis()).unwrap_or(now);
    let every = Every::from_anchor(span, anchor).ok_or(ExpressionError::Interval(span))?;
    Ok(Expression::Every(every))
}

fn ahead(text: &str, now: DateTime<Utc>) -> Result<Expression, ExpressionError> {
    let span = span(text)?;
    let far = span.0.is_zero() || span.0 > GREATEST;
    let ahead = TimeDelta::from_std(span.0).ok().filter(|_| !far);
    let at = ahead.and_then(|ahead| now.checked_add_signed(ahead));
    let at = at.and_then(|at| DateTime::from_timestamp_millis(at.timestamp_millis()));
    at.map(Expression::Once).ok_or(ExpressionError::Ahead(span))
}

/// Reads `10m`, `1h30m`, `2 hours`, `hour`.
fn span(text: &str) -> Result<Span, ExpressionError> {
    let wrong = || ExpressionError::Span(shown(text.trim()));
    let mut rest = text.trim();
    if let Some(seconds) = unit(rest) {
        return Ok(Span::seconds(seconds));
    }
    let mut sum = 0_u64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let number: u64 = rest[..digits].parse().map_err(|_| wrong())?;
        rest = rest[digits..].trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let part = unit(&rest[..end]).and_then(|unit| number.checked_mul(unit));
        sum = part.and_then(|part| sum.checked_add(part)).ok_or_else(wrong)?;
        rest = rest[end..].trim_start();
    }
    // In milliseconds it has to be a number, too.
    let good = !text.trim().is_empty() && sum.checked_mul(1000).is_some();
    if good { Ok(Span::seconds(sum)) } else { Err(wrong()) }
}

fn unit(name: &str) -> Option<u64> {
    let found = UNITS.iter().find(|(names, _)| names.contains(&name));
    found.map(|(_, seconds)| *seconds)
}

/// `in20m` is taken, `inside` is another word.
fn begins_anew(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// What was meant for a crontab expression gets its errors.
fn looks_like_crontab(text: &str) -> bool {
    let begins = |c: char| c == '*' || c.is_ascii_digit();
    text.starts_with(begins) && text.split_whitespace().nth(2).is_some()
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cron(cron) => write!(f, "{cron}"),
            Self::Every(every) => write!(f, "every {} from {}", every.span, stamp(every.anchor)),
            Self::Once(at) => write!(f, "at {}", stamp(*at)),
        }
    }
}

impl FromStr for Expression {
    type Err = ExpressionError;

    /// Reads what a row keeps.
    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        let wrong = || ExpressionError::Unknown(shown(text));
        let instant = |text: &str| text.parse::<DateTime<Utc>>().map_err(|_| wrong());
        if let Some(at) = text.strip_prefix("at ") {
            return Ok(Self::Once(instant(at)?));
        }
        let Some(every) = text.strip_prefix("every ") else { return Ok(Self::Cron(text.parse()?)) };
        let (span, anchor) = every.split_once(" from ").ok_or_else(wrong)?;
        let span = Span::parse(span).ok_or_else(wrong)?;
        Every::from_anchor(span, instant(anchor)?).map(Self::Every).ok_or_else(wrong)
    }
}

fn stamp(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

#[cfg(test)]
mod tests;
