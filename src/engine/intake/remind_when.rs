//! When somebody wants to be reminded, at the beginning of what they write behind `/remind`. Pure.

use chrono::{DateTime, Utc};

use selkie_schedule::expression::{Expression, ExpressionError, time_of_day};
use selkie_schedule::zone::Zone;

/// So many words may say when: `in 1 hour 30 minutes`.
const MAX_WORDS: usize = 5;

/// What says when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct When {
    /// As schedules take it.
    pub written: String,
    /// So many words say it; what is wanted stands behind them.
    pub words: usize,
}

/// Why it says no time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTime {
    /// It comes again and again: a reminder comes once.
    Again,
    /// It is meant for a time and is none, and why.
    Wrong(String),
    /// Nothing of it says when.
    Missing,
}

/// Reads when: the most words that say a time.
pub fn read(words: &[&str], zone: Zone, now: DateTime<Utc>) -> Result<When, NoTime> {
    let first = words.first().ok_or(NoTime::Missing)?.to_ascii_lowercase();
    if comes_again(&first) {
        return Err(NoTime::Again);
    }
    if !says_when(&first) {
        return Err(NoTime::Missing);
    }
    let mut why = None;
    for count in (1..=words.len().min(MAX_WORDS)).rev() {
        let written = written(&first, &words[..count]);
        match Expression::written(&written, zone, now) {
            Ok(Expression::Once(_)) => return Ok(When { written, words: count }),
            Ok(_) => return Err(NoTime::Again),
            // A time that can be read and is not taken says more than words that are none.
            Err(error @ (ExpressionError::Past(_) | ExpressionError::Ahead(_))) => {
                return Err(NoTime::Wrong(error.to_string()));
            }
            // Of the others the one about the fewest words names what is meant for a time.
            Err(error) if count > 1 || words.len() == 1 => why = Some(error.to_string()),
            Err(_) => {}
        }
    }
    Err(why.map_or(NoTime::Missing, NoTime::Wrong))
}

/// The same as schedules take it: `at` may be left out before a day or a time.
fn written(first: &str, words: &[&str]) -> String {
    let text = words.join(" ");
    if first == "in" || first == "at" { text } else { format!("at {text}") }
}

fn says_when(first: &str) -> bool {
    let is_day =
        || first.len() >= 10 && first.get(..4).is_some_and(|year| year.parse::<u16>().is_ok());
    ["in", "at", "tomorrow"].contains(&first) || time_of_day(first).is_some() || is_day()
}

fn comes_again(first: &str) -> bool {
    let begins = first.starts_with(['@', '*']);
    begins || ["every", "each", "daily", "hourly", "weekly", "monthly"].contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_in_berlin(text: &str) -> Result<When, NoTime> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let zone = Zone::named("Europe/Berlin").unwrap();
        read(&words, zone, "2026-11-22T15:00:00Z".parse().unwrap())
    }

    #[test]
    fn what_people_write_is_taken() {
        for (text, written) in [
            ("in 20m tea", "in 20m"),
            ("in 20 minutes tea", "in 20 minutes"),
            ("In 1 hour 30 minutes tea", "In 1 hour 30 minutes"),
            ("at 18:30 go home", "at 18:30"),
            ("18:30 go home", "at 18:30"),
            ("tomorrow 08:00 tea", "at tomorrow 08:00"),
            ("tomorrow at 8:00 tea", "at tomorrow at 8:00"),
            ("at 2026-12-24 18:00 tea", "at 2026-12-24 18:00"),
            ("2026-12-24 18:00 tea", "at 2026-12-24 18:00"),
            ("2026-12-24T18:00:00Z tea", "at 2026-12-24T18:00:00Z"),
        ] {
            let words = written.trim_start_matches("at ").split(' ').count();
            let words = if text.to_lowercase().starts_with("at ") { words + 1 } else { words };
            let when = When { written: written.to_owned(), words };
            assert_eq!(read_in_berlin(text), Ok(when), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_says_what_is_taken() {
        let wrong = |text: &str| match read_in_berlin(text) {
            Err(NoTime::Wrong(why)) => why,
            other => panic!("{text}: {other:?}"),
        };
        assert!(wrong("at 8 tea").starts_with("\"8\" is not a time (takes 08:00, tomorrow 08:00"));
        assert!(wrong("tomorrow morning tea").starts_with("\"tomorrow morning\" is not a time"));
        assert!(wrong("in twenty minutes tea").starts_with("\"twenty\" is not a length of time"));
        assert!(wrong("in").contains("takes 90s, 10m"), "{}", wrong("in"));
        assert!(wrong("at 2020-12-24 18:00 tea").contains("in the past"));
        assert!(wrong("in 400d tea").contains("one second to one year"));
        for text in ["every day at 8 tea", "daily 08:00 tea", "@daily tea"] {
            assert_eq!(read_in_berlin(text), Err(NoTime::Again), "{text}");
        }
        for text in ["", "call mum", "20 minutes tea"] {
            assert_eq!(read_in_berlin(text), Err(NoTime::Missing), "{text}");
        }
    }
}
