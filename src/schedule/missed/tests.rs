use proptest::prelude::*;

use super::*;
use crate::expression::Expression;
use crate::zone::Zone;

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn plan(text: &str) -> Plan {
    let zone = Zone::named("Europe/Berlin").unwrap();
    let now = utc("2026-11-22T00:00:00Z");
    Plan::of(Expression::written(text, zone, now).unwrap(), zone)
}

fn by(misfire: Misfire, lateness: u64) -> CatchUp {
    CatchUp { misfire, lateness: Span::seconds(lateness) }
}

fn since(text: &str, after: &str, now: &str, catch_up: CatchUp) -> Due {
    missed(&plan(text), utc(after), utc(now), catch_up, 0)
}

fn reasons(due: &Due) -> Vec<(&str, u64)> {
    due.skipped.iter().map(|skipped| (skipped.reason.name(), skipped.count)).collect()
}

#[test]
fn what_is_due_now_fires_whatever_the_policy() {
    let now = "2026-11-22T15:00:20Z";
    for policy in [Misfire::Skip, Misfire::Once, Misfire::All] {
        let due = since("0 * * * *", "2026-11-22T14:00:00Z", now, by(policy, 0));
        assert_eq!(due.fires, [utc("2026-11-22T15:00:00Z")], "{policy:?}");
        assert_eq!(due.skipped, [], "{policy:?}");
    }
    let due = since("0 * * * *", "2026-11-22T15:00:00Z", now, CatchUp::default());
    assert_eq!(due, Due::default());
}

#[test]
fn once_catches_the_latest_up_and_says_what_became_of_the_others() {
    let due =
        since("0 * * * *", "2026-11-22T10:00:00Z", "2026-11-22T15:30:00Z", CatchUp::default());
    assert_eq!(due.fires, [utc("2026-11-22T15:00:00Z")]);
    assert_eq!(reasons(&due), [("too late", 3), ("coalesced", 1)]);
    assert_eq!(due.skipped[0].first, utc("2026-11-22T11:00:00Z"));
    assert_eq!(due.skipped[0].last, utc("2026-11-22T13:00:00Z"));
    assert_eq!(due.skipped[1].says(), "1 time was skipped: the latest one stands for all");
}

#[test]
fn what_is_too_late_is_not_caught_up() {
    let due =
        since("0 8 * * *", "2026-11-22T07:00:00Z", "2026-11-23T09:00:01Z", CatchUp::default());
    assert!(due.fires.is_empty());
    assert_eq!(reasons(&due), [("too late", 1)]);
    let just =
        since("0 8 * * *", "2026-11-22T07:00:00Z", "2026-11-23T09:00:00Z", CatchUp::default());
    assert_eq!(just.fires, [utc("2026-11-23T07:00:00Z")]);
}

#[test]
fn skip_goes_on_with_the_next_one() {
    let due =
        since("0 * * * *", "2026-11-22T10:00:00Z", "2026-11-22T15:30:00Z", by(Misfire::Skip, 7200));
    assert!(due.fires.is_empty());
    assert_eq!(reasons(&due), [("missed", 5)]);
}

#[test]
fn all_catches_up_in_order_up_to_a_bound() {
    let two =
        since("0 * * * *", "2026-11-22T10:00:00Z", "2026-11-22T15:30:00Z", by(Misfire::All, 7200));
    assert_eq!(two.fires, [utc("2026-11-22T14:00:00Z"), utc("2026-11-22T15:00:00Z")]);
    assert_eq!(reasons(&two), [("too late", 3)]);
    let many =
        since("* * * * *", "2026-11-22T10:00:00Z", "2026-11-22T15:00:00Z", by(Misfire::All, 7200));
    assert_eq!(many.fires.len(), 100);
    assert!(many.fires.is_sorted());
    assert_eq!(reasons(&many), [("too late", 179), ("too many", 21)]);
}

#[test]
fn a_year_of_minutes_is_one_line() {
    let due =
        since("* * * * *", "2025-11-22T15:00:00Z", "2026-11-22T15:00:00Z", CatchUp::default());
    assert_eq!(due.fires, [utc("2026-11-22T15:00:00Z")]);
    assert_eq!(reasons(&due), [("too late", 365 * 1440 - 121), ("coalesced", 120)]);
    assert_eq!(due.skipped[0].first, utc("2025-11-22T15:01:00Z"));
}

#[test]
fn a_count_is_kept() {
    let mut plan = plan("0 * * * *");
    plan.limits.count = Some(3);
    let due = |fired| {
        let [after, now] = [utc("2026-11-22T10:00:00Z"), utc("2026-11-22T15:30:00Z")];
        missed(&plan, after, now, by(Misfire::All, 86_400), fired)
    };
    assert_eq!(due(1).fires, [utc("2026-11-22T14:00:00Z"), utc("2026-11-22T15:00:00Z")]);
    assert_eq!(reasons(&due(1)), [("too many", 3)]);
    assert_eq!(due(3), Due::default());
}

#[test]
fn a_clock_that_went_back_brings_nothing() {
    let due =
        since("* * * * *", "2026-11-22T15:00:00Z", "2026-11-20T15:00:00Z", by(Misfire::All, 7200));
    assert_eq!(due, Due::default());
}

#[test]
fn policies_are_known_by_their_names() {
    for policy in [Misfire::Skip, Misfire::Once, Misfire::All] {
        assert_eq!(policy.name().parse(), Ok(policy));
    }
    let said = "never".parse::<Misfire>().unwrap_err().to_string();
    assert_eq!(said, "\"never\" is not a policy for missed times (takes skip, once, all)");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn each_time_fires_or_is_counted(
        text in crate::model::expressions(),
        away in 0_i64..6 * 86_400,
        lateness in 0_u64..3 * 86_400,
        policy in prop::sample::select(&[Misfire::Skip, Misfire::Once, Misfire::All][..]),
    ) {
        let plan = plan(&text);
        let now = utc("2026-10-26T12:00:30Z");
        let after = now - TimeDelta::seconds(away);
        let due = missed(&plan, after, now, by(policy, lateness), 0);
        let skipped: u64 = due.skipped.iter().map(|skipped| skipped.count).sum();
        prop_assert_eq!(due.fires.len() as u64 + skipped, between(&plan, after, now));
        prop_assert!(due.fires.is_sorted() && due.skipped.len() <= 2);
        let skipped = due.skipped.iter().map(|skipped| skipped.last);
        prop_assert!(skipped.into_iter().all(|last| due.fires.iter().all(|fires| *fires > last)));
    }
}
