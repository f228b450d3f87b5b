//! How often a plan fires within a stretch of time, without going through it time by time.
//!
//! A day whose clocks run as usual is worth what the expression is worth on such a day. Only the first day, the
//! last and those of a change are gone through.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, Utc};

use super::cron::Cron;
use super::expression::{Every, Expression};
use super::local;
use super::plan::{INSTANT, Plan};

/// How far ahead a forecast looks.
const FORECAST: TimeDelta = TimeDelta::days(30);
/// Days that are counted: a hundred years. What lies behind is not.
const MAX_DAYS: usize = 36_600;

/// Counts the firings of the next 30 days.
pub fn forecast(plan: &Plan, now: DateTime<Utc>, fired: u32) -> u64 {
    let until = now.checked_add_signed(FORECAST).unwrap_or(now);
    let most = plan.left(fired).map_or(u64::MAX, u64::from);
    between(plan, now, until).min(most)
}

/// Returns the next times, so many at most.
pub fn upcoming(plan: &Plan, now: DateTime<Utc>, fired: u32, most: usize) -> Vec<DateTime<Utc>> {
    let left = plan.left(fired).map_or(most, |left| most.min(left as usize));
    std::iter::successors(plan.next_after(now), |at| plan.next_after(*at)).take(left).collect()
}

/// Counts the times after `after` and not after `until`.
pub fn between(plan: &Plan, after: DateTime<Utc>, until: DateTime<Utc>) -> u64 {
    let until = plan.limits.ends.map_or(until, |ends| ends.min(until));
    let Some(first) = plan.next_after(after).filter(|first| *first <= until) else { return 0 };
    let after = first.checked_sub_signed(INSTANT).unwrap_or(first);
    match (&plan.expression, plan.limits.active) {
        (Expression::Once(_), _) => 1,
        (Expression::Every(every), None) => every.count(after, until),
        (Expression::Every(every), Some(_)) => {
            Calendar { plan, after, until }.sum(|day| within(plan, *every, day))
        }
        (Expression::Cron(cron), _) => {
            let a_day = a_day(plan, cron);
            Calendar { plan, after, until }.sum(|day| if cron.is_on(day.date) { a_day } else { 0 })
        }
    }
}

/// Returns the last time after `after` and not after `until`.
pub fn last(plan: &Plan, after: DateTime<Utc>, until: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let first_after = |after| plan.next_after(after).filter(|at| *at <= until);
    let mut found = first_after(after)?;
    // The latest instant that still has a time behind it lies between what is found and the end.
    let mut none_after = until;
    while let Some(middle) = middle(found, none_after) {
        match first_after(middle) {
            Some(later) => found = later,
            None => none_after = middle,
        }
    }
    Some(found)
}

fn middle(early: DateTime<Utc>, late: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let half = (late - early).num_milliseconds() / 2;
    if half > 0 { early.checked_add_signed(TimeDelta::milliseconds(half)) } else { None }
}

fn a_day(plan: &Plan, cron: &Cron) -> u64 {
    let active = plan.limits.active;
    u64::from(cron.times_a_day(|time| active.is_none_or(|active| active.has(time))))
}

/// A local day whose clocks run as usual.
struct Day {
    date: NaiveDate,
    begins: DateTime<Utc>,
}

fn within(plan: &Plan, every: Every, day: &Day) -> u64 {
    let stretches = plan.limits.active.map(|active| active.stretches()).unwrap_or_default();
    let count = stretches.iter().map(|stretch| {
        every.count(day.begins + stretch.begins - INSTANT, day.begins + stretch.ends - INSTANT)
    });
    count.sum()
}

struct Calendar<'a> {
    plan: &'a Plan,
    after: DateTime<Utc>,
    until: DateTime<Utc>,
}

impl Calendar<'_> {
    /// Adds up the days: usual ones by what they are worth, others time by time.
    fn sum(&self, worth: impl Fn(&Day) -> u64) -> u64 {
        let zone = self.plan.zone;
        let mut date = zone.local(self.after).date();
        let mut from = self.after;
        let mut sum = 0_u64;
        for _ in 0..MAX_DAYS {
            let Some(tomorrow) = date.checked_add_days(Days::new(1)) else { break };
            let Some(begins) = local::fixed(zone, date.and_time(NaiveTime::MIN)) else { break };
            let Some(ends) = local::fixed(zone, tomorrow.and_time(NaiveTime::MIN)) else { break };
            let to = (ends - INSTANT).min(self.until);
            let whole = from < begins && to == ends - INSTANT;
            let day = Day { date, begins };
            sum += if whole && self.is_usual(begins, ends) {
                worth(&day)
            } else {
                self.one_by_one(from, to)
            };
            if to >= self.until {
                break;
            }
            from = from.max(to);
            date = tomorrow;
        }
        sum
    }

    fn is_usual(&self, begins: DateTime<Utc>, ends: DateTime<Utc>) -> bool {
        let offset = |at| self.plan.zone.offset(at);
        ends - begins == TimeDelta::days(1) && offset(begins - INSTANT) == offset(ends - INSTANT)
    }

    fn one_by_one(&self, from: DateTime<Utc>, to: DateTime<Utc>) -> u64 {
        let times =
            std::iter::successors(self.plan.next_after(from), |at| self.plan.next_after(*at));
        times.take_while(|at| *at <= to).count() as u64
    }
}

#[cfg(test)]
mod tests;
