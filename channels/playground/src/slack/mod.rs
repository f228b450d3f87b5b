//! The emulated Slack: Web API, file host and Socket Mode, and the handle that plays its people.

mod blocks;
mod chat;
mod files;
mod handle;
mod history;
mod http;
mod methods;
mod press;
mod reactions;
mod respond;
mod sockets;
mod world;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use handle::Slack;
pub(crate) use http::routes;
pub use press::Button;
pub use world::{
    ADA, APP_TOKEN, BOT, BOT_TOKEN, CHANNEL, DM, GRACE, LINUS, SlackMessage, TEAM, Whisper,
};

use crate::clock::Now;
use crate::telegram::{Faults, Pace};
use methods::Refusal;
use sockets::Sockets;
use world::World;

/// Messages one channel takes in [`WINDOW`] before Slack limits: about one a second, short bursts allowed.
const BURST: usize = 5;
const WINDOW: Duration = Duration::from_secs(5);
/// Methods are counted by the minute.
const MINUTE: Duration = Duration::from_secs(60);

/// The server's parts; no lock is held over an await.
pub(crate) struct Server {
    world: Mutex<World>,
    sockets: Mutex<Sockets>,
    faults: Faults,
    pace: Pace,
    posts: Mutex<HashMap<String, Vec<Instant>>>,
    /// When each method was called in the last minute.
    pacing: Mutex<HashMap<String, Vec<Instant>>>,
    /// The app is distributed outside of the Marketplace.
    is_distributed: AtomicBool,
    calls: Mutex<Vec<(String, Value)>>,
    /// Rises with everything that can be seen.
    changes: watch::Sender<u64>,
    redeliver_after: Mutex<Duration>,
    base: String,
    now: Now,
    stop: CancellationToken,
    tasks: TaskTracker,
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
            changes: watch::Sender::new(0),
            redeliver_after: Mutex::new(Duration::from_secs(3)),
            base,
            now,
            stop,
            tasks: TaskTracker::new(),
        })
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sockets(&self) -> MutexGuard<'_, Sockets> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|version| *version += 1);
    }

    /// Counts a call against its method's tier.
    fn may_call(&self, method: &str) -> Result<(), Refusal> {
        let held = methods::per_minute(method).filter(|_| self.pace == Pace::Held);
        let little = self.hands_out_little() && methods::is_history(method);
        let most = if little { Some(1) } else { held };
        let Some(most) = most else { return Ok(()) };
        let mut pacing = self.pacing.lock().unwrap_or_else(PoisonError::into_inner);
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
    fn hands_out_little(&self) -> bool {
        self.is_distributed.load(Ordering::Relaxed)
    }

    /// Counts a post against the channel's pace; whether it may go.
    fn may_post(&self, channel: &str) -> bool {
        if self.pace == Pace::Lifted {
            return true;
        }
        let mut posts = self.posts.lock().unwrap_or_else(PoisonError::into_inner);
        let posts = posts.entry(channel.to_owned()).or_default();
        posts.retain(|at| at.elapsed() < WINDOW);
        posts.push(Instant::now());
        posts.len() <= BURST
    }
}

#[cfg(test)]
mod tests;
