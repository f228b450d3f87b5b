//! Whether the wall clock can be believed: one that leaps against the machine's own count of time is not, for a while.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// A leap by more than this is told and distrusted.
pub const LEAP: TimeDelta = TimeDelta::hours(1);
/// For so long.
const WAIT: Duration = Duration::from_secs(60);

/// What both clocks show at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Both {
    /// The time of day.
    pub wall: DateTime<Utc>,
    /// How long the machine has been running, its sleep included.
    pub running: Duration,
}

/// What was seen of the clocks. Pure.
#[derive(Debug, Default)]
pub struct Jumps {
    before: Option<Both>,
    distrusted: Option<Duration>,
}

/// What a look at the clocks comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// They agree.
    Fine,
    /// The time of day has just leapt so far, forward or (negative) back.
    Leapt(TimeDelta),
    /// It leapt a while ago: it is waited so long.
    Waits(Duration),
}

impl Jumps {
    /// Looks at both clocks.
    pub fn look(&mut self, now: Both) -> Look {
        let leap = self.before.replace(now).map_or(TimeDelta::zero(), |before| leap(before, now));
        if leap.abs() > LEAP {
            self.distrusted = Some(now.running.saturating_add(WAIT));
            return Look::Leapt(leap);
        }
        match self.distrusted {
            Some(until) if now.running < until => Look::Waits(until - now.running),
            _ => {
                self.distrusted = None;
                Look::Fine
            }
        }
    }
}

/// Whether the clock has leapt between two looks at both.
pub fn have_parted(before: Both, now: Both) -> bool {
    leap(before, now).abs() > LEAP
}

/// How much more the time of day has moved than the machine has run.
pub(super) fn leap(before: Both, now: Both) -> TimeDelta {
    let ran = now.running.saturating_sub(before.running);
    let ran = TimeDelta::from_std(ran).unwrap_or(TimeDelta::MAX);
    (now.wall - before.wall).checked_sub(&ran).unwrap_or(TimeDelta::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(wall: i64, running: u64) -> Both {
        let wall = DateTime::from_timestamp(1_800_000_000 + wall, 0).unwrap();
        Both { wall, running: Duration::from_secs(running) }
    }

    #[test]
    fn clocks_that_agree_are_fine_through_a_long_sleep() {
        let mut jumps = Jumps::default();
        for (wall, running) in [(0, 10), (60, 70), (90_000, 90_010), (90_500, 90_020)] {
            assert_eq!(jumps.look(both(wall, running)), Look::Fine);
        }
    }

    #[test]
    fn a_leap_is_told_once_and_waited_out() {
        for by in [2 * 86_400, -2 * 86_400] {
            let mut jumps = Jumps::default();
            assert_eq!(jumps.look(both(0, 10)), Look::Fine);
            let leapt = jumps.look(both(by + 1, 11));
            assert_eq!(leapt, Look::Leapt(TimeDelta::seconds(by)));
            assert_eq!(jumps.look(both(by + 31, 41)), Look::Waits(Duration::from_secs(30)));
            assert_eq!(jumps.look(both(by + 61, 71)), Look::Fine, "then it is believed");
        }
    }

    #[test]
    fn a_leap_back_to_the_truth_is_waited_out_anew() {
        let mut jumps = Jumps::default();
        jumps.look(both(0, 10));
        assert!(matches!(jumps.look(both(86_400, 20)), Look::Leapt(_)));
        assert!(matches!(jumps.look(both(30, 40)), Look::Leapt(_)));
        assert_eq!(jumps.look(both(90, 100)), Look::Fine);
    }
}
