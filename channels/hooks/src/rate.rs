//! How often one hook may be called: sixty times in any minute.

use std::collections::VecDeque;
use std::sync::Mutex;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::locked;

/// Calls in a minute.
const MAX: usize = 60;
const WINDOW: TimeDelta = TimeDelta::minutes(1);

/// The calls of the last minute.
#[derive(Debug, Default)]
pub struct Rate(Mutex<VecDeque<DateTime<Utc>>>);

impl Rate {
    /// Counts a call.
    ///
    /// # Errors
    /// In how many seconds there is room for one: it is one too many now.
    pub fn take(&self, now: DateTime<Utc>) -> Result<(), i64> {
        let mut calls = locked(&self.0);
        // A clock that was set back makes nobody wait for it.
        calls.retain(|at| (now - *at).abs() < WINDOW);
        if calls.len() < MAX {
            calls.push_back(now);
            return Ok(());
        }
        let room = calls.front().map_or(now, |oldest| *oldest + WINDOW);
        Err((room - now).num_seconds().clamp(0, 59) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_in_a_minute_and_then_one_by_one() {
        let rate = Rate::default();
        let at = |seconds| DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        (0..60).for_each(|second| rate.take(at(100 + second / 2)).unwrap());
        assert_eq!(rate.take(at(130)), Err(31));
        assert_eq!(rate.take(at(159)), Err(2));
        assert_eq!(rate.take(at(160)), Ok(()), "the first two have gone");
        assert_eq!(rate.take(at(160)), Ok(()));
        assert_eq!(rate.take(at(160)), Err(2));
        assert_eq!(rate.take(at(0)), Ok(()), "the clock was set back");
    }
}
