//! Waits for a time of day. A plain timer stands still while the machine sleeps and hears of no change of the clock:
//! on Linux the kernel's own alarm on the wall clock is used, elsewhere naps that look at the clock again.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::jump::Both;
use selkie_domain::clock::SharedClock;

/// A wait this short is left to a plain timer: it is late by no more, and costs the kernel nothing.
const SHORT: Duration = Duration::from_secs(1);
/// Where no alarm hears of a change of the clock, it is looked at this often.
pub(super) const NAP: Duration = Duration::from_secs(60);

/// The clocks that schedules go by.
#[async_trait]
pub trait Alarm: Send + Sync {
    /// Returns what both clocks show.
    fn now(&self) -> Both;

    /// Returns at this time of day, or earlier: when the clock was changed, or for no reason.
    async fn until(&self, at: DateTime<Utc>);
}

/// The machine's alarm.
pub struct SystemAlarm {
    clock: SharedClock,
}

impl SystemAlarm {
    /// Takes the clock that tells the time of day.
    pub fn shared(clock: SharedClock) -> Arc<dyn Alarm> {
        Arc::new(Self { clock })
    }
}

#[async_trait]
impl Alarm for SystemAlarm {
    fn now(&self) -> Both {
        Both { wall: self.clock.now(), running: running() }
    }

    async fn until(&self, at: DateTime<Utc>) {
        let wait = (at - self.clock.now()).to_std().unwrap_or_default();
        #[cfg(target_os = "linux")]
        if wait > SHORT
            && let Some(timer) = timer::armed(at)
        {
            return timer.rings().await;
        }
        tokio::time::sleep(wait.min(NAP)).await;
    }
}

/// How long the machine has been running, its sleep included where the system counts that.
pub(super) fn running() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    #[cfg(target_os = "linux")]
    let id = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let id = ClockId::Monotonic;
    let shows = clock_gettime(id);
    let seconds = u64::try_from(shows.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(shows.tv_nsec).unwrap_or_default())
}

#[cfg(target_os = "linux")]
mod timer {
    use std::os::fd::OwnedFd;

    use chrono::{DateTime, Utc};
    use rustix::io::read;
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// An alarm of the kernel, set to a time of day.
    pub(super) struct Timer(AsyncFd<OwnedFd>);

    /// Sets one; `None` where the kernel gives none.
    pub(super) fn armed(at: DateTime<Utc>) -> Option<Timer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Realtime, flags).ok()?;
        // A time of zero would take the alarm back.
        let at = at.max(DateTime::from_timestamp_millis(1)?);
        let value =
            Timespec { tv_sec: at.timestamp(), tv_nsec: at.timestamp_subsec_nanos().into() };
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let rings = Itimerspec { it_interval: never, it_value: value };
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        timerfd_settime(&timer, flags, &rings).ok()?;
        #[expect(deprecated, reason = "what its successor asks for, an `OwnedFd` upholds")]
        let timer = AsyncFd::with_interest(timer, Interest::READABLE);
        timer.ok().map(Timer)
    }

    impl Timer {
        /// Waits until it rings, or the clock was set: then the reading fails, which tells the same.
        pub(super) async fn rings(self) {
            loop {
                let Ok(mut ready) = self.0.readable().await else { return };
                let mut count = [0_u8; 8];
                match ready.try_io(|timer| read(timer.get_ref(), &mut count).map_err(Into::into)) {
                    Ok(_) => return,
                    Err(_would_block) => {}
                }
            }
        }
    }
}

/// An alarm over clocks that go on only when a test says so.
#[cfg(any(test, feature = "testing"))]
pub struct ManualAlarm(tokio::sync::watch::Sender<Both>);

#[cfg(any(test, feature = "testing"))]
impl ManualAlarm {
    /// Both clocks begin here.
    pub fn at(wall: DateTime<Utc>) -> Arc<Self> {
        Arc::new(Self(tokio::sync::watch::Sender::new(Both { wall, running: Duration::ZERO })))
    }

    /// Time passes.
    pub fn pass(&self, by: Duration) {
        self.0.send_modify(|both| {
            both.wall += by;
            both.running += by;
        });
    }

    /// Somebody sets the clock.
    pub fn leap(&self, by: chrono::TimeDelta) {
        self.0.send_modify(|both| both.wall += by);
    }
}

#[cfg(any(test, feature = "testing"))]
impl selkie_domain::clock::Clock for ManualAlarm {
    fn now(&self) -> DateTime<Utc> {
        self.0.borrow().wall
    }
}

#[cfg(any(test, feature = "testing"))]
#[async_trait]
impl Alarm for ManualAlarm {
    fn now(&self) -> Both {
        *self.0.borrow()
    }

    async fn until(&self, at: DateTime<Utc>) {
        let mut changes = self.0.subscribe();
        if changes.borrow_and_update().wall < at {
            // The sender lives as long as `self`.
            changes.changed().await.ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use selkie_domain::clock::SystemClock;

    #[tokio::test]
    async fn it_rings_at_its_time_and_at_once_for_one_that_has_passed() {
        let alarm = SystemAlarm::shared(Arc::new(SystemClock));
        let before = alarm.now();
        alarm.until(before.wall - TimeDelta::days(20_000 * 3)).await;
        let at = before.wall + TimeDelta::milliseconds(30);
        alarm.until(at).await;
        let after = alarm.now();
        assert!(after.wall >= at, "{} is before {at}", after.wall);
        assert!(after.running > before.running);
    }
}
