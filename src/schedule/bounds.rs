//! How far the bounds of a schedule may go. Pure.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::count::upcoming;
use super::expression::Expression;
use super::plan::Plan;
use selkie_domain::schedule::Terms;
use selkie_domain::span::Span;

/// The longest jitter.
const MAX_JITTER: Duration = Duration::from_secs(86_400);
/// The greatest lateness.
const MAX_LATENESS: Duration = Duration::from_secs(31 * 86_400);
/// So many of the next times tell how far apart they are.
const LOOKED_AT: usize = 9;

/// Whether terms can be kept, for times by this plan.
///
/// # Errors
/// In words: which of them cannot, and what it takes.
pub fn check(terms: &Terms, plan: &Plan, now: DateTime<Utc>) -> Result<(), String> {
    let Terms { jitter, lateness, times, .. } = terms;
    match (times, &plan.expression) {
        (Some(0), _) => return Err("0 times is not taken: it takes 1 or more".to_owned()),
        (Some(more @ 2..), Expression::Once(_)) => {
            return Err(format!(
                "{more} times is not taken for one time: it takes an interval or a crontab expression"
            ));
        }
        _ => {}
    }
    if lateness.0 > MAX_LATENESS {
        return Err(format!("a lateness of {lateness} is too long (takes up to 31d)"));
    }
    if jitter.0 > MAX_JITTER {
        return Err(format!("a jitter of {jitter} is too long (takes up to 1d)"));
    }
    match apart(plan, now) {
        Some(apart) if !jitter.0.is_zero() && apart <= jitter.0 => Err(format!(
            "a jitter of {jitter} is too long for times that come {} after each other (takes less than that)",
            Span(apart)
        )),
        _ => Ok(()),
    }
}

/// The shortest way from one of the next times to the one behind it.
fn apart(plan: &Plan, now: DateTime<Utc>) -> Option<Duration> {
    let times = upcoming(plan, now, 0, LOOKED_AT);
    let ways = times.windows(2).map(|pair| pair[1] - pair[0]);
    ways.min().and_then(|way: TimeDelta| way.to_std().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::Zone;

    #[test]
    fn bounds_end_somewhere() {
        let now = "2026-11-22T07:00:00Z".parse().unwrap();
        let checked = |when: &str, jitter: u64, lateness: u64| {
            let plan = Plan::of(Expression::written(when, Zone::UTC, now).unwrap(), Zone::UTC);
            let (jitter, lateness) = (Span::seconds(jitter), Span::seconds(lateness));
            check(&Terms { jitter, lateness, ..Terms::default() }, &plan, now)
        };
        let day = 86_400;
        assert_eq!(checked("0 8 * * *", day - 1, 31 * day), Ok(()));
        assert_eq!(checked("in 20m", day, 0), Ok(()), "once: nothing comes behind it");
        for (when, jitter, lateness, says) in [
            ("0 8 * * *", 0, 31 * day + 1, "takes up to 31d"),
            ("in 20m", day + 1, 0, "takes up to 1d"),
            ("0 8 * * *", day, 0, "come 1d after each other"),
            ("every 10m", 600, 0, "come 10m after each other"),
        ] {
            let why = checked(when, jitter, lateness).unwrap_err();
            assert!(why.contains(says), "{when}: {why}");
        }
        let once = Plan::of(Expression::written("in 20m", Zone::UTC, now).unwrap(), Zone::UTC);
        let of = |times| Terms { times, ..Terms::default() };
        assert_eq!(check(&of(Some(1)), &once, now), Ok(()));
        let why = check(&of(Some(3)), &once, now).unwrap_err();
        assert!(why.starts_with("3 times is not taken for one time"), "{why}");
        let never = Terms { times: Some(0), ..Terms::default() };
        let daily = Expression::written("@daily", Zone::UTC, now).unwrap();
        let why = check(&never, &Plan::of(daily, Zone::UTC), now).unwrap_err();
        assert!(why.contains("takes 1 or more"), "{why}");
    }
}
