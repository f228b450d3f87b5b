//! The one place that sleeps until a time of day. Whoever waits for a moment waits here: so one alarm serves all of them,
//! over a suspend, a clock that is set, and a demo's clock that is moved.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::locked;
use tokio::sync::{Notify, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::alarm::Alarm;
use super::jump::{Both, leap};

/// Clocks are put right by less all the time.
const A_SECOND: TimeDelta = TimeDelta::seconds(1);

/// Sleeps for all who wait for a moment.
pub struct Sleeper {
    alarm: Arc<dyn Alarm>,
    waiting: Mutex<WaitQueue>,
    /// Rung when somebody waits for an earlier moment than all others.
    sooner: Notify,
    /// Told when the alarm came before its time: the clock may have been set.
    set: watch::Sender<()>,
    tracker: TaskTracker,
    stop: CancellationToken,
}

/// Who waits, the earliest first.
#[derive(Default)]
struct WaitQueue {
    by: BTreeMap<Place, oneshot::Sender<()>>,
    /// Tells those apart who wait for the same moment.
    last: u64,
    /// A task of ours sleeps: there is one while somebody waits.
    sleeps: bool,
    /// What both clocks showed when they were last looked at.
    seen: Option<Both>,
}

/// Where somebody stands among those who wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    at: DateTime<Utc>,
    number: u64,
}

/// Somebody who waits; who is dropped waits no more.
struct Waits<'a> {
    sleeper: &'a Sleeper,
    place: Place,
    rings: oneshot::Receiver<()>,
}

impl Sleeper {
    /// Takes the alarm that wakes it; what sleeps is tracked, and wakes nobody any more after `stop`.
    pub fn over(alarm: Arc<dyn Alarm>, tracker: TaskTracker, stop: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            alarm,
            waiting: Mutex::default(),
            sooner: Notify::new(),
            set: watch::Sender::new(()),
            tracker,
            stop,
        })
    }

    /// Returns what both clocks show.
    pub fn now(&self) -> Both {
        self.alarm.now()
    }

    /// Waits until this time of day.
    pub async fn until(self: &Arc<Self>, at: DateTime<Utc>) {
        if self.now().wall < at {
            let mut waits = self.waits(at);
            // It ends in one way alone: whoever rings sends.
            drop((&mut waits.rings).await);
        }
    }

    /// Waits until this time of day, or until the clock may have been set.
    pub async fn until_or_set(self: &Arc<Self>, at: DateTime<Utc>) {
        let mut set = self.set.subscribe();
        tokio::select! {
            () = self.until(at) => {}
            // The sender lives as long as `self`.
            _ = set.changed() => {}
        }
    }

    fn waits(self: &Arc<Self>, at: DateTime<Utc>) -> Waits<'_> {
        let (sender, rings) = oneshot::channel();
        let mut waiting = locked(&self.waiting);
        waiting.last += 1;
        let both = self.now();
        waiting.seen.get_or_insert(both);
        let place = Place { at, number: waiting.last };
        waiting.by.insert(place, sender);
        let is_first = waiting.by.first_key_value().is_some_and(|(first, _)| *first == place);
        if !std::mem::replace(&mut waiting.sleeps, true) {
            self.tracker.spawn(Arc::clone(self).sleep());
        } else if is_first {
            self.sooner.notify_one();
        }
        Waits { sleeper: self, place, rings }
    }

    /// Sleeps from one moment to the next, as long as somebody waits.
    async fn sleep(self: Arc<Self>) {
        while let Some(first) = self.ring() {
            tokio::select! {
                () = self.sooner.notified() => {}
                () = self.stop.cancelled() => {
                    locked(&self.waiting).sleeps = false;
                    return;
                }
                () = self.alarm.until(first) => {
                    if self.now().wall < first {
                        self.set.send_replace(());
                    }
                }
            }
        }
    }

    /// Wakes all whose moment has come; returns the next one.
    fn ring(&self) -> Option<DateTime<Utc>> {
        let both = self.now();
        let now = both.wall;
        let mut waiting = locked(&self.waiting);
        // It may have been set while nobody slept.
        if waiting.seen.replace(both).is_some_and(|seen| leap(seen, both).abs() > A_SECOND) {
            self.set.send_replace(());
        }
        while let Some(first) = waiting.by.first_entry().filter(|first| first.key().at <= now) {
            // Who is gone needs no waking.
            first.remove().send(()).ok();
        }
        let next = waiting.by.first_key_value().map(|(place, _)| place.at);
        waiting.sleeps = next.is_some();
        next
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        locked(&self.sleeper.waiting).by.remove(&self.place);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::TimeDelta;
    use tokio::time::timeout;

    use super::*;
    use crate::alarm::ManualAlarm;

    const LONG: Duration = Duration::from_secs(20);

    fn begin() -> DateTime<Utc> {
        "2026-11-22T15:00:00Z".parse().unwrap()
    }

    fn over(alarm: &Arc<ManualAlarm>) -> Arc<Sleeper> {
        Sleeper::over(Arc::clone(alarm) as _, TaskTracker::new(), CancellationToken::new())
    }

    fn sleeps(sleeper: &Sleeper) -> bool {
        locked(&sleeper.waiting).sleeps
    }

    #[tokio::test]
    async fn each_is_woken_in_its_turn_and_then_nobody_sleeps() {
        let alarm = ManualAlarm::at(begin());
        let sleeper = over(&alarm);
        sleeper.until(begin()).await;
        assert!(!sleeps(&sleeper), "nobody waits for what has come");
        let woken = watch::Sender::new(Vec::new());
        let tracker = TaskTracker::new();
        let all = [3, 1, 2].map(|hours| {
            let (sleeper, woken) = (Arc::clone(&sleeper), woken.clone());
            tracker.spawn(async move {
                sleeper.until(begin() + TimeDelta::hours(hours)).await;
                woken.send_modify(|woken| woken.push(hours));
            })
        });
        let mut seen = woken.subscribe();
        while locked(&sleeper.waiting).by.len() < 3 {
            tokio::task::yield_now().await;
        }
        for hours in 1..=3 {
            alarm.pass(Duration::from_secs(3_600));
            let so_far = |woken: &Vec<i64>| woken.len() as i64 == hours;
            timeout(LONG, seen.wait_for(so_far)).await.expect("it rings").unwrap();
            assert_eq!(*woken.borrow(), (1..=hours).collect::<Vec<_>>());
        }
        for one in all {
            one.await.unwrap();
        }
        sleeper.tracker.close();
        sleeper.tracker.wait().await;
        assert!(!sleeps(&sleeper));
    }

    #[tokio::test]
    async fn nobody_sleeps_after_the_end() {
        let alarm = ManualAlarm::at(begin());
        let sleeper = over(&alarm);
        let far = sleeper.until(begin() + TimeDelta::days(900));
        let ends = async {
            tokio::task::yield_now().await;
            sleeper.stop.cancel();
            sleeper.tracker.close();
            sleeper.tracker.wait().await;
        };
        tokio::select! {
            () = far => panic!("it has not come"),
            () = ends => {}
        }
        assert!(!sleeps(&sleeper));
    }

    #[tokio::test]
    async fn who_is_dropped_waits_no_more_and_an_earlier_one_is_heard() {
        let alarm = ManualAlarm::at(begin());
        let sleeper = over(&alarm);
        let far = sleeper.until(begin() + TimeDelta::days(900));
        assert!(timeout(Duration::ZERO, far).await.is_err(), "it waits");
        assert!(locked(&sleeper.waiting).by.is_empty(), "and no more");
        let later = sleeper.until(begin() + TimeDelta::hours(2));
        let sooner = async {
            tokio::task::yield_now().await;
            sleeper.until(begin() + TimeDelta::hours(1)).await;
            alarm.pass(Duration::from_secs(3_600));
        };
        let passes = async {
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            alarm.pass(Duration::from_secs(3_600));
        };
        let all = async { tokio::join!(later, sooner, passes) };
        timeout(LONG, all).await.expect("both are woken");
    }

    #[tokio::test]
    async fn a_clock_that_is_set_is_told_to_who_wants_to_know() {
        let alarm = ManualAlarm::at(begin());
        let sleeper = over(&alarm);
        let at = begin() + TimeDelta::days(1);
        let waits = sleeper.until_or_set(at);
        let sets = async {
            tokio::task::yield_now().await;
            alarm.leap(TimeDelta::days(-2));
        };
        timeout(LONG, async { tokio::join!(waits, sets) }).await.expect("it is told");
        assert!(sleeper.now().wall < at);
    }
}
