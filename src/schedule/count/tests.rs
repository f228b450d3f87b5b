use proptest::prelude::*;

use super::*;
use crate::model::{CHANGES, expressions, place};
use crate::zone::Zone;
use selkie_domain::span::Span;

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn plan(text: &str) -> Plan {
    let zone = Zone::named("Europe/Berlin").unwrap();
    let now = utc("2026-11-22T15:30:00Z");
    Plan::of(Expression::written(text, zone, now).unwrap(), zone)
}

#[test]
fn a_forecast_is_thirty_days() {
    let now = utc("2026-11-22T15:30:00Z");
    let forecast = |text, fired| forecast(&plan(text), now, fired);
    assert_eq!(forecast("* * * * *", 0), 43_200);
    assert_eq!(forecast("0 8 * * *", 0), 30);
    assert_eq!(forecast("every 10m", 0), 4_320);
    assert_eq!(forecast("in 20m", 0), 1);
    assert_eq!(forecast("in 40d", 0), 0);
    assert_eq!(forecast("0 0 29 2 *", 0), 0);
    let mut counted = plan("0 8 * * *");
    counted.limits.count = Some(5);
    assert_eq!(super::forecast(&counted, now, 2), 3);
    assert_eq!(upcoming(&counted, now, 2, 5).len(), 3);
    counted.limits.ends = Some(utc("2026-11-24T07:00:00Z"));
    assert_eq!(super::forecast(&counted, now, 0), 2);
}

#[test]
fn what_a_gap_moves_into_the_next_day_is_counted() {
    // The hour before midnight is left out: 23:30 on the 28th is midnight.
    let place = place("America/Nuuk 2026-03-28");
    let plan = Plan::of(Expression::Cron("30 23 * * *".parse().unwrap()), place.zone);
    let days = TimeDelta::days(3);
    assert_eq!(between(&plan, place.noon - days, place.noon + days), 6);
}

#[test]
fn a_century_is_counted_and_no_more() {
    let plan = plan("* * * * *");
    let count = between(&plan, utc("1970-01-01T00:00:00Z"), DateTime::<Utc>::MAX_UTC);
    assert!((36_500 * 1_440..36_700 * 1_440).contains(&count), "{count}");
    let until = utc("1970-01-02T00:00:00Z");
    between(&plan, DateTime::<Utc>::MIN_UTC, until);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_counted_is_what_comes_one_by_one(
        text in expressions(),
        every in prop::option::of(60_u64..100_000),
        change in prop::sample::select(&CHANGES[..]),
        hours in prop::option::of((0_u32..24, 0_u32..24)),
        begin in -5_i64 * 86_400_000..1_000_000,
        length in 0_i64..8 * 86_400_000,
    ) {
        let place = place(change);
        let after = place.noon + TimeDelta::milliseconds(begin);
        let until = after + TimeDelta::milliseconds(length);
        let expression = match every {
            Some(seconds) => {
                let anchor = place.noon - TimeDelta::days(3);
                Expression::Every(Every::from_anchor(Span::seconds(seconds), anchor).unwrap())
            }
            None => Expression::Cron(text.parse().unwrap()),
        };
        let mut plan = Plan::of(expression, place.zone);
        let hours = hours.filter(|(from, to)| from != to);
        plan.limits.active = hours.map(|(from, to)| format!("{from}:30-{to}:30").parse().unwrap());
        let times = std::iter::successors(plan.next_after(after), |at| plan.next_after(*at));
        let times: Vec<_> = times.take_while(|at| *at <= until).collect();
        prop_assert_eq!(between(&plan, after, until), times.len() as u64, "{:?} {}", plan, change);
        prop_assert_eq!(last(&plan, after, until), times.last().copied());
    }
}
