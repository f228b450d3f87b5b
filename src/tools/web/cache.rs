//! Remembers answers for a while.

use std::collections::HashMap;
use std::sync::Mutex;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::locked;

/// How long an answer is good.
const FRESH: TimeDelta = TimeDelta::minutes(15);
/// More answers than this are not kept.
const MAX: usize = 64;

/// Answers by what was asked.
#[derive(Default)]
pub(super) struct Cache(Mutex<HashMap<String, (DateTime<Utc>, String)>>);

impl Cache {
    /// Returns a fresh answer.
    pub(super) fn get(&self, key: &str, now: DateTime<Utc>) -> Option<String> {
        let kept = locked(&self.0);
        let (since, answer) = kept.get(key)?;
        // A clock that was set back makes nothing fresh for longer.
        let age = now - *since;
        (age >= TimeDelta::zero() && age < FRESH).then(|| answer.clone())
    }

    /// Keeps an answer, in place of the oldest when there are too many.
    pub(super) fn put(&self, key: String, now: DateTime<Utc>, answer: String) {
        let mut kept = locked(&self.0);
        if kept.len() >= MAX && !kept.contains_key(&key) {
            let oldest =
                kept.iter().min_by_key(|(_, (since, _))| *since).map(|(key, _)| key.clone());
            oldest.map(|key| kept.remove(&key));
        }
        kept.insert(key, (now, answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_fresh_for_a_quarter_of_an_hour_and_few() {
        let cache = Cache::default();
        let at = |minutes| DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        cache.put("a".into(), at(0), "x".into());
        assert_eq!(cache.get("a", at(14)), Some("x".into()));
        assert_eq!(cache.get("a", at(15)), None);
        assert_eq!(cache.get("a", at(-1)), None);
        for n in 0..MAX {
            cache.put(n.to_string(), at(1), "y".into());
        }
        assert_eq!(cache.get("a", at(1)), None);
        assert_eq!(cache.get("0", at(1)), Some("y".into()));
    }
}
