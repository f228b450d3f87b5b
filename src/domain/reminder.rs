//! A reminder that was said: how its buttons name it, and what its person has made of it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ids::ScheduleId;

/// One reminder that was said: a time of its schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReminderId {
    /// The schedule.
    pub schedule: ScheduleId,
    /// The time.
    pub at: DateTime<Utc>,
}

/// What its person has made of a reminder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "settled", rename_all = "snake_case")]
pub enum ReminderState {
    /// It is done.
    Done,
    /// It is said again.
    Again {
        /// When.
        at: DateTime<Utc>,
    },
}

impl ReminderId {
    /// Names it on a button: letters and digits alone.
    pub fn key(self) -> String {
        format!("r{:x}t{:x}", self.schedule.0, self.at.timestamp_millis())
    }

    /// Reads the name on a button; `None` for a button of another kind.
    pub fn parse(key: &str) -> Option<Self> {
        let (schedule, at) = key.strip_prefix('r')?.split_once('t')?;
        let number = |text: &str| i64::from_str_radix(text, 16).ok().filter(|number| *number >= 0);
        let at = DateTime::from_timestamp_millis(number(at)?)?;
        let id = Self { schedule: ScheduleId(number(schedule)?), at };
        // One reminder has one name: no sign, no zeros before it.
        (id.key() == key).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_names_one_reminder() {
        let at = DateTime::from_timestamp_millis(1_800_000_000_250).unwrap();
        let id = ReminderId { schedule: ScheduleId(17), at };
        assert_eq!(id.key(), "r11t1a3185c50fa");
        assert_eq!(ReminderId::parse(&id.key()), Some(id));
        let long = ReminderId { schedule: ScheduleId(0xfff_ffff_ffff), ..id };
        assert!(long.key().len() <= 24, "{}", long.key());
        for other in [
            "",
            "r",
            "rt",
            "r1",
            "r1t",
            "r01t1",
            "r+1t1",
            "r-1t1",
            "h1t1",
            "r1tffffffffffffffff",
            "R1t1",
        ] {
            assert_eq!(ReminderId::parse(other), None, "{other}");
        }
    }
}
