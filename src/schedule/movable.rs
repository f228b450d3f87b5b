//! Clocks that can be moved forward, the time of day and the running time together: for a demo, where a person looks at
//! tomorrow. Nothing but a demo has them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::sync::watch;

use super::alarm::{Alarm, NAP, running};
use super::jump::Both;
use selkie_domain::clock::{Clock, SharedClock};

/// The machine's clocks, set ahead: they run as those do.
pub struct MovableClocks {
    machine: SharedClock,
    ahead: watch::Sender<Duration>,
}

impl MovableClocks {
    /// Takes the machine's clock; nothing is moved yet.
    pub fn over(machine: SharedClock) -> Arc<Self> {
        Arc::new(Self { machine, ahead: watch::Sender::default() })
    }

    /// Moves both clocks forward to that time of day; never back.
    pub fn forward_to(&self, at: DateTime<Utc>) {
        self.ahead.send_modify(|ahead| {
            let shows = self.machine.now() + *ahead;
            *ahead = ahead.saturating_add((at - shows).to_std().unwrap_or_default());
        });
    }

    fn ahead(&self) -> Duration {
        *self.ahead.borrow()
    }
}

impl Clock for MovableClocks {
    fn now(&self) -> DateTime<Utc> {
        self.machine.now() + self.ahead()
    }
}

#[async_trait]
impl Alarm for MovableClocks {
    fn now(&self) -> Both {
        let ahead = self.ahead();
        Both { wall: self.machine.now() + ahead, running: running().saturating_add(ahead) }
    }

    async fn until(&self, at: DateTime<Utc>) {
        // Listened to before the clock is read: a move in between is not missed.
        let mut moved = self.ahead.subscribe();
        let wait = (at - Clock::now(self)).to_std().unwrap_or_default();
        tokio::select! {
            () = tokio::time::sleep(wait.min(NAP)) => {}
            // The sender lives as long as `self`.
            _ = moved.changed() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::jump::{Jumps, Look};
    use selkie_domain::clock::ManualClock;

    fn begin() -> DateTime<Utc> {
        "2026-11-22T15:00:00Z".parse().unwrap()
    }

    #[tokio::test]
    async fn both_clocks_are_moved_together_and_never_back() {
        let clocks = MovableClocks::over(Arc::new(ManualClock::at(begin())));
        let mut jumps = Jumps::default();
        assert_eq!(jumps.look(Alarm::now(&*clocks)), Look::Fine);
        let tomorrow = begin() + TimeDelta::days(1);
        clocks.forward_to(tomorrow);
        assert_eq!(Clock::now(&*clocks), tomorrow);
        assert_eq!(jumps.look(Alarm::now(&*clocks)), Look::Fine, "it is no leap");
        clocks.forward_to(begin());
        assert_eq!(Clock::now(&*clocks), tomorrow);
    }

    #[tokio::test]
    async fn whoever_waits_hears_that_the_clock_was_moved() {
        let clocks = MovableClocks::over(Arc::new(ManualClock::at(begin())));
        let at = begin() + TimeDelta::days(1);
        let waits = clocks.until(at);
        let moves = async { clocks.forward_to(at) };
        // The clock below stands still: by itself the time never comes.
        tokio::time::timeout(Duration::from_secs(20), async { tokio::join!(waits, moves) })
            .await
            .unwrap();
        clocks.until(at).await;
    }
}
