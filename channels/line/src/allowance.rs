//! How many pushes one chat gets in a day: whoever makes the bot talk much does not use up the month for all.

use std::sync::{Mutex, MutexGuard};

use chrono::NaiveDate;

use crate::bounded::BoundedMap;
use selkie_channel_core::locked;

/// Chats that are remembered.
const MANY: usize = 10_000;

/// Counts pushes by chat. A restart begins anew.
pub struct Allowance {
    /// 0 lifts it.
    most: u32,
    taken: Mutex<BoundedMap<(NaiveDate, u32)>>,
}

impl Allowance {
    /// Allows so many a day.
    pub fn new(most: u32) -> Self {
        Self { most, taken: Mutex::new(BoundedMap::new(MANY)) }
    }

    /// Says why a chat gets no more today; nothing while it may.
    pub fn objection(&self, chat: &str, today: NaiveDate) -> Option<String> {
        let before = self.count(chat, today);
        (self.most > 0 && before >= self.most).then(|| {
            format!(
                "this chat has had its {before} pushes of today (line.max_pushes_per_day); replies are still free"
            )
        })
    }

    /// Counts one that LINE has taken: what did not arrive costs nothing and is tried again.
    pub fn took(&self, chat: &str, today: NaiveDate) {
        let count = self.count(chat, today).saturating_add(1);
        self.taken().put(chat, (today, count));
    }

    fn count(&self, chat: &str, today: NaiveDate) -> u32 {
        self.taken().get(chat).filter(|(day, _)| *day == today).map_or(0, |(_, count)| *count)
    }

    fn taken(&self) -> MutexGuard<'_, BoundedMap<(NaiveDate, u32)>> {
        locked(&self.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chat_has_its_own_and_every_day_begins_anew() {
        let [today, tomorrow] = [1, 2].map(|day| NaiveDate::from_ymd_opt(2026, 11, day).unwrap());
        let allowance = Allowance::new(2);
        let may = |chat, day| allowance.objection(chat, day).is_none();
        for _ in 0..9 {
            assert!(may("a", today), "what LINE did not take is not counted");
        }
        allowance.took("a", today);
        assert!(may("a", today));
        allowance.took("a", today);
        assert!(!may("a", today));
        assert!(may("b", today) && may("a", tomorrow));
        let lifted = Allowance::new(0);
        (0..100).for_each(|_| lifted.took("a", today));
        assert_eq!(lifted.objection("a", today), None);
    }
}
