//! Moments and lengths of time that no calendar ends.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use selkie_domain::span::Span;

/// Returns the moment `span` after `now`; the far future when the calendar ends before.
pub fn after(now: DateTime<Utc>, span: Span) -> DateTime<Utc> {
    TimeDelta::from_std(span.0)
        .ok()
        .and_then(|d| now.checked_add_signed(d))
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// Returns how long it is from `now` to `at`; zero when that is past.
pub fn until(at: DateTime<Utc>, now: DateTime<Utc>) -> Duration {
    (at - now).to_std().unwrap_or(Duration::ZERO)
}
