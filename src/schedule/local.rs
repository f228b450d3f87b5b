//! Local time ↔ instant, and the rules for clocks that are changed.
//!
//! - **A fixed time of day that does not exist** (02:30 when the clock goes from 02:00 to 03:00) is the first
//!   instant after the gap. Several such times of one gap are that one instant. A whole day that a zone left out
//!   (Apia, 30 December 2011) is a gap like any other.
//! - **A fixed time of day that comes twice** is the first of both.
//! - **What runs through** (a cron expression whose minute or hour begins with `*`) fires whenever clocks on the
//!   wall show a time that matches: in an overlap both times, in a gap never, so that nothing piles up after it.
//!
//! These are the rules of cronie and Debian's cron. Only the difference of two offsets counts, and not what it
//! is called: Casablanca's summer time is the usual one, and Ramadan's is called "negative".

use chrono::{DateTime, FixedOffset, NaiveDateTime, TimeDelta, Utc};

use super::zone::{Ahead, Change, Zone};

/// When clocks on the wall show a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallTime {
    /// Once, as usual.
    Once(DateTime<Utc>),
    /// Twice: the clock is put back.
    Twice(Twice),
    /// Never: the clock is put forward, and this is the first instant after the gap.
    Never(DateTime<Utc>),
}

/// A time that comes twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twice {
    /// Before the clock is put back.
    pub first: DateTime<Utc>,
    /// After it.
    pub second: DateTime<Utc>,
}

/// The two passes over the same local times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// When the clock is put back: the first instant of the second pass.
    pub back_at: DateTime<Utc>,
    /// The local time it is put back to: the first that comes twice.
    pub begins: NaiveDateTime,
    /// The local time it is put back from: the first after those that come twice.
    pub ends: NaiveDateTime,
}

/// Tells when clocks of a zone show a local time; `None` at the ends of what can be counted.
pub fn shown(zone: Zone, local: NaiveDateTime) -> Option<WallTime> {
    let at = |ahead: FixedOffset| Some(local.checked_sub_offset(ahead)?.and_utc());
    let Change { before, after } = match zone.ahead(local)? {
        Ahead::Once(ahead) => return Some(WallTime::Once(at(ahead)?)),
        Ahead::Changed(change) => change,
    };
    if before.local_minus_utc() > after.local_minus_utc() {
        return Some(WallTime::Twice(Twice { first: at(before)?, second: at(after)? }));
    }
    // Read by what clocks are ahead by after the change it lies before it, and the other way round.
    Some(WallTime::Never(changed(zone, at(after)?, at(before)?)))
}

/// Returns the instant of a fixed local time, by the rules above.
pub fn fixed(zone: Zone, local: NaiveDateTime) -> Option<DateTime<Utc>> {
    Some(match shown(zone, local)? {
        WallTime::Once(at) | WallTime::Never(at) => at,
        WallTime::Twice(twice) => twice.first,
    })
}

impl Twice {
    /// Looks for the moment the clock is put back, which lies between both.
    pub fn overlap(self, zone: Zone) -> Overlap {
        let back_at = changed(zone, self.first, self.second);
        let begins = zone.local(back_at);
        Overlap { back_at, begins, ends: begins + self.length() }
    }

    fn length(self) -> TimeDelta {
        self.second - self.first
    }
}

/// The first second after `early` and not after `late` at which clocks are ahead by something else.
fn changed(zone: Zone, early: DateTime<Utc>, late: DateTime<Utc>) -> DateTime<Utc> {
    let before = zone.offset(early);
    let mut from = early.timestamp();
    let mut to = late.timestamp();
    while to - from > 1 {
        let middle = from + (to - from) / 2;
        let at = DateTime::from_timestamp(middle, 0).unwrap_or(late);
        if zone.offset(at) == before { from = middle } else { to = middle }
    }
    DateTime::from_timestamp(to, 0).unwrap_or(late)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> Zone {
        Zone::named(name).unwrap()
    }

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn in_zone(name: &str, local: &str) -> WallTime {
        shown(zone(name), local.parse().unwrap()).unwrap()
    }

    fn overlap(name: &str, local: &str) -> Overlap {
        let WallTime::Twice(twice) = in_zone(name, local) else { panic!("{local} comes once") };
        twice.overlap(zone(name))
    }

    #[test]
    fn berlin_leaves_an_hour_out_and_repeats_one() {
        let gap = utc("2026-03-29T01:00:00Z");
        assert_eq!(in_zone("Europe/Berlin", "2026-03-29T02:30:00"), WallTime::Never(gap));
        assert_eq!(in_zone("Europe/Berlin", "2026-03-29T03:00:00"), WallTime::Once(gap));
        let expected = Overlap {
            back_at: utc("2026-10-25T01:00:00Z"),
            begins: "2026-10-25T02:00:00".parse().unwrap(),
            ends: "2026-10-25T03:00:00".parse().unwrap(),
        };
        for local in ["2026-10-25T02:00:00", "2026-10-25T02:30:00", "2026-10-25T02:59:59"] {
            assert_eq!(overlap("Europe/Berlin", local), expected, "{local}");
        }
    }

    #[test]
    fn lord_howe_changes_by_half_an_hour() {
        let gap = utc("2026-10-03T15:30:00Z");
        assert_eq!(in_zone("Australia/Lord_Howe", "2026-10-04T02:15:00"), WallTime::Never(gap));
        assert_eq!(in_zone("Australia/Lord_Howe", "2026-10-04T02:30:00"), WallTime::Once(gap));
        let overlap = overlap("Australia/Lord_Howe", "2026-04-05T01:45:00");
        assert_eq!(overlap.back_at, utc("2026-04-04T15:00:00Z"));
        assert_eq!(overlap.ends - overlap.begins, TimeDelta::minutes(30));
    }

    #[test]
    fn apia_leaves_a_day_out() {
        let gap = utc("2011-12-30T10:00:00Z");
        for local in ["2011-12-30T00:00:00", "2011-12-30T12:00:00", "2011-12-30T23:59:00"] {
            assert_eq!(in_zone("Pacific/Apia", local), WallTime::Never(gap), "{local}");
        }
        assert_eq!(in_zone("Pacific/Apia", "2011-12-31T00:00:00"), WallTime::Once(gap));
    }

    #[test]
    fn casablanca_goes_back_for_ramadan() {
        let overlap = overlap("Africa/Casablanca", "2024-03-10T02:30:00");
        assert_eq!(overlap.back_at, utc("2024-03-10T02:00:00Z"));
        let gap = utc("2024-04-14T02:00:00Z");
        assert_eq!(in_zone("Africa/Casablanca", "2024-04-14T02:30:00"), WallTime::Never(gap));
    }

    #[test]
    fn rules_hold_after_2038() {
        let summer = utc("2040-07-01T06:00:00Z");
        assert_eq!(in_zone("Europe/Berlin", "2040-07-01T08:00:00"), WallTime::Once(summer));
        let gap = utc("2040-03-25T01:00:00Z");
        assert_eq!(in_zone("Europe/Berlin", "2040-03-25T02:30:00"), WallTime::Never(gap));
    }
}
