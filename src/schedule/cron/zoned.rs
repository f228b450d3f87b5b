//! The next instant of an expression by a zone's clocks, with the rules of [`crate::local`].

use chrono::{DateTime, NaiveDateTime, TimeDelta, Timelike as _, Utc};

use super::sets::{Search, Sets};
use crate::local::{self, Overlap, WallTime};
use crate::zone::Zone;

/// A search meets one change of the clock, hardly ever two.
const TRIES: usize = 8;

/// Returns the first instant after `after`.
pub fn next_after(sets: &Sets, zone: Zone, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let from = minute_after(zone.local(after))?;
    if sets.runs_through {
        through(sets, zone, after, from)
    } else {
        fixed(sets, zone, after, from)
    }
}

/// Times of day: local times give instants in the same order, so the first that lies after `after` is it.
fn fixed(
    sets: &Sets,
    zone: Zone,
    after: DateTime<Utc>,
    mut from: NaiveDateTime,
) -> Option<DateTime<Utc>> {
    for _ in 0..TRIES {
        let local = Search::over(sets).at_or_after(from)?;
        match local::shown(zone, local)? {
            WallTime::Twice(twice) if twice.first <= after => {
                // In the second pass: what comes twice has been.
                from = minute_at_or_after(twice.overlap(zone).ends)?;
            }
            WallTime::Twice(twice) => return Some(twice.first),
            WallTime::Once(at) | WallTime::Never(at) if at > after => return Some(at),
            WallTime::Once(_) | WallTime::Never(_) => from = minute_after(local)?,
        }
    }
    None
}

/// Whatever clocks show: in an overlap the second pass comes before what is later by the clock.
fn through(
    sets: &Sets,
    zone: Zone,
    after: DateTime<Utc>,
    from: NaiveDateTime,
) -> Option<DateTime<Utc>> {
    let found = onward(sets, zone, after, from);
    let Some(overlap) = overlap_ahead(zone, after) else { return found };
    if found.is_some_and(|at| at < overlap.back_at) {
        return found;
    }
    let again = Search::over(sets).at_or_after(minute_at_or_after(overlap.begins)?);
    match again.filter(|local| *local < overlap.ends) {
        Some(local) => Some(overlap.back_at + (local - overlap.begins)),
        None => found,
    }
}

fn onward(
    sets: &Sets,
    zone: Zone,
    after: DateTime<Utc>,
    mut from: NaiveDateTime,
) -> Option<DateTime<Utc>> {
    for _ in 0..TRIES {
        let local = Search::over(sets).at_or_after(from)?;
        match local::shown(zone, local)? {
            WallTime::Once(at) => return Some(at),
            WallTime::Twice(twice) if twice.first > after => return Some(twice.first),
            WallTime::Twice(twice) => return Some(twice.second),
            WallTime::Never(end) => from = minute_at_or_after(zone.local(end))?,
        }
    }
    None
}

/// The overlap whose first pass `after` is in.
fn overlap_ahead(zone: Zone, after: DateTime<Utc>) -> Option<Overlap> {
    match local::shown(zone, zone.local(after))? {
        WallTime::Twice(twice) if after < twice.second => {
            Some(twice.overlap(zone)).filter(|overlap| after < overlap.back_at)
        }
        _ => None,
    }
}

fn minute_after(local: NaiveDateTime) -> Option<NaiveDateTime> {
    local.with_nanosecond(0)?.with_second(0)?.checked_add_signed(TimeDelta::minutes(1))
}

fn minute_at_or_after(local: NaiveDateTime) -> Option<NaiveDateTime> {
    let whole = local.with_nanosecond(0)?.with_second(0)?;
    if whole == local { Some(whole) } else { minute_after(local) }
}
