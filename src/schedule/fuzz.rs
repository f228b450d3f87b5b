//! What nobody would write as a schedule, a zone, hours or a recurrence.

use chrono::{DateTime, Utc};

use super::count;
use super::expression::Expression;
use super::hours::ActiveHours;
use super::missed::{CatchUp, missed};
use super::plan::Plan;
use super::recurrence::Recurrence;
use super::words::words;
use super::zone::Zone;

#[test]
fn fuzz_schedules() {
    selkie_fuzz::text("schedule", |text| {
        let now: DateTime<Utc> = "2026-03-28T12:34:56.789Z".parse().unwrap();
        let zone = Zone::named(text).unwrap_or(Zone::UTC);
        drop(text.parse::<ActiveHours>());
        drop(Recurrence::Hourly.from(text, zone, now));
        drop(text.parse::<Expression>());
        let Ok(expression) = Expression::written(text, zone, now) else { return };
        assert_eq!(expression.to_string().parse(), Ok(expression.clone()));
        drop(words(&expression, zone));
        for at in [DateTime::<Utc>::MIN_UTC, now, DateTime::<Utc>::MAX_UTC] {
            let next = expression.next_after(zone, at);
            assert!(next.is_none_or(|next| next > at), "{text:?} gives {next:?}");
        }
        let plan = Plan::of(expression, zone);
        count::forecast(&plan, now, 0);
        missed(&plan, now - chrono::TimeDelta::days(400), now, CatchUp::default(), 0);
    });
}
