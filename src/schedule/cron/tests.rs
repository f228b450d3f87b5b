use chrono::{NaiveDateTime, TimeDelta};
use croner::Cron as Croner;
use proptest::prelude::*;

use super::sets::Search;
use super::*;
use crate::model::{CHANGES, Model, expressions, place};

fn cron(text: &str) -> Cron {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn refused(text: &str) -> String {
    match text.parse::<Cron>() {
        Ok(cron) => panic!("{text} was read as {cron:?}"),
        Err(e) => e.to_string(),
    }
}

fn zone(name: &str) -> Zone {
    Zone::named(name).unwrap()
}

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// The next times in UTC, after `after`, so many.
fn times(text: &str, name: &str, after: &str, number: usize) -> Vec<String> {
    let (cron, zone) = (cron(text), zone(name));
    let next = |at: &DateTime<Utc>| cron.next_after(zone, *at);
    let times = std::iter::successors(next(&utc(after)), next).take(number);
    times.map(|at| at.format("%m-%dT%H:%M").to_string()).collect()
}

#[test]
fn errors_name_the_field_the_value_and_what_is_taken() {
    for (text, parts) in [
        ("75 8 * * *", ["minute: \"75\"", "0-59"]),
        ("0 24 * * *", ["hour: \"24\"", "0-23"]),
        ("0 8 0 * *", ["day of month: \"0\"", "1-31"]),
        ("0 8 * foo *", ["month: \"foo\"", "1-12 or jan-dec"]),
        ("0 8 * * 8", ["weekday: \"8\"", "0-7 or sun-sat"]),
        ("0 8 * * 1,9", ["weekday: \"9\"", "0-7"]),
        ("0 22-4 * * *", ["hour: \"22-4\" ends before it begins", "takes 0-23"]),
        ("*/90 * * * *", ["minute: \"*/90\" has a step", "every 90m"]),
        ("*/0 * * * *", ["minute: \"*/0\" has a step of 0: the least is 1", "0-59"]),
        ("5* * * * *", ["minute: \"5*\" is not understood", "0-59"]),
        (", * * * *", ["minute: \"\" is not understood", "0-59"]),
        ("* * ? * *", ["day of month: \"?\"", "1-31"]),
        ("* * L * *", ["day of month: \"l\"", "1-31"]),
        ("0 0 8 * * *", ["has 5 fields", "this has 6; seconds"]),
        ("0 8", ["has 5 fields", "this has 2"]),
        ("@reboot", ["\"@reboot\" is not known", "@hourly"]),
        ("0 0 31 2 *", ["\"0 0 31 2 *\" never happens", "calendar"]),
        ("0 0 30,31 feb *", ["never happens", "calendar"]),
        ("0 0 31 4,6,9,11 */2", ["never happens", "calendar"]),
    ] {
        let said = refused(text);
        assert!(parts.iter().all(|part| said.contains(part)), "{text}: {said}");
    }
    let sixty = ["*"; 60].join(" ");
    assert!(refused(&sixty).contains("this has 60"));
    assert!(refused(&"*".repeat(257)).contains("256"));
}

#[test]
fn a_crontab_means_what_it_means_to_cron() {
    // 22 November 2026 is a Sunday.
    let utc = |text: &str, number| times(text, "UTC", "2026-11-22T15:30:00Z", number);
    assert_eq!(utc("0 9 * * 1-5", 1), ["11-23T09:00"]);
    assert_eq!(utc("0 9 * * 0", 1), utc("0 9 * * 7", 1));
    assert_eq!(utc("0 9 * * 0", 1), utc("0 9 * * SUN", 1));
    assert_eq!(utc("0 9 * * fri-sun", 3), ["11-27T09:00", "11-28T09:00", "11-29T09:00"]);
    assert_eq!(utc("0 9 * * 5-7", 3), utc("0 9 * * Friday-Sunday", 3));
    assert_eq!(utc("5/20 * * * *", 3), ["11-22T15:45", "11-22T16:05", "11-22T16:25"]);
    assert_eq!(utc("@hourly", 2), ["11-22T16:00", "11-22T17:00"]);
    assert_eq!(utc("@midnight", 1), utc("@daily", 1));
    assert_eq!(utc("@Annually", 1), utc("@yearly", 1));
    // Either is enough where both restrict; a field that begins with * does not.
    assert_eq!(utc("0 0 25 * 1", 3), ["11-23T00:00", "11-25T00:00", "11-30T00:00"]);
    assert_eq!(utc("0 0 */2 * 1", 2), ["11-23T00:00", "12-07T00:00"]);
    assert_eq!(utc("0 0 25 * *", 2), ["11-25T00:00", "12-25T00:00"]);
}

#[test]
fn its_text_is_its_fields_and_reads_back() {
    assert_eq!(cron(" 0  8\t* * MON ").to_string(), "0 8 * * mon");
    assert_eq!(cron("@weekly").to_string(), "0 0 * * 0");
    let time = NaiveTime::from_hms_opt(8, 5, 0).unwrap();
    assert_eq!(Cron::daily(time), cron("5 8 * * *"));
    assert_eq!(Cron::hourly(60), None);
}

#[test]
fn a_time_of_day_that_is_left_out_fires_after_the_gap_and_one_that_comes_twice_once() {
    let berlin = |text, after, number| times(text, "Europe/Berlin", after, number);
    let spring = "2026-03-28T12:00:00Z";
    assert_eq!(berlin("30 2 * * *", spring, 2), ["03-29T01:00", "03-30T00:30"]);
    assert_eq!(berlin("0,30 2 * * *", spring, 2), ["03-29T01:00", "03-30T00:00"]);
    assert_eq!(berlin("0 2,3 * * *", spring, 2), ["03-29T01:00", "03-30T00:00"]);
    let autumn = "2026-10-24T12:00:00Z";
    assert_eq!(berlin("30 2 * * *", autumn, 2), ["10-25T00:30", "10-26T01:30"]);
    // Begun in the second pass, what was in the first one is over.
    assert_eq!(berlin("30 2 * * *", "2026-10-25T01:10:00Z", 1), ["10-26T01:30"]);
    let howe = |after, number| times("15 2 * * *", "Australia/Lord_Howe", after, number);
    assert_eq!(howe("2026-10-03T00:00:00Z", 2), ["10-03T15:30", "10-04T15:15"]);
}

#[test]
fn what_runs_through_fires_in_both_hours_and_piles_nothing_up() {
    let berlin = |text, after, number| times(text, "Europe/Berlin", after, number);
    let autumn = "2026-10-24T23:10:00Z";
    assert_eq!(berlin("0 * * * *", autumn, 3), ["10-25T00:00", "10-25T01:00", "10-25T02:00"]);
    let thirty = ["10-25T00:30", "10-25T01:00", "10-25T01:30", "10-25T02:00"];
    assert_eq!(berlin("*/30 * * * *", "2026-10-25T00:00:00Z", 4), thirty);
    let spring = "2026-03-28T23:30:00Z";
    assert_eq!(berlin("0 * * * *", spring, 3), ["03-29T00:00", "03-29T01:00", "03-29T02:00"]);
    assert_eq!(berlin("*/20 2 * * *", spring, 1), ["03-30T00:00"]);
    let howe = times("45 * * * *", "Australia/Lord_Howe", "2026-04-04T14:00:00Z", 3);
    assert_eq!(howe, ["04-04T14:45", "04-04T15:15", "04-04T16:15"]);
}

#[test]
fn days_that_are_rare_or_missing() {
    let next = |text: &str, name: &str, after: &str| {
        cron(text).next_after(zone(name), utc(after)).unwrap().to_rfc3339()
    };
    let apia = next("0 8 * * 5", "Pacific/Apia", "2011-12-28T00:00:00Z");
    assert_eq!(apia, "2011-12-30T10:00:00+00:00");
    let leap = next("0 0 29 2 *", "UTC", "2024-02-29T00:00:00Z");
    assert_eq!(leap, "2028-02-29T00:00:00+00:00");
    let century = next("0 0 29 2 *", "UTC", "2096-02-29T00:00:00Z");
    assert_eq!(century, "2104-02-29T00:00:00+00:00");
    let end = next("14 3 19 1 *", "UTC", "2038-01-01T00:00:00Z");
    assert_eq!(end, "2038-01-19T03:14:00+00:00");
    let after = next("0 8 * * *", "Europe/Berlin", "2099-07-01T12:00:00Z");
    assert_eq!(after, "2099-07-02T06:00:00+00:00");
}

#[test]
fn a_search_takes_a_step_a_month_and_none_a_minute() {
    let steps = |text: &str, from: &str| {
        let cron = cron(text);
        let mut search = Search::over(&cron.sets);
        let from: NaiveDateTime = from.parse().unwrap();
        let found = search.at_or_after(from).unwrap();
        assert!(found >= from);
        search.steps()
    };
    assert_eq!(steps("* * * * *", "2026-11-22T15:30:00"), 1);
    assert_eq!(steps("59 23 * * *", "2026-11-22T00:00:00"), 1);
    assert_eq!(steps("0 0 * * *", "2026-12-31T00:01:00"), 2);
    assert_eq!(steps("0 0 1 1 *", "2026-01-01T00:01:00"), 3);
    // A month a year: eight years without a leap day, forty without one on a Sunday.
    assert!(steps("0 0 29 2 *", "2096-03-01T00:00:00") <= 9);
    for year in 2000..2400 {
        let steps = steps("0 0 29 2 */7", &format!("{year}-03-01T00:00:00"));
        assert!(steps <= 42, "{year}: {steps}");
    }
}

#[test]
fn the_ends_of_time_end_the_search() {
    for text in ["* * * * *", "0 0 29 2 *", "30 2 * * 1"] {
        for name in ["UTC", "Pacific/Kiritimati", "Pacific/Midway", "Europe/Berlin"] {
            for at in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
                let next = cron(text).next_after(zone(name), at);
                assert!(next.is_none_or(|next| next > at), "{text} {name} {at}: {next:?}");
            }
        }
    }
}

const ZONES: [&str; 10] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Asia/Tokyo",
    "Asia/Kathmandu",
    "America/Santiago",
    "Pacific/Chatham",
    "Africa/Cairo",
];

/// Whether `croner` has the same rules for changed clocks: it calls fixed what has one minute and one hour, and
/// anything else an interval, where ours goes by the `*` as cronie does. It combines days that begin with `*` in a
/// way of its own.
fn is_told_alike(text: &str) -> bool {
    let fields: Vec<&str> = text.split(' ').collect();
    let is_one = |field: &str| field.parse::<u32>().is_ok();
    let time = fields[0].starts_with('*') || fields[1].starts_with('*');
    let days = fields[2] == "*"
        || fields[4] == "*"
        || !(fields[2].starts_with('*') || fields[4].starts_with('*'));
    (time || is_one(fields[0]) && is_one(fields[1])) && days
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Twenty years, ten zones, against crates that know nothing of ours: another's grammar, another's zones.
    #[test]
    fn another_crate_finds_the_same_times(
        text in expressions().prop_filter("told alike", |text| is_told_alike(text)),
        name in prop::sample::select(&ZONES[..]),
        second in 0_i64..20 * 365 * 86_400,
    ) {
        let (zone, cron) = (zone(name), cron(&text));
        let croner: Croner = text.parse().unwrap();
        let theirs: chrono_tz::Tz = name.parse().unwrap();
        let mut at = utc("2016-01-01T00:00:00Z") + TimeDelta::seconds(second);
        for _ in 0..6 {
            let expected = croner.find_next_occurrence(&at.with_timezone(&theirs), false);
            let expected = expected.unwrap().to_utc();
            prop_assert_eq!(cron.next_after(zone, at), Some(expected), "{} {} {}", text, name, at);
            at = expected;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// All rules, around clocks that are changed, against minutes that are gone through one by one.
    #[test]
    fn days_with_a_change_are_as_cronie_runs_them(
        text in expressions(),
        change in prop::sample::select(&CHANGES[..]),
        offset in -26_i64 * 60..14 * 60,
    ) {
        let place = place(change);
        let (cron, model) = (cron(&text), Model::of(&text));
        let after = place.noon + TimeDelta::minutes(offset);
        let until = after + TimeDelta::hours(26);
        let next = |at: &DateTime<Utc>| cron.next_after(place.zone, *at);
        let times = std::iter::successors(next(&after), next).take_while(|at| *at <= until);
        let times: Vec<_> = times.collect();
        prop_assert_eq!(times, model.firings(place.zone, after, until), "{} {}", text, change);
    }

    #[test]
    fn the_next_time_does_not_hang_on_where_one_asks_from(
        text in expressions(),
        change in prop::sample::select(&CHANGES[..]),
        millis in -40_i64 * 3_600_000..40 * 3_600_000,
    ) {
        let place = place(change);
        let cron = cron(&text);
        let after = place.noon + TimeDelta::milliseconds(millis);
        let next = cron.next_after(place.zone, after).unwrap();
        prop_assert!(next > after);
        let halfway = after + (next - after) / 2;
        prop_assert_eq!(cron.next_after(place.zone, halfway), Some(next));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[-*/,0-9a-z@ ?#]{0,24}|.{0,40}") {
        if let Ok(cron) = text.parse::<Cron>() {
            prop_assert_eq!(cron.to_string().parse::<Cron>(), Ok(cron));
        }
    }
}
