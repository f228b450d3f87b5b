//! The counters of use: read from the ledger once, added to in memory, written behind.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use selkie_domain::usage::UsageDelta;

/// What is added to a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// The counter, and how much is added: 0 only looks.
    pub(super) spent: UsageDelta,
    /// When the counted time ends.
    pub(super) until: DateTime<Utc>,
}

/// The counters.
pub(super) struct Counters {
    counters: BTreeMap<Key, Counter>,
    /// This process counts since then: what begins later is nowhere else.
    started: DateTime<Utc>,
    /// Counters whose time ended before are left to the ledger.
    left: DateTime<Utc>,
}

type Key = (DateTime<Utc>, &'static str, String);

struct Counter {
    until: DateTime<Utc>,
    amount: u64,
    unwritten: u64,
}

impl Counters {
    /// Knows nothing yet, and counts from `now` on.
    pub(super) fn new(now: DateTime<Utc>) -> Self {
        Self { counters: BTreeMap::new(), started: now, left: DateTime::<Utc>::MIN_UTC }
    }

    /// Lists what only the ledger may know: to be read, and learnt, before it is added to.
    pub(super) fn unknown(&self, uses: &[Use]) -> Vec<Use> {
        let is_unknown = |one: &&Use| {
            let elsewhere = one.spent.since < self.started || one.until <= self.left;
            elsewhere && !self.counters.contains_key(&key(&one.spent))
        };
        uses.iter().filter(is_unknown).cloned().collect()
    }

    /// Takes what the ledger holds of what was asked; what was counted meanwhile stays.
    pub(super) fn learn(&mut self, asked: &[Use], amounts: Vec<u64>) {
        for (one, amount) in asked.iter().zip(amounts) {
            let read = Counter { until: one.until, amount, unwritten: 0 };
            self.counters.entry(key(&one.spent)).or_insert(read);
        }
    }

    /// Adds, and returns what each counter has come to, in the same order.
    pub(super) fn add(&mut self, uses: &[Use]) -> Vec<u64> {
        let add = |one: &Use| {
            let fresh = || Counter { until: one.until, amount: 0, unwritten: 0 };
            let counter = self.counters.entry(key(&one.spent)).or_insert_with(fresh);
            counter.amount = counter.amount.saturating_add(one.spent.amount);
            counter.unwritten = counter.unwritten.saturating_add(one.spent.amount);
            counter.amount
        };
        uses.iter().map(add).collect()
    }

    /// Takes what is to be written.
    pub(super) fn unwritten(&mut self) -> Vec<UsageDelta> {
        let changed = self.counters.iter_mut().filter(|(_, counter)| counter.unwritten > 0);
        let spent = |((since, what, who), counter): (&Key, &mut Counter)| UsageDelta {
            who: who.clone(),
            what,
            since: *since,
            amount: std::mem::take(&mut counter.unwritten),
        };
        changed.map(spent).collect()
    }

    /// Takes back what could not be written.
    pub(super) fn take_back(&mut self, unwritten: Vec<UsageDelta>) {
        for spent in unwritten {
            if let Some(counter) = self.counters.get_mut(&key(&spent)) {
                counter.unwritten = counter.unwritten.saturating_add(spent.amount);
            }
        }
    }

    /// Forgets what is written and ended an hour ago.
    pub(super) fn leave(&mut self, now: DateTime<Utc>) {
        self.left = self.left.max(now - TimeDelta::hours(1));
        let left = self.left;
        self.counters.retain(|_, counter| counter.unwritten > 0 || counter.until > left);
    }
}

fn key(spent: &UsageDelta) -> Key {
    (spent.since, spent.what, spent.who.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(who: &str, since: DateTime<Utc>, amount: u64) -> Use {
        let spent = UsageDelta { who: who.to_owned(), what: "calls", since, amount };
        Use { spent, until: since + TimeDelta::days(1) }
    }

    #[test]
    fn what_an_earlier_start_counted_is_asked_for_once_and_added_to() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
        let mut counters = Counters::new(now);
        let (old, new) = (used("ada", now - TimeDelta::hours(3), 2), used("ada", now, 1));
        let both = [old.clone(), new.clone()];
        assert_eq!(counters.unknown(&both), std::slice::from_ref(&old));
        counters.learn(std::slice::from_ref(&old), vec![5]);
        counters.learn(std::slice::from_ref(&old), vec![90]);
        assert_eq!(counters.add(&both), [7, 1]);
        assert_eq!(counters.unknown(std::slice::from_ref(&old)), []);
        let written = counters.unwritten();
        assert_eq!(written, [old.spent.clone(), new.spent]);
        assert_eq!(counters.unwritten(), [], "written once");
        counters.take_back(written.clone());
        assert_eq!(counters.unwritten(), written, "until it is");
        assert_eq!(
            counters.add(&[Use { spent: UsageDelta { amount: 0, ..old.spent.clone() }, ..old }]),
            [7]
        );
    }

    #[test]
    fn what_ended_long_ago_is_left_to_the_ledger_and_read_again() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
        let mut counters = Counters::new(now);
        let today = used("ada", now, 3);
        assert_eq!(counters.add(std::slice::from_ref(&today)), [3]);
        let later = now + TimeDelta::hours(26);
        counters.leave(later);
        assert_eq!(counters.unknown(std::slice::from_ref(&today)), [], "not written yet");
        assert_eq!(counters.unwritten().len(), 1);
        counters.leave(later);
        assert_eq!(counters.unknown(std::slice::from_ref(&today)), [today]);
    }
}
