//! Hints to people the bot does not listen to: one in each place, and so few a minute that a crowd delays nobody.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::locked;
use selkie_channel_core::{AccountId, PlaceId, Seldom};

use crate::delivery::rate_limiter::Window;

/// Hints of one account in a minute.
const A_MINUTE: u32 = 20;
/// Places remembered in memory before the ledger is asked again.
const MANY: usize = 10_000;

/// What was hinted lately.
#[derive(Default)]
pub struct Hints(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    told: HashSet<String>,
    accounts: HashMap<AccountId, HintLog>,
}

struct HintLog {
    minute: Window,
    left_out: Seldom,
}

impl Hints {
    /// Whether somebody in this place gets a hint now. Who gets none because many knock may get one later.
    pub fn may(&self, place: &PlaceId, now: DateTime<Utc>) -> bool {
        let mut inner = locked(&self.0);
        if inner.told.contains(&place.full()) || !inner.has_room(place, now) {
            return false;
        }
        inner.take(place, now);
        if inner.told.len() >= MANY {
            inner.told.clear();
        }
        inner.told.insert(place.full())
    }

    /// Whether somebody in this place got their hint, as far as is remembered here.
    pub fn has_told(&self, place: &PlaceId) -> bool {
        locked(&self.0).told.contains(&place.full())
    }

    /// Whether somebody who asks gets words again now, if `is_theirs_to_have`: asked for only where there is room, so that a
    /// crowd uses up nobody else's tries.
    pub fn may_again(
        &self,
        place: &PlaceId,
        now: DateTime<Utc>,
        is_theirs_to_have: impl FnOnce() -> bool,
    ) -> bool {
        let mut inner = locked(&self.0);
        if !inner.has_room(place, now) || !is_theirs_to_have() {
            return false;
        }
        inner.take(place, now);
        true
    }

    /// There was nothing to say: the room is somebody else's.
    pub fn give_back(&self, place: &PlaceId) {
        let mut inner = locked(&self.0);
        inner.account(place).minute.give_back();
    }

    /// Whether anybody had their hint is not known after all.
    pub fn forget_all(&self) {
        locked(&self.0).told.clear();
    }

    /// Whether a place had its hint is not known after all.
    pub fn forget(&self, place: &PlaceId) {
        let mut inner = locked(&self.0);
        inner.told.remove(&place.full());
    }
}

impl Inner {
    /// Whether the account has one of its hints of this minute left.
    fn has_room(&mut self, place: &PlaceId, now: DateTime<Utc>) -> bool {
        let account = self.account(place);
        if account.minute.free_at(now).is_some_and(|at| at > now) {
            if let Some(count) = account.left_out.more(now) {
                tracing::warn!(
                    account = %place.account(),
                    count,
                    most = A_MINUTE,
                    "many who are not on the allow list write at once: they get no hint"
                );
            }
            return false;
        }
        true
    }

    fn take(&mut self, place: &PlaceId, now: DateTime<Utc>) {
        self.account(place).minute.took(now);
    }

    fn account(&mut self, place: &PlaceId) -> &mut HintLog {
        self.accounts.entry(place.account().clone()).or_insert_with(|| HintLog {
            minute: Window::new(A_MINUTE, TimeDelta::minutes(1)),
            left_out: Seldom::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::account;

    #[test]
    fn a_crowd_gets_a_few_hints_a_minute_and_the_rest_later() {
        let hints = Hints::default();
        let at = |seconds| DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let place = |n: usize| PlaceId::new(account(), format!("tg:{n}"));
        let told = |now| (0..100).filter(|n| hints.may(&place(*n), now)).count();
        assert_eq!([told(at(0)), told(at(1)), told(at(60))], [20, 0, 20]);
        let other = PlaceId::new(AccountId::new("ot:bot"), "ot:1");
        assert!(hints.may(&other, at(60)) && !hints.may(&other, at(600)), "one in each place");
    }
}
