//! The local day of a moment.

use chrono::{DateTime, Days, NaiveTime, Utc};

use super::local;
use super::zone::Zone;

/// Returns when the day of a moment began in a zone.
pub fn begins(zone: Zone, at: DateTime<Utc>) -> DateTime<Utc> {
    let midnight = zone.local(at).date().and_time(NaiveTime::MIN);
    // A day whose midnight is left out begins when the clocks go on.
    local::fixed(zone, midnight).filter(|begins| *begins <= at).unwrap_or(at)
}

/// Returns when the next day begins in a zone.
pub fn ends(zone: Zone, at: DateTime<Utc>) -> DateTime<Utc> {
    let tomorrow = zone.local(at).date().checked_add_days(Days::new(1));
    let midnight = tomorrow.and_then(|day| local::fixed(zone, day.and_time(NaiveTime::MIN)));
    midnight.filter(|ends| *ends > at).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_the_zones_own() {
        let utc = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        for (zone, at, from, to) in [
            ("UTC", "2026-11-22T15:00:00Z", "2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z"),
            ("Asia/Tokyo", "2026-11-22T15:00:00Z", "2026-11-22T15:00:00Z", "2026-11-23T15:00:00Z"),
            (
                "Europe/Berlin",
                "2026-10-25T12:00:00Z",
                "2026-10-24T22:00:00Z",
                "2026-10-25T23:00:00Z",
            ),
            // 30 December 2011 was left out.
            (
                "Pacific/Apia",
                "2011-12-30T01:00:00Z",
                "2011-12-29T10:00:00Z",
                "2011-12-30T10:00:00Z",
            ),
        ] {
            let zone = Zone::named(zone).unwrap();
            assert_eq!(
                (begins(zone, utc(at)), ends(zone, utc(at))),
                (utc(from), utc(to)),
                "{zone}"
            );
        }
    }
}
