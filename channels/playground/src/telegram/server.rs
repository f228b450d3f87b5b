//! The server's parts, and the pace it keeps.

use std::sync::{Arc, Mutex, MutexGuard};

use chrono::{DateTime, Utc};
use selkie_channel_core::locked;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::demo;
use super::log::CallLog;
use super::pace::{Pace, Pacer};
use super::refusal::Refusal;
use super::world::World;
use crate::clock::Now;
use crate::faults::Faults;

/// The server's parts; the world's lock is never held over an await.
pub(crate) struct Server {
    pub(super) world: Mutex<World>,
    pub(super) pacer: Mutex<Pacer>,
    pub(super) pace: Mutex<Pace>,
    pub(crate) faults: Faults,
    pub(super) log: CallLog,
    /// Wakes the poller when an update arrived or another poller came.
    pub(super) arrivals: Notify,
    pub(super) stop: CancellationToken,
    pub(super) now: Now,
}

impl Server {
    /// A server with the demo's world.
    pub(crate) fn new(pace: Pace, skipped: u32, now: Now, stop: CancellationToken) -> Arc<Self> {
        let mut world = demo::world(now());
        world.skip(skipped.into());
        Arc::new(Self {
            world: Mutex::new(world),
            pacer: Mutex::default(),
            pace: Mutex::new(pace),
            faults: Faults::default(),
            log: CallLog::default(),
            arrivals: Notify::new(),
            stop,
            now,
        })
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        locked(&self.world)
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        (self.now)()
    }

    /// Counts a message against the pace.
    pub(super) fn count_pace(&self, chat: i64) -> Result<(), Refusal> {
        if *locked(&self.pace) == Pace::Lifted {
            return Ok(());
        }
        let mut pacer = locked(&self.pacer);
        pacer.count(chat, chat < 0, tokio::time::Instant::now()).map_err(Refusal::too_many)
    }

    pub(super) fn set_pace(&self, pace: Pace) {
        *locked(&self.pace) = pace;
    }
}
