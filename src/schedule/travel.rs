//! Where a person wants a demo's clock to go, as they write it.

use chrono::{DateTime, TimeDelta, Utc};

use super::expression::{Expression, ExpressionError};
use super::foreign_words::shown;
use super::zone::Zone;

/// How far the clock is moved at most.
const FARTHEST: TimeDelta = TimeDelta::days(366);

/// What is taken, for those who wrote something else.
pub const TAKES: &str = "takes +1d, +90m, 08:00, tomorrow 08:00, or 2026-12-24 18:00";

/// Reads where the clock is to go from `now`.
///
/// # Errors
/// In words: it is no time, it is past, or too far.
pub fn destination(written: &str, zone: Zone, now: DateTime<Utc>) -> Result<DateTime<Utc>, String> {
    let text = written.trim();
    let when = match text.strip_prefix('+') {
        Some(span) => format!("in {span}"),
        None => format!("at {text}"),
    };
    match Expression::written(&when, zone, now) {
        Ok(Expression::Once(at)) if at - now <= FARTHEST => Ok(at),
        Ok(Expression::Once(_)) => Err(refused(text, "it can be moved by up to 366 days")),
        Ok(_) => Err(refused(text, &format!("it {TAKES}"))),
        Err(ExpressionError::Past(_)) => Err(refused(text, "that is in the past")),
        Err(ExpressionError::Ahead(_)) => Err(refused(text, "it can be moved by up to 366 days")),
        Err(_) => Err(refused(text, &format!("it {TAKES}"))),
    }
}

fn refused(text: &str, why: &str) -> String {
    format!("the clock cannot go to {:?}: {why}", shown(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_read_in_the_zone() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let now = "2026-11-22T15:00:00Z".parse().unwrap();
        for (written, goes) in [
            ("+1d", "2026-11-23T15:00:00Z"),
            (" +90m ", "2026-11-22T16:30:00Z"),
            ("08:00", "2026-11-23T07:00:00Z"),
            ("18:00", "2026-11-22T17:00:00Z"),
            ("tomorrow 18:00", "2026-11-23T17:00:00Z"),
            ("2026-12-24 18:00", "2026-12-24T17:00:00Z"),
            ("2026-12-24T18:00:00Z", "2026-12-24T18:00:00Z"),
        ] {
            assert_eq!(destination(written, zone, now), Ok(goes.parse().unwrap()), "{written}");
        }
    }

    #[test]
    fn what_is_no_destination_says_what_is_taken() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let now = "2026-11-22T15:00:00Z".parse().unwrap();
        for (written, says) in [
            ("soon", "+1d"),
            ("-1d", "+1d"),
            ("", "+1d"),
            ("+400d", "366 days"),
            ("2026-11-22 10:00", "past"),
            ("2030-01-01 10:00", "366 days"),
            ("tomorrow noon", "+1d"),
        ] {
            let said = destination(written, zone, now).unwrap_err();
            assert!(said.contains(says), "{written}: {said}");
        }
        assert!(destination(&"x".repeat(100_000), zone, now).unwrap_err().len() < 500);
    }
}
