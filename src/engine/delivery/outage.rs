//! When the store's trouble is worth a line: when it comes, again while it lasts, and once when it is over for good.

use chrono::{DateTime, TimeDelta, Utc};

/// One that lasts is told again so often.
const AGAIN: TimeDelta = TimeDelta::seconds(60);
/// It is over when nothing has failed for so long: what can be written here may fail there.
const CALM: TimeDelta = TimeDelta::seconds(3);

/// What is known of the store's trouble. Pure.
#[derive(Debug, Default)]
pub struct Outage(Option<Present>);

#[derive(Debug)]
struct Present {
    since: DateTime<Utc>,
    last: DateTime<Utc>,
    told_at: DateTime<Utc>,
    times: u32,
    why: String,
}

/// What a line says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct News {
    /// How long it has lasted.
    pub seconds: i64,
    /// How many tries have failed.
    pub times: u32,
}

impl Outage {
    /// Notes that a try has failed, and why; returns what is to be told of it now.
    pub fn there(&mut self, now: DateTime<Utc>, why: &str) -> Option<News> {
        let is_new = self.0.is_none();
        let fresh = Present { since: now, last: now, told_at: now, times: 0, why: String::new() };
        let present = self.0.get_or_insert(fresh);
        (present.last, present.times) = (now, present.times.saturating_add(1));
        if present.why != why {
            why.clone_into(&mut present.why);
        }
        if !is_new && now - present.told_at < AGAIN {
            return None;
        }
        present.told_at = now;
        Some(present.news(now))
    }

    /// Returns what is to be told of its end when it is over; asked while the store takes writes.
    pub fn over(&mut self, now: DateTime<Utc>) -> Option<News> {
        self.0
            .take_if(|present| now - present.last >= CALM)
            .map(|present| present.news(present.last))
    }

    /// Returns why the last try failed, until it is over.
    pub fn why(&self) -> Option<&str> {
        self.0.as_ref().map(|present| present.why.as_str())
    }
}

impl Present {
    fn news(&self, now: DateTime<Utc>) -> News {
        News { seconds: (now - self.since).num_seconds(), times: self.times }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    fn news(seconds: i64, times: u32) -> Option<News> {
        Some(News { seconds, times })
    }

    #[test]
    fn one_that_comes_and_goes_is_one() {
        let mut outage = Outage::default();
        assert_eq!(outage.over(at(0)), None);
        assert_eq!(outage.there(at(1), "full"), news(0, 1));
        assert_eq!(outage.over(at(2)), None, "more may come");
        for second in 3..60 {
            assert_eq!(outage.there(at(second), "no right"), None);
            assert_eq!(outage.over(at(second)), None);
        }
        assert_eq!(outage.why(), Some("no right"));
        assert_eq!(outage.there(at(61), "no right"), news(60, 59));
        assert_eq!(outage.over(at(64)), news(60, 59), "it lasted until the last try that failed");
        assert_eq!(outage.over(at(65)), None);
        assert_eq!(outage.why(), None);
        assert_eq!(outage.there(at(66), "full"), news(0, 1), "another one");
    }
}
