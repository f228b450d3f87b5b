//! What would be logged again and again: one line a minute, with how often it happened.

use crate::lock::locked;
use std::sync::Mutex;

use chrono::{DateTime, TimeDelta, Utc};

/// Between two lines.
const PAUSE: TimeDelta = TimeDelta::minutes(1);

/// Counts what happens between two lines.
#[derive(Debug, Default)]
pub struct Seldom(Mutex<(Option<DateTime<Utc>>, u64)>);

impl Seldom {
    /// Counts one more. Returns how many there were since the last line when it is time for the next.
    pub fn more(&self, now: DateTime<Utc>) -> Option<u64> {
        let mut state = locked(&self.0);
        let (told, count) = &mut *state;
        *count += 1;
        // A clock that was set back makes nobody wait for it.
        if told.is_some_and(|at| (now - at).abs() < PAUSE) {
            return None;
        }
        *told = Some(now);
        Some(std::mem::take(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_a_minute_says_how_many_there_were() {
        let seldom = Seldom::default();
        let at = |seconds| DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        assert_eq!(seldom.more(at(100)), Some(1));
        assert_eq!([101, 120, 159].map(|s| seldom.more(at(s))), [None; 3]);
        assert_eq!(seldom.more(at(160)), Some(4));
        assert_eq!(seldom.more(at(10)), Some(1), "the clock was set back");
    }
}
