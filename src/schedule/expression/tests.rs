use proptest::prelude::*;

use super::*;
use crate::model::expressions;

const NOW: &str = "2026-11-22T15:30:12.345Z";

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn written(text: &str) -> Result<Expression, ExpressionError> {
    Expression::written(text, Zone::named("Europe/Berlin").unwrap(), utc(NOW))
}

fn once(text: &str) -> DateTime<Utc> {
    match written(text) {
        Ok(Expression::Once(at)) => at,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn every_form_is_read() {
    assert_eq!(written("0 8 * * MON").unwrap().to_string(), "0 8 * * mon");
    assert_eq!(written("@Daily").unwrap().to_string(), "0 0 * * *");
    for (text, stored) in [
        ("every 10m", "every 10m from 2026-11-22T15:30:12.345Z"),
        ("Every 10 minutes", "every 10m from 2026-11-22T15:30:12.345Z"),
        ("every 1h30m", "every 90m from 2026-11-22T15:30:12.345Z"),
        ("@every 90s", "every 90s from 2026-11-22T15:30:12.345Z"),
        ("every day", "every 1d from 2026-11-22T15:30:12.345Z"),
        ("in 20m", "at 2026-11-22T15:50:12.345Z"),
        ("in 45 seconds", "at 2026-11-22T15:30:57.345Z"),
        ("at 18:00", "at 2026-11-22T17:00:00Z"),
        ("at 8:00", "at 2026-11-23T07:00:00Z"),
        ("at 2026-12-24T18:00:00+01:00", "at 2026-12-24T17:00:00Z"),
        ("at 2026-12-24 18:00", "at 2026-12-24T17:00:00Z"),
        ("2026-12-01T09:00:00", "at 2026-12-01T08:00:00Z"),
        ("2026-12-01T09:00:00Z", "at 2026-12-01T09:00:00Z"),
        ("2026-12-01 09:00", "at 2026-12-01T08:00:00Z"),
        ("tomorrow 9am", "at 2026-11-23T08:00:00Z"),
        ("at 9am", "at 2026-11-23T08:00:00Z"),
        ("at 9:30 PM", "at 2026-11-22T20:30:00Z"),
        ("at 12am", "at 2026-11-22T23:00:00Z"),
        ("at 12pm", "at 2026-11-23T11:00:00Z"),
        ("at tomorrow 8:00", "at 2026-11-23T07:00:00Z"),
        ("at Tomorrow 23:30", "at 2026-11-23T22:30:00Z"),
        ("at tomorrow 18:00", "at 2026-11-23T17:00:00Z"),
        ("at Tomorrow at 8:05", "at 2026-11-23T07:05:00Z"),
    ] {
        assert_eq!(written(text).unwrap().to_string(), stored, "{text}");
    }
}

#[test]
fn a_time_follows_the_rules_for_changed_clocks() {
    assert_eq!(once("at 2027-03-28 02:30"), utc("2027-03-28T01:00:00Z"));
    assert_eq!(once("at 2027-10-31 02:30"), utc("2027-10-31T00:30:00Z"));
    assert_eq!(once("at 16:31"), utc("2026-11-22T15:31:00Z"));
    assert_eq!(once("at 16:30"), utc("2026-11-23T15:30:00Z"));
}

#[test]
fn what_is_wrong_is_named_with_what_is_taken() {
    for (text, said) in [
        ("", "\"\" is not a schedule: takes a crontab expression"),
        ("tomorrow", "\"tomorrow\" is not a schedule"),
        ("inside", "\"inside\" is not a schedule"),
        ("0 8 * *", "has 5 fields"),
        ("0 25 * * *", "hour: \"25\""),
        ("@reboot", "\"@reboot\" is not known"),
        ("every", "is not a length of time"),
        ("every blue moon", "\"blue moon\" is not a length of time (takes 90s"),
        ("every 10", "\"10\" is not a length of time"),
        ("every 59s", "\"every 59s\" is not taken: an interval is one minute to one year"),
        ("every 367d", "one minute to one year"),
        ("every 18446744073709551615d", "is not a length of time"),
        ("every 18446744073709551615s", "is not a length of time"),
        ("in 0s", "one second to one year"),
        ("in 400d", "one second to one year"),
        ("in -5m", "is not a length of time"),
        ("at 25:00", "\"25:00\" is not a time (takes 08:00"),
        ("at noon", "\"noon\" is not a time"),
        ("at 13pm", "\"13pm\" is not a time"),
        ("at 0am", "\"0am\" is not a time"),
        ("at ampm", "\"ampm\" is not a time"),
        ("2020-01-01T08:00:00", "2020-01-01T08:00:00 is in the past"),
        (
            "CRON_TZ=Europe/Berlin 0 9 * * *",
            "\"CRON_TZ=Europe/Berlin 0 9 * * *\": leave the zone out of the schedule, and name it as `timezone`",
        ),
        ("TZ=UTC @daily", "name it as `timezone`"),
        ("at 2026-02-30T08:00:00Z", "is not a time"),
        ("at 2026-11-22T16:30:00+01:00", "2026-11-22T16:30:00+01:00 is in the past"),
        ("at 2020-01-01 08:00", "2020-01-01 08:00 is in the past"),
    ] {
        let error = written(text).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
    let long = written(&"every ".repeat(1000)).unwrap_err().to_string();
    assert!(long.contains("256") && long.len() < 300, "{long}");
}

#[test]
fn an_interval_is_counted_from_its_anchor() {
    let anchor = utc("2026-03-29T00:00:00Z");
    let every = Every::from_anchor(Span::seconds(600), anchor).unwrap();
    let next = |text: &str| every.next_after(utc(text)).unwrap();
    assert_eq!(next("2026-03-29T00:00:00Z"), utc("2026-03-29T00:10:00Z"));
    assert_eq!(next("2026-03-29T00:09:59.999Z"), utc("2026-03-29T00:10:00Z"));
    assert_eq!(next("2026-03-29T00:10:00Z"), utc("2026-03-29T00:20:00Z"));
    assert_eq!(next("2020-01-01T00:00:00Z"), utc("2026-03-29T00:10:00Z"));
    assert_eq!(every.count(anchor, utc("2026-03-29T01:00:00Z")), 6);
    assert_eq!(every.count(utc("2026-03-29T00:09:59Z"), utc("2026-03-29T00:10:00Z")), 1);
    assert_eq!(every.count(utc("2026-03-29T01:00:00Z"), anchor), 0);
    assert_eq!(every.next_after(DateTime::<Utc>::MAX_UTC), None);
}

fn any_expression() -> impl Strategy<Value = Expression> {
    let instant = (0_i64..4_000_000_000_000)
        .prop_map(|millis| DateTime::from_timestamp_millis(millis).unwrap());
    let every = (60_u64..=366 * 86_400, instant.clone()).prop_map(|(seconds, anchor)| {
        Expression::Every(Every::from_anchor(Span::seconds(seconds), anchor).unwrap())
    });
    prop_oneof![
        expressions().prop_map(|text| Expression::Cron(text.parse().unwrap())),
        every,
        instant.prop_map(Expression::Once),
    ]
}

proptest! {
    #[test]
    fn what_a_row_keeps_reads_back(expression in any_expression()) {
        prop_assert_eq!(expression.to_string().parse(), Ok(expression));
    }

    #[test]
    fn what_is_written_can_be_kept(text in "(every|in|at|@)? ?[0-9]{0,3} ?(m|h|:30|day| \\* \\* \\* \\*)?|.{0,40}") {
        if let Ok(expression) = written(&text) {
            prop_assert_eq!(expression.to_string().parse(), Ok(expression));
        }
    }

    #[test]
    fn any_stored_text_is_read_or_refused(text in "(every|at) [0-9a-z: TZ-]{0,30}|.{0,60}") {
        drop(text.parse::<Expression>());
    }
}
