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
pub(crate) struct Hints(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    told: HashSet<String>,
    accounts: HashMap<AccountId, Hinted>,
}

struct Hinted {
    minute: Window,
    left_out: Seldom,
}

impl Hints {
    /// Whether somebody in this place gets a hint now. Who gets none because many knock may get one later.
    pub(crate) fn may(&self, place: &PlaceId, now: DateTime<Utc>) -> bool {
        let mut inner = locked(&self.0);
        if inner.told.contains(&place.full()) || !inner.has_room(place, now) {
            return false;
        }
        if inner.told.len() >= MANY {
            inner.told.clear();
        }
        inner.told.insert(place.full())
    }

    /// Whether somebody who asks gets words again now.
    pub(crate) fn may_again(&self, place: &PlaceId, now: DateTime<Utc>) -> bool {
        locked(&self.0).has_room(place, now)
    }
}

impl Inner {
    /// Takes one of the account's hints of this minute.
    fn has_room(&mut self, place: &PlaceId, now: DateTime<Utc>) -> bool {
        let accounts = &mut self.accounts;
        let account = accounts.entry(place.account().clone()).or_insert_with(|| Hinted {
            minute: Window::new(A_MINUTE, TimeDelta::minutes(1)),
            left_out: Seldom::default(),
        });
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
        account.minute.took(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::flow::testing::account;

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
