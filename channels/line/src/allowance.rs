//! How many pushes one chat gets in a day: whoever makes the bot talk much does not use up the month for all.

use std::sync::{Mutex, PoisonError};

use chrono::NaiveDate;

use crate::bounded::Bounded;

/// Chats that are remembered.
const MANY: usize = 10_000;

/// Counts pushes by chat. A restart begins anew.
pub struct Allowance {
    /// 0 lifts it.
    most: u32,
    taken: Mutex<Bounded<(NaiveDate, u32)>>,
}

impl Allowance {
    /// Allows so many a day.
    pub fn new(most: u32) -> Self {
        Self { most, taken: Mutex::new(Bounded::new(MANY)) }
    }

    /// Takes one; says why there is none left.
    pub fn take(&self, chat: &str, today: NaiveDate) -> Result<(), String> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let before =
            taken.get(chat).filter(|(day, _)| *day == today).map_or(0, |(_, count)| *count);
        if self.most > 0 && before >= self.most {
            return Err(format!(
                "this chat has had its {before} pushes of today (line.max_pushes_per_day); replies are still free"
            ));
        }
        taken.put(chat, (today, before + 1));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chat_has_its_own_and_every_day_begins_anew() {
        let [today, tomorrow] = [1, 2].map(|day| NaiveDate::from_ymd_opt(2026, 11, day).unwrap());
        let allowance = Allowance::new(2);
        let take = |chat, day| allowance.take(chat, day).is_ok();
        assert_eq!([take("a", today), take("a", today), take("a", today)], [true, true, false]);
        assert!(take("b", today) && take("a", tomorrow));
        let lifted = Allowance::new(0);
        assert!((0..100).all(|_| lifted.take("a", today).is_ok()));
    }
}
