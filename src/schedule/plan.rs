//! What is put on top of an expression: a start, an end, a count, active hours, jitter.

use chrono::{DateTime, TimeDelta, Utc};
use sha2::{Digest as _, Sha256};

use super::cron::Cron;
use super::expression::Expression;
use super::hours::ActiveHours;
use super::local::{self, WallTime};
use super::zone::Zone;
use selkie_domain::span::Span;

/// Times outside of the active hours that are passed over for one inside: a day's minutes, and more.
const TRIES: usize = 2_000;

/// An expression in its zone, and what it is limited to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// When, by itself.
    pub expression: Expression,
    /// Whose clocks count.
    pub zone: Zone,
    /// What of it.
    pub limits: Limits,
}

/// What a plan is limited to; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Nothing fires before.
    pub starts: Option<DateTime<Utc>>,
    /// Nothing fires after.
    pub ends: Option<DateTime<Utc>>,
    /// So often it fires; what is skipped does not count.
    pub count: Option<u32>,
    /// Outside of them it does not fire, nor does it make up for it.
    pub active: Option<ActiveHours>,
    /// It fires up to so much later, each time the same for the same schedule and time.
    pub jitter: Option<Span>,
}

impl Plan {
    /// An expression without limits.
    pub fn of(expression: Expression, zone: Zone) -> Self {
        Self { expression, zone, limits: Limits::default() }
    }

    /// Returns the first time after `after`, when it has fired so often; `None` when it is over.
    pub fn next(&self, after: DateTime<Utc>, fired: u32) -> Option<DateTime<Utc>> {
        if self.left(fired) == Some(0) { None } else { self.next_after(after) }
    }

    /// As [`Plan::next`], whatever the count.
    pub fn next_after(&self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let mut after = self.not_before(after);
        for _ in 0..TRIES {
            let at = self.expression.next_after(self.zone, after)?;
            if self.limits.ends.is_some_and(|ends| at > ends) {
                return None;
            }
            match self.limits.active {
                Some(active) if !active.has(self.zone.local(at).time()) => {
                    after = self.before_active(active, at);
                }
                _ => return Some(at),
            }
        }
        None
    }

    /// Returns how often it may still fire; `None` when nobody counts.
    pub fn left(&self, fired: u32) -> Option<u32> {
        self.limits.count.map(|count| count.saturating_sub(fired))
    }

    /// Returns when a time is carried out: as much later as jitter says, but before the next one.
    pub fn fires_at(&self, schedule: &str, due: DateTime<Utc>) -> DateTime<Utc> {
        let Some(jitter) = self.limits.jitter else { return due };
        let next = self.expression.next_after(self.zone, due).map(|next| next - due);
        let most = TimeDelta::from_std(jitter.0).unwrap_or(TimeDelta::MAX);
        let most = next.map_or(most, |next| most.min(next)).num_milliseconds();
        let Ok(most @ 1..) = u64::try_from(most) else { return due };
        // Less than `most`, which came out of an i64.
        let later = (hash(schedule, due) % most) as i64;
        due.checked_add_signed(TimeDelta::milliseconds(later)).unwrap_or(due)
    }

    /// A start belongs to what may fire.
    fn not_before(&self, after: DateTime<Utc>) -> DateTime<Utc> {
        let start = self.limits.starts.and_then(|starts| starts.checked_sub_signed(INSTANT));
        start.map_or(after, |start| start.max(after))
    }

    /// Goes on from a time outside of the active hours: straight to where they begin. Not so while the clock is
    /// changed before that, or shows a time again: then they may be open earlier.
    fn before_active(&self, active: ActiveHours, at: DateTime<Utc>) -> DateTime<Utc> {
        let again =
            matches!(local::shown(self.zone, self.zone.local(at)), Some(WallTime::Twice(_)));
        let begin = Cron::daily(active.from()).next_after(self.zone, at).filter(|_| !again);
        let same = |begin: &DateTime<Utc>| self.zone.offset(*begin) == self.zone.offset(at);
        begin.filter(same).and_then(|begin| begin.checked_sub_signed(INSTANT)).unwrap_or(at)
    }
}

/// Times are kept in milliseconds: nothing lies between.
pub const INSTANT: TimeDelta = TimeDelta::milliseconds(1);

/// The same on every machine and in every version.
fn hash(schedule: &str, due: DateTime<Utc>) -> u64 {
    let text = format!("{schedule}@{}", due.timestamp_millis());
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
