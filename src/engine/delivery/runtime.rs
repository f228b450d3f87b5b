//! This run of the daemon: its time and chance, who watches it, how it ends, and work that is carried to its end
//! whatever becomes of who asked for it.

use std::future::pending;
use std::panic::resume_unwind;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use selkie_channel_core::Redactor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use selkie_domain::chance::Chance;
use selkie_domain::clock::SharedClock;
use selkie_domain::crash::Crash;
use selkie_domain::event::Events;
use selkie_domain::ids::Instance;
use selkie_domain::metrics::Metrics;
use selkie_domain::traces::Traces;
use selkie_schedule::sleeper::Sleeper;

/// How the daemon ends what runs: first nothing new is heard, then nothing more is begun.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// Ends the receivers; from then on no task is begun, and what waits goes on at the next start.
    pub receivers: CancellationToken,
    /// Ends workers and delivery workers; unfinished tasks go on at the next start.
    pub work: CancellationToken,
}

/// This run of the daemon.
pub struct Runtime {
    pub(crate) instance: Instance,
    pub(crate) clock: SharedClock,
    /// Sleeps until a moment, for all who wait for one.
    pub sleeper: Arc<Sleeper>,
    /// Chance.
    pub chance: Arc<dyn Chance>,
    /// Where to die, in tests.
    pub crash: Arc<Crash>,
    pub(crate) events: Events,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) traces: Traces,
    pub(crate) redactor: Redactor,
    pub(crate) tracker: TaskTracker,
    pub(crate) stop: Stop,
}

impl Runtime {
    /// The time.
    pub fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Waits until this time of day, also over a suspend and a change of the clock.
    pub async fn until(&self, at: DateTime<Utc>) {
        self.sleeper.until(at).await;
    }

    /// Returns a number that sets one outbound apart from others that say the same.
    pub fn nonce(&self) -> u64 {
        // 53 bits: what a fraction between 0 and 1 carries.
        (self.chance.unit() * (1u64 << 53) as f64) as u64
    }

    /// Whether the daemon ends: what runs may end, and no task is begun.
    pub fn is_draining(&self) -> bool {
        self.stop.receivers.is_cancelled() || self.stop.work.is_cancelled()
    }

    /// Carries a write, and what belongs to it, to the end. A caller may be dropped anywhere (a receiver that
    /// is stopped, a person who hangs up, a tool call whose time is over): what it has claimed is begun all
    /// the same, and what it has stored reaches its delivery worker.
    pub async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let broken = match self.tracker.spawn(Box::pin(work)).await {
            Ok(done) => return done,
            Err(broken) => broken,
        };
        match broken.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // Nobody aborts it: the runtime is going down, and with it whoever waits here.
            Err(_) => pending().await,
        }
    }
}
