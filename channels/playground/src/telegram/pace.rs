//! The platform's pace: one message a second per chat, 20 a minute per group, 30 a second per bot.

use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// Whether the platform's pace is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// As on the platform: too fast is refused with 429.
    #[default]
    Held,
    /// No limits, for tests of other things and for benchmarks.
    Lifted,
}

struct Limit {
    every: Duration,
    burst: u32,
}

const PER_CHAT: Limit = Limit { every: Duration::from_secs(1), burst: 3 };
const PER_GROUP: Limit = Limit { every: Duration::from_secs(3), burst: 20 };
const PER_BOT: Limit = Limit { every: Duration::from_nanos(33_333_333), burst: 30 };

/// When each bucket is empty again.
#[derive(Default)]
pub(crate) struct Pacer {
    bot: Option<Instant>,
    chats: HashMap<i64, Instant>,
    groups: HashMap<i64, Instant>,
}

impl Pacer {
    /// Counts a message or an edit; otherwise the seconds to wait.
    pub(crate) fn count(&mut self, chat: i64, is_group: bool, now: Instant) -> Result<(), u64> {
        let checks = [
            PER_BOT.next(self.bot, now),
            PER_CHAT.next(self.chats.get(&chat).copied(), now),
            if is_group { PER_GROUP.next(self.groups.get(&chat).copied(), now) } else { Ok(now) },
        ];
        let wait = checks.iter().filter_map(|check| check.err()).max();
        if let Some(wait) = wait {
            return Err(wait.as_secs() + u64::from(wait.subsec_nanos() > 0));
        }
        let [bot, chat_full, group] = checks.map(|check| check.unwrap_or(now));
        self.bot = Some(bot);
        self.chats.insert(chat, chat_full);
        if is_group {
            self.groups.insert(chat, group);
        }
        Ok(())
    }
}

impl Limit {
    /// When the bucket is empty again after one more, or how long to wait for room.
    fn next(&self, empty_at: Option<Instant>, now: Instant) -> Result<Instant, Duration> {
        let next = empty_at.unwrap_or(now).max(now) + self.every;
        let room = now + self.every * self.burst;
        if next > room { Err(next - room) } else { Ok(next) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chat_takes_a_small_burst_then_one_a_second() {
        let mut pacer = Pacer::default();
        let now = Instant::now();
        let taken = (0..4).map(|_| pacer.count(7, false, now)).collect::<Vec<_>>();
        assert_eq!(taken, [Ok(()), Ok(()), Ok(()), Err(1)]);
        assert_eq!(pacer.count(7, false, now + Duration::from_secs(1)), Ok(()));
        assert_eq!(pacer.count(8, false, now), Ok(()));
    }

    #[test]
    fn a_group_takes_twenty_a_minute() {
        let mut pacer = Pacer::default();
        let start = Instant::now();
        let refused = (0..60)
            .find(|second| pacer.count(-7, true, start + Duration::from_secs(*second)).is_err());
        assert_eq!(refused, Some(30), "a bucket of 20 that refills every third second");
    }

    #[test]
    fn a_bot_takes_thirty_a_second() {
        let mut pacer = Pacer::default();
        let now = Instant::now();
        let taken = (0..40).filter(|chat| pacer.count(*chat, false, now).is_ok()).count();
        assert_eq!(taken, 30);
    }
}
