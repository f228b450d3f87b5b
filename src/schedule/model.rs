//! What tests measure against: days gone through minute by minute, with another crate's idea of what matches.
//!
//! `croner` reads the fields and knows no rule of ours here: it is asked about days of the month and weekdays one by
//! one, and always in a zone without changes. The rules for changed clocks are cronie's, written down plainly.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use croner::Cron as Croner;
use proptest::prelude::*;

use super::zone::Zone;

/// Days with something to go wrong: a zone, and a day in the middle of it.
pub const CHANGES: [&str; 14] = [
    "Europe/Berlin 2026-03-29",
    "Europe/Berlin 2026-10-25",
    "Australia/Lord_Howe 2026-10-04",
    "Australia/Lord_Howe 2026-04-05",
    "Pacific/Apia 2011-12-30",
    "Africa/Casablanca 2024-03-10",
    "Africa/Casablanca 2024-04-14",
    // The hour before midnight is left out.
    "America/Nuuk 2026-03-28",
    // Midnight is left out.
    "Africa/Cairo 2026-04-24",
    // Midnight comes twice.
    "America/Havana 2026-11-01",
    "America/Santiago 2026-04-04",
    "America/Santiago 2026-09-06",
    "Europe/Berlin 2038-03-28",
    "Asia/Tokyo 2024-02-29",
];

/// An expression as the model sees it.
pub struct Model {
    by_day: Croner,
    by_weekday: Croner,
    either: bool,
    runs_through: bool,
}

/// A zone and a time in it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub zone: Zone,
    pub noon: DateTime<Utc>,
}

/// Returns noon of one of [`CHANGES`].
pub fn place(text: &str) -> Place {
    let (zone, day) = text.split_once(' ').unwrap();
    let noon = format!("{day}T12:00:00Z").parse().unwrap();
    Place { zone: Zone::named(zone).unwrap(), noon }
}

impl Model {
    /// Reads an expression of five fields.
    pub fn of(text: &str) -> Self {
        let fields: Vec<&str> = text.split(' ').collect();
        let [minute, hour, day, month, weekday] = fields.try_into().unwrap();
        let croner = |text: String| text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        Self {
            by_day: croner(format!("{minute} {hour} {day} {month} *")),
            by_weekday: croner(format!("{minute} {hour} * {month} {weekday}")),
            either: !day.starts_with('*') && !weekday.starts_with('*'),
            runs_through: minute.starts_with('*') || hour.starts_with('*'),
        }
    }

    /// Tells whether clocks show a matching time.
    pub fn matches(&self, local: NaiveDateTime) -> bool {
        let local = local.and_utc();
        let by = |croner: &Croner| croner.is_time_matching(&local).unwrap();
        if self.either {
            by(&self.by_day) || by(&self.by_weekday)
        } else {
            by(&self.by_day) && by(&self.by_weekday)
        }
    }

    /// Goes through all minutes after `after` and not after `until`, both whole.
    pub fn firings(
        &self,
        zone: Zone,
        after: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Vec<DateTime<Utc>> {
        let minute = TimeDelta::minutes(1);
        // What clocks have shown before: far enough back for any overlap.
        let mut at = after - TimeDelta::hours(30);
        let mut shown = zone.local(at);
        let mut fired = Vec::new();
        while at < until {
            at += minute;
            let local = zone.local(at);
            let fires = if at <= after {
                false
            } else if self.runs_through {
                self.matches(local)
            } else {
                // From the last new time on, the ones that were left out among them; none when it is no new one.
                let mut new = std::iter::successors(Some(shown + minute), |l| Some(*l + minute));
                new.by_ref().take_while(|l| *l <= local).any(|l| self.matches(l))
            };
            shown = shown.max(local);
            if fires {
                fired.push(at);
            }
        }
        fired
    }
}

/// Expressions of all kinds, as texts that both readers take.
pub fn expressions() -> impl Strategy<Value = String> {
    let minute = prop_oneof![
        Just("*".to_owned()),
        (1_u32..60).prop_map(|n| format!("*/{n}")),
        (0_u32..60).prop_map(|n| n.to_string()),
        Just("0,30".to_owned()),
        Just("15-45/10".to_owned()),
    ];
    let hour = prop_oneof![
        3 => (0_u32..24).prop_map(|n| n.to_string()),
        2 => (0_u32..4).prop_map(|n| n.to_string()),
        2 => Just("*".to_owned()),
        1 => (1_u32..24).prop_map(|n| format!("*/{n}")),
        1 => Just("1-3".to_owned()),
        1 => Just("2,23".to_owned()),
    ];
    let day = prop_oneof![
        4 => Just("*".to_owned()),
        1 => (1_u32..29).prop_map(|n| n.to_string()),
        1 => Just("*/2".to_owned()),
        1 => Just("25-31".to_owned()),
        1 => Just("1,15,29".to_owned()),
    ];
    let month = prop_oneof![
        5 => Just("*".to_owned()),
        1 => Just("3,4,10,12".to_owned()),
        1 => Just("jan-jun".to_owned()),
        1 => Just("*/2".to_owned()),
    ];
    let weekday = prop_oneof![
        4 => Just("*".to_owned()),
        1 => (0_u32..8).prop_map(|n| n.to_string()),
        1 => Just("1-5".to_owned()),
        1 => Just("sun,fri".to_owned()),
        1 => Just("5-7".to_owned()),
        1 => Just("*/2".to_owned()),
    ];
    let fields = [minute.boxed(), hour.boxed(), day.boxed(), month.boxed(), weekday.boxed()];
    fields.prop_map(|fields| fields.join(" "))
}
