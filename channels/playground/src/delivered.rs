//! What a platform holds as delivered, and how much of it a long load lets it go on holding.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// One thing the bot said, as it stands in its chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredMessage {
    /// The chat, by the platform's id.
    pub place: String,
    /// The words.
    pub text: String,
}

/// What a chat goes on holding: the newest messages, and the young ones.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// How many of the newest, whatever their age.
    pub newest: usize,
    /// All that are no older.
    pub age: Duration,
}

impl Keep {
    /// How many of so many messages go, of which this iterator tells when they were posted, oldest first.
    pub(crate) fn gone(
        &self,
        now: DateTime<Utc>,
        held: usize,
        times: impl Iterator<Item = Option<DateTime<Utc>>>,
    ) -> usize {
        let most = held.saturating_sub(self.newest);
        let age = TimeDelta::from_std(self.age).unwrap_or(TimeDelta::MAX);
        times.take(most).take_while(|at| at.is_none_or(|at| now - at > age)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stay_and_what_is_young() {
        let at = |minutes: i64| Some(DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes));
        let now = DateTime::UNIX_EPOCH + TimeDelta::minutes(10);
        let gone = |newest, minutes: u64| {
            let keep = Keep { newest, age: Duration::from_secs(60 * minutes) };
            keep.gone(now, 4, [at(0), at(1), None, at(3)].into_iter())
        };
        assert_eq!([gone(0, 0), gone(1, 0), gone(9, 0)], [4, 3, 0]);
        assert_eq!([gone(0, 10), gone(0, 9), gone(0, 7)], [0, 1, 3]);
    }
}
