//! When a server that gave trouble is asked again: later each time, and the trouble is told once.

use std::sync::Mutex;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::locked;

use selkie_llm::NotEmbedded;

const FIRST: Duration = Duration::from_secs(30);
const MAX_TIME: Duration = Duration::from_secs(30 * 60);

/// How one kind of asking goes.
#[derive(Debug, Default)]
pub struct Backoff {
    trouble: Mutex<Option<Trouble>>,
}

#[derive(Clone, Debug)]
struct Trouble {
    times: u32,
    since: DateTime<Utc>,
    until: DateTime<Utc>,
    why: String,
}

impl Backoff {
    /// Whether it may be asked now.
    pub fn is_over(&self, now: DateTime<Utc>) -> bool {
        locked(&self.trouble).as_ref().is_none_or(|trouble| {
            // A clock that was set back makes no pause longer.
            trouble.until <= now || now < trouble.since
        })
    }

    /// When it may be asked again; nothing where all is well.
    pub fn until(&self) -> Option<DateTime<Utc>> {
        locked(&self.trouble).as_ref().map(|trouble| trouble.until)
    }

    /// What the trouble is.
    pub fn why(&self) -> Option<String> {
        locked(&self.trouble).as_ref().map(|trouble| trouble.why.clone())
    }

    /// Notes that it went well; says whether it did not before.
    pub fn went_well(&self) -> bool {
        locked(&self.trouble).take().is_some()
    }

    /// Notes trouble; says whether it is news.
    pub fn failed(&self, now: DateTime<Utc>, failed: &NotEmbedded) -> bool {
        let mut trouble = locked(&self.trouble);
        let times = trouble.as_ref().map_or(0, |trouble| trouble.times);
        let pause = FIRST.saturating_mul(1 << times.min(10)).min(MAX_TIME);
        let pause = pause.max(failed.retry_after.unwrap_or_default().min(MAX_TIME));
        let until = now + TimeDelta::from_std(pause).unwrap_or_default();
        let why = failed.why.clone();
        *trouble = Some(Trouble { times: times.saturating_add(1), since: now, until, why });
        times == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    fn trouble(wait: Option<u64>) -> NotEmbedded {
        let retry_after = wait.map(Duration::from_secs);
        NotEmbedded { why: "away".to_owned(), retry_after, refuses_text: false }
    }

    #[test]
    fn each_pause_is_longer_and_the_first_trouble_is_news() {
        let backoff = Backoff::default();
        assert!(backoff.is_over(at(0)) && !backoff.went_well());
        assert!(backoff.failed(at(0), &trouble(None)));
        assert!(!backoff.is_over(at(29)) && backoff.is_over(at(30)));
        assert!(!backoff.failed(at(30), &trouble(None)), "it was told");
        assert_eq!(backoff.until(), Some(at(90)));
        (0..40).for_each(|_| _ = backoff.failed(at(100), &trouble(None)));
        assert_eq!(backoff.until(), Some(at(1_900)), "half an hour at most");
        assert_eq!(backoff.why().as_deref(), Some("away"));
        assert!(backoff.went_well() && backoff.is_over(at(100)) && backoff.why().is_none());
    }

    #[test]
    fn a_server_may_ask_for_more_and_a_clock_may_be_set() {
        let backoff = Backoff::default();
        backoff.failed(at(0), &trouble(Some(90)));
        assert!(!backoff.is_over(at(89)) && backoff.is_over(at(90)));
        assert!(backoff.is_over(at(-1_000)), "set back");
        backoff.failed(at(0), &trouble(Some(999_999)));
        assert_eq!(backoff.until(), Some(at(1_800)));
    }
}
