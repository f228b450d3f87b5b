use proptest::prelude::*;

use super::*;
use crate::model::{CHANGES, Model, expressions, place};

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn plan(text: &str) -> Plan {
    let zone = Zone::named("Europe/Berlin").unwrap();
    let now = utc("2026-11-22T15:30:00Z");
    Plan::of(Expression::written(text, zone, now).unwrap(), zone)
}

fn times(plan: &Plan, number: usize) -> Vec<String> {
    let now = utc("2026-11-22T15:30:00Z");
    let times = std::iter::successors(plan.next_after(now), |at| plan.next_after(*at));
    times.take(number).map(|at| at.format("%dT%H:%M").to_string()).collect()
}

#[test]
fn start_and_end_belong_to_it() {
    let mut plan = plan("0 * * * *");
    plan.limits.starts = Some(utc("2026-11-22T18:00:00Z"));
    plan.limits.ends = Some(utc("2026-11-22T20:00:00Z"));
    assert_eq!(times(&plan, 9), ["22T18:00", "22T19:00", "22T20:00"]);
}

#[test]
fn a_count_ends_it() {
    let mut plan = plan("0 * * * *");
    plan.limits.count = Some(2);
    let now = utc("2026-11-22T15:30:00Z");
    assert_eq!(plan.next(now, 1), Some(utc("2026-11-22T16:00:00Z")));
    assert_eq!(plan.next(now, 2), None);
    assert_eq!(plan.next(now, 3), None);
}

#[test]
fn outside_of_the_active_hours_it_does_not_fire() {
    let mut every = plan("every 3h");
    every.limits.active = Some("08:00-22:00".parse().unwrap());
    // 15:30, 18:30, … UTC is 16:30, 19:30, 22:30, … in Berlin.
    assert_eq!(times(&every, 4), ["22T18:30", "23T09:30", "23T12:30", "23T15:30"]);
    let mut cron = plan("0 */6 * * *");
    cron.limits.active = Some("22:00-06:01".parse().unwrap());
    assert_eq!(times(&cron, 3), ["22T23:00", "23T05:00", "23T23:00"]);
    let mut never = plan("0 3 * * *");
    never.limits.active = Some("08:00-22:00".parse().unwrap());
    assert_eq!(times(&never, 1), [""; 0]);
}

#[test]
fn active_hours_that_come_twice_are_open_twice() {
    let place = place("America/Santiago 2026-04-04");
    let mut plan = Plan::of(Expression::Cron("*/30 * * * *".parse().unwrap()), place.zone);
    plan.limits.active = Some("23:30-00:30".parse().unwrap());
    let times = std::iter::successors(plan.next_after(place.noon), |at| plan.next_after(*at));
    let times: Vec<_> = times.take(3).map(|at| at.format("%dT%H:%M").to_string()).collect();
    assert_eq!(times, ["05T02:30", "05T03:30", "05T04:00"]);
}

#[test]
fn jitter_is_the_same_each_time_and_spreads_schedules() {
    let mut plan = plan("0 8 * * *");
    let due = utc("2026-11-23T07:00:00Z");
    assert_eq!(plan.fires_at("a", due), due);
    plan.limits.jitter = Some(Span::seconds(600));
    let fires: Vec<_> = (0..200).map(|n| plan.fires_at(&format!("schedule {n}"), due)).collect();
    assert_eq!(fires[7], plan.fires_at("schedule 7", due));
    assert!(fires.iter().all(|at| (due..due + TimeDelta::minutes(10)).contains(at)));
    let late = fires.iter().filter(|at| **at > due + TimeDelta::minutes(5)).count();
    assert!((60..140).contains(&late), "{late} of 200 in the second half");
    // What was told to somebody yesterday holds in every version.
    assert_eq!(plan.fires_at("schedule 7", due), utc("2026-11-23T07:01:55.626Z"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn jitter_keeps_the_order(text in expressions(), schedule in "[a-z]{1,8}", jitter in 1_u64..100_000) {
        let mut plan = plan(&text);
        plan.limits.jitter = Some(Span::seconds(jitter));
        let mut due = utc("2026-03-28T15:30:00Z");
        let mut before = due;
        for _ in 0..20 {
            due = plan.next_after(due).unwrap();
            let fires = plan.fires_at(&schedule, due);
            prop_assert!(fires >= due && fires > before, "{} after {}", fires, before);
            before = fires;
        }
    }

    #[test]
    fn active_hours_leave_what_lies_in_them(
        text in expressions(),
        change in prop::sample::select(&CHANGES[..]),
        from in 0_u32..24,
        to in 0_u32..24,
    ) {
        prop_assume!(from != to);
        let place = place(change);
        let mut plan = Plan::of(Expression::Cron(text.parse().unwrap()), place.zone);
        let active: ActiveHours = format!("{from}:30-{to}:30").parse().unwrap();
        plan.limits.active = Some(active);
        let after = place.noon - TimeDelta::hours(20);
        let until = place.noon + TimeDelta::hours(20);
        let times = std::iter::successors(plan.next_after(after), |at| plan.next_after(*at));
        let times: Vec<_> = times.take_while(|at| *at <= until).collect();
        let mut expected = Model::of(&text).firings(place.zone, after, until);
        expected.retain(|at| active.has(place.zone.local(*at).time()));
        prop_assert_eq!(times, expected, "{} {} {}", text, change, active);
    }
}
