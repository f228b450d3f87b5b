//! Says when an account may speak: by its pace and by what the platform asked it to wait. Pure.

use std::collections::{HashMap, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::{Audience, Pace};

/// The scope of a penalty that holds for the whole account.
pub const ACCOUNT: &str = "account";
/// No penalty is believed for longer: the platform may have meant less, or be mended before, and a stored one may come
/// from before a jump of the clock. Who asks again so seldom is no burden.
pub const MAX_PENALTY: TimeDelta = TimeDelta::minutes(15);
/// Places remembered before the quiet ones are forgotten.
const MANY_PLACES: usize = 1024;

/// When one account may speak.
pub struct RateLimiter {
    pace: Pace,
    account: Option<Window>,
    places: HashMap<String, Window>,
    penalties: HashMap<String, DateTime<Utc>>,
}

/// When a call may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Now.
    Now,
    /// This place must wait; others need not.
    PlaceAt(DateTime<Utc>),
    /// The whole account must wait.
    AccountAt(DateTime<Utc>),
}

impl RateLimiter {
    /// Starts with what the platform asked before the start.
    pub fn new(pace: Pace) -> Self {
        let account = pace.per_account_second.map(|most| Window::new(most.get(), SECOND));
        Self { pace, account, places: HashMap::new(), penalties: HashMap::new() }
    }

    /// Says when `place` may be spoken to.
    pub fn leave(&self, place: &str, now: DateTime<Utc>) -> Leave {
        let penalty =
            |scope: &str| self.penalties.get(scope).map(|until| (*until).min(now + MAX_PENALTY));
        let window = self.account.as_ref().and_then(|w| w.free_at(now));
        if let Some(at) = later(penalty(ACCOUNT), window).filter(|at| *at > now) {
            return Leave::AccountAt(at);
        }
        let window = self.places.get(place).and_then(|w| w.free_at(now));
        match later(penalty(place), window).filter(|at| *at > now) {
            Some(at) => Leave::PlaceAt(at),
            None => Leave::Now,
        }
    }

    /// Counts a call.
    pub fn took(&mut self, place: &str, audience: Audience, now: DateTime<Utc>) {
        if let Some(window) = &mut self.account {
            window.took(now);
        }
        let Some(fresh) = self.window_for(audience) else { return };
        if self.places.len() >= MANY_PLACES {
            self.places.retain(|_, w| w.free_at(now).is_some_and(|at| at > now));
        }
        match self.places.get_mut(place) {
            Some(window) => window.took(now),
            None => self.places.entry(place.to_owned()).or_insert(fresh).took(now),
        }
    }

    /// Whether at least half of what the platform takes is left for speech.
    pub fn has_room(&self, place: &str, now: DateTime<Utc>) -> bool {
        let half = |window: &Window| window.used(now) * 2 < window.most.max(2);
        self.account.as_ref().is_none_or(half) && self.places.get(place).is_none_or(half)
    }

    /// Counts a call that is no speech: a direct conversation's next answer does not wait for it, the
    /// platform takes a short burst there.
    pub fn took_beside(&mut self, place: &str, audience: Audience, now: DateTime<Utc>) {
        match (audience, &mut self.account) {
            (Audience::Group, _) => self.took(place, audience, now),
            (Audience::Direct, Some(window)) => window.took(now),
            (Audience::Direct, None) => {}
        }
    }

    /// Holds a place, or the [`ACCOUNT`], back until `until`.
    pub fn punish(&mut self, scope: &str, until: DateTime<Utc>, now: DateTime<Utc>) {
        self.penalties.retain(|_, at| *at > now);
        let until = until.min(now + MAX_PENALTY);
        let known = self.penalties.entry(scope.to_owned()).or_insert(until);
        *known = until.max(*known);
    }

    /// Holds the account back no more: what was refused to it by another token may be taken now.
    pub fn forgive(&mut self) {
        self.penalties.remove(ACCOUNT);
    }

    /// Whether nothing but the platform's answers limits this account.
    pub fn is_lifted(&self) -> bool {
        self.pace == Pace::LIFTED
    }

    fn window_for(&self, audience: Audience) -> Option<Window> {
        match audience {
            Audience::Direct => {
                let span = TimeDelta::from_std(self.pace.per_direct).ok()?;
                (span > TimeDelta::zero()).then(|| Window::new(1, span))
            }
            Audience::Group => {
                self.pace.per_group_minute.map(|most| Window::new(most.get(), MINUTE))
            }
        }
    }
}

const SECOND: TimeDelta = TimeDelta::seconds(1);
const MINUTE: TimeDelta = TimeDelta::minutes(1);

fn later(a: Option<DateTime<Utc>>, b: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
    a.max(b)
}

/// At most `most` calls in any `span`.
pub struct Window {
    most: usize,
    span: TimeDelta,
    log: VecDeque<DateTime<Utc>>,
}

impl Window {
    pub(crate) fn new(most: u32, span: TimeDelta) -> Self {
        Self { most: most as usize, span, log: VecDeque::new() }
    }

    /// When the next call fits; never further than one span from now, whatever the clock did.
    pub fn free_at(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        if self.log.len() < self.most {
            return None;
        }
        self.log.front().map(|oldest| (*oldest + self.span).min(now + self.span))
    }

    /// How many calls of the last span are known.
    fn used(&self, now: DateTime<Utc>) -> usize {
        self.log.iter().filter(|at| **at + self.span > now).count()
    }

    pub(crate) fn took(&mut self, now: DateTime<Utc>) {
        if self.log.len() >= self.most {
            self.log.pop_front();
        }
        self.log.push_back(now);
    }

    /// The newest call was not made.
    pub fn give_back(&mut self) {
        self.log.pop_back();
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn at(millis: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(1_700_000_000_000 + millis).unwrap()
    }

    fn pace() -> Pace {
        Pace {
            per_direct: Duration::from_millis(1000),
            per_group_minute: NonZeroU32::new(20),
            per_account_second: NonZeroU32::new(30),
        }
    }

    #[test]
    fn a_penalty_holds_its_place_alone_and_the_accounts_holds_all() {
        let mut limiter = RateLimiter::new(Pace::LIFTED);
        limiter.punish("a", at(5_000), at(0));
        limiter.punish("a", at(2_000), at(0));
        assert_eq!(limiter.leave("a", at(1)), Leave::PlaceAt(at(5_000)));
        assert_eq!(limiter.leave("b", at(1)), Leave::Now);
        limiter.punish(ACCOUNT, at(3_000), at(0));
        assert_eq!(limiter.leave("b", at(1)), Leave::AccountAt(at(3_000)));
        assert_eq!(limiter.leave("a", at(5_000)), Leave::Now);
    }

    #[test]
    fn no_penalty_outlives_its_bound_and_no_pace_a_jump_back() {
        let mut limiter = RateLimiter::new(pace());
        limiter.punish("a", at(0) + TimeDelta::days(400), at(0));
        assert_eq!(limiter.leave("a", at(0)), Leave::PlaceAt(at(0) + MAX_PENALTY));
        limiter.took("b", Audience::Direct, at(3_600_000));
        assert_eq!(limiter.leave("b", at(0)), Leave::PlaceAt(at(1_000)));
    }

    #[test]
    fn progress_leaves_half_of_everything_and_delays_nobody() {
        let mut limiter = RateLimiter::new(pace());
        limiter.took_beside("d", Audience::Direct, at(0));
        assert_eq!(limiter.leave("d", at(0)), Leave::Now);
        for n in 0..10 {
            assert!(limiter.has_room("g", at(n)), "{n}");
            limiter.took_beside("g", Audience::Group, at(n));
        }
        assert!(!limiter.has_room("g", at(20)));
        assert_eq!(limiter.leave("g", at(20)), Leave::Now);
        assert!(limiter.has_room("g", at(60_009)));
        (0..5).for_each(|n| limiter.took("g", Audience::Group, at(60_000 + n)));
        (0..15).for_each(|n| limiter.took_beside("d", Audience::Direct, at(60_000 + n)));
        assert!(!limiter.has_room("d", at(60_020)), "the whole account is half used");
    }

    proptest! {
        #[test]
        fn no_window_ever_holds_more_than_its_pace(
            calls in prop::collection::vec((0i64..400, 0usize..4), 1..400)
        ) {
            let places = [("d1", Audience::Direct), ("d2", Audience::Direct),
                          ("g1", Audience::Group), ("g2", Audience::Group)];
            let mut limiter = RateLimiter::new(pace());
            let mut made: Vec<(DateTime<Utc>, usize)> = Vec::new();
            let mut now = at(0);
            for (gap, place) in calls {
                now += TimeDelta::milliseconds(gap);
                let (key, audience) = places[place];
                while let Leave::PlaceAt(t) | Leave::AccountAt(t) = limiter.leave(key, now) {
                    prop_assert!(t > now && t <= now + MINUTE);
                    now = t;
                }
                limiter.took(key, audience, now);
                made.push((now, place));
            }
            let within = |span: TimeDelta, end: DateTime<Utc>, of: &dyn Fn(usize) -> bool| {
                made.iter().filter(|(t, p)| *t <= end && *t > end - span && of(*p)).count()
            };
            for (end, place) in &made {
                prop_assert!(within(SECOND, *end, &|_| true) <= 30);
                let most = if *place < 2 { 1 } else { 20 };
                let span = if *place < 2 { SECOND } else { MINUTE };
                prop_assert!(within(span, *end, &|p| p == *place) <= most);
            }
        }
    }
}
