//! When the store's trouble is worth a line: once when it comes, once when it is over, and a count of what repeats.

use chrono::{DateTime, TimeDelta, Utc};

/// Troubles that come again within this are counted, not told.
const AGAIN: TimeDelta = TimeDelta::seconds(60);
/// One that comes again and lasts so long is told all the same.
const LASTS: TimeDelta = TimeDelta::seconds(5);

/// What is known of the store's troubles. Pure.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    /// When the present one came.
    since: Option<DateTime<Utc>>,
    /// Whether it was told.
    is_told: bool,
    /// When one was told last.
    told_at: Option<DateTime<Utc>>,
    /// How many came since that were not told.
    untold: u32,
}

/// What a line says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct News {
    /// How long it has lasted.
    pub(crate) seconds: i64,
    /// How many came between the last line and this one.
    pub(crate) untold: u32,
}

impl Outage {
    /// Notes that trouble came, or is still there; returns what is to be told of it now.
    pub(crate) fn there(&mut self, now: DateTime<Utc>) -> Option<News> {
        let is_new = self.since.is_none();
        let since = *self.since.get_or_insert(now);
        if is_new {
            self.is_told = false;
        }
        let recently = self.told_at.is_some_and(|at| now - at < AGAIN);
        if self.is_told || (recently && now - since < LASTS) {
            self.untold += u32::from(is_new);
            return None;
        }
        // It was counted when it came.
        let untold = std::mem::take(&mut self.untold) - u32::from(!is_new);
        (self.is_told, self.told_at) = (true, Some(now));
        Some(News { seconds: (now - since).num_seconds(), untold })
    }

    /// Notes that it is over; returns what is to be told of that.
    pub(crate) fn over(&mut self, now: DateTime<Utc>) -> Option<News> {
        let since = self.since.take()?;
        let news = News { seconds: (now - since).num_seconds(), untold: 0 };
        self.is_told.then_some(news)
    }

    /// Returns how many came and went untold, when no more came for a while.
    pub(crate) fn counted(&mut self, now: DateTime<Utc>) -> Option<u32> {
        let quiet = self.since.is_none() && self.told_at.is_none_or(|at| now - at >= AGAIN);
        (quiet && self.untold > 0).then(|| std::mem::take(&mut self.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    fn news(seconds: i64, untold: u32) -> Option<News> {
        Some(News { seconds, untold })
    }

    #[test]
    fn what_comes_and_goes_is_told_once_and_counted() {
        let mut outage = Outage::default();
        assert_eq!(outage.over(at(0)), None);
        assert_eq!(outage.there(at(1)), news(0, 0));
        assert_eq!(outage.there(at(2)), None);
        assert_eq!(outage.over(at(3)), news(2, 0));
        for second in 4..20 {
            assert_eq!(outage.there(at(second)), None);
            assert_eq!(outage.over(at(second)), None);
        }
        assert_eq!(outage.counted(at(30)), None, "more may come");
        assert_eq!(outage.counted(at(61)), Some(16));
        assert_eq!(outage.counted(at(62)), None);
        assert_eq!(outage.there(at(70)), news(0, 0));
    }

    #[test]
    fn one_that_lasts_is_told_however_soon_it_came_again() {
        let mut outage = Outage::default();
        assert_eq!(outage.there(at(0)), news(0, 0));
        assert_eq!(outage.over(at(1)), news(1, 0));
        assert_eq!(outage.there(at(2)), None);
        assert_eq!(outage.over(at(2)), None);
        assert_eq!(outage.there(at(3)), None);
        assert_eq!(outage.there(at(8)), news(5, 1), "the one before it");
        assert_eq!(outage.over(at(9)), news(6, 0));
    }
}
