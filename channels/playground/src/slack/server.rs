//! The server's parts, and the pace it keeps.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use selkie_channel_core::locked;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::limits;
use super::lines::Sockets;
use super::refusal::Refusal;
use super::world::World;
use crate::clock::Now;
use crate::faults::Faults;
use crate::telegram::Pace;

/// Messages one channel takes in [`WINDOW`] before Slack limits: about one a second, short bursts allowed.
pub(super) const BURST: usize = 5;

const WINDOW: Duration = Duration::from_secs(5);

/// Methods are counted by the minute.
const MINUTE: Duration = Duration::from_secs(60);

/// The server's parts; no lock is held over an await.
pub(crate) struct Server {
    pub(super) world: Mutex<World>,
    pub(super) sockets: Mutex<Sockets>,
    pub(super) faults: Faults,
    pub(super) pace: Pace,
    pub(super) posts: Mutex<HashMap<String, Vec<Instant>>>,
    /// When each method was called in the last minute.
    pub(super) pacing: Mutex<HashMap<String, Vec<Instant>>>,
    /// The app is distributed outside of the Marketplace.
    pub(super) is_distributed: AtomicBool,
    pub(super) calls: Mutex<Vec<(String, Value)>>,
    /// Whether no call is kept.
    pub(super) is_loaded: AtomicBool,
    /// Rises with everything that can be seen.
    pub(super) changes: watch::Sender<u64>,
    pub(super) redeliver_after: Mutex<Duration>,
    pub(super) base: String,
    pub(super) now: Now,
    pub(super) stop: CancellationToken,
    pub(super) tasks: TaskTracker,
}

impl Server {
    /// A server with the demo's world, reached at `base` (ending before `/api`).
    pub(crate) fn new(base: String, pace: Pace, now: Now, stop: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            world: Mutex::new(World::demo()),
            sockets: Mutex::default(),
            faults: Faults::default(),
            pace,
            posts: Mutex::default(),
            pacing: Mutex::default(),
            is_distributed: AtomicBool::new(false),
            calls: Mutex::default(),
            is_loaded: AtomicBool::new(false),
            changes: watch::Sender::new(0),
            redeliver_after: Mutex::new(Duration::from_secs(3)),
            base,
            now,
            stop,
            tasks: TaskTracker::new(),
        })
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        locked(&self.world)
    }

    pub(super) fn sockets(&self) -> MutexGuard<'_, Sockets> {
        locked(&self.sockets)
    }

    pub(super) fn changed(&self) {
        self.changes.send_modify(|version| *version += 1);
    }

    /// Counts a call against its method's tier.
    pub(super) fn may_call(&self, method: &str) -> Result<(), Refusal> {
        let held = limits::per_minute(method).filter(|_| self.pace == Pace::Held);
        let little = self.hands_out_little() && limits::is_history(method);
        let most = if little { Some(1) } else { held };
        let Some(most) = most else { return Ok(()) };
        let mut pacing = locked(&self.pacing);
        let calls = pacing.entry(method.to_owned()).or_default();
        calls.retain(|at| at.elapsed() < MINUTE);
        if calls.len() < most {
            calls.push(Instant::now());
            return Ok(());
        }
        let first = calls.first().map_or(MINUTE, Instant::elapsed);
        Err(Refusal::Limited(MINUTE.saturating_sub(first).as_secs() + 1))
    }

    /// To distributed apps outside of the Marketplace Slack hands out fifteen messages a minute.
    pub(super) fn hands_out_little(&self) -> bool {
        self.is_distributed.load(Ordering::Relaxed)
    }

    /// Counts a post against the channel's pace; whether it may go.
    pub(super) fn may_post(&self, channel: &str) -> bool {
        if self.pace == Pace::Lifted {
            return true;
        }
        let mut posts = locked(&self.posts);
        let posts = posts.entry(channel.to_owned()).or_default();
        posts.retain(|at| at.elapsed() < WINDOW);
        posts.push(Instant::now());
        posts.len() <= BURST
    }
}
