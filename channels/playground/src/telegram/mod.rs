//! The emulated Telegram Bot API server and the handle that plays its people.

mod chat;
mod commands;
mod demo;
mod entities;
mod faults;
mod handle;
mod html;
mod http;
mod keyboard;
mod log;
mod media;
mod methods;
mod pace;
mod params;
mod polling;
mod reactions;
mod refusal;
mod render;
mod send;
mod taps;
mod target;
mod updates;
mod view;
mod watch;
mod world;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

pub use chat::{FileKind, Said};
pub use demo::{ADA, BOT_ID, GRACE, GROUP, LINUS, PRIVATE, TOKEN, TOPIC};
pub(crate) use faults::Faults;
pub use faults::{Fault, FaultKind};
pub use handle::{FileDraft, Spot, Telegram};
pub(crate) use http::routes;
pub use log::{Call, Outcome};
pub use pace::Pace;
pub(crate) use render::mime;
pub use view::{Author, Event, EventKind, FileView, MessageView, ReactionView};
pub use watch::Tally;

use crate::clock::Now;
use log::CallLog;
use pace::Pacer;
use world::World;

/// The server's parts; the world's lock is never held over an await.
pub(crate) struct Server {
    world: Mutex<World>,
    pacer: Mutex<Pacer>,
    pace: Mutex<Pace>,
    pub(crate) faults: Faults,
    log: CallLog,
    /// Wakes the poller when an update arrived or another poller came.
    arrivals: Notify,
    stop: CancellationToken,
    now: Now,
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

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> DateTime<Utc> {
        (self.now)()
    }

    /// Counts a message against the pace.
    fn count_pace(&self, chat: i64) -> Result<(), refusal::Refusal> {
        if *self.pace.lock().unwrap_or_else(PoisonError::into_inner) == Pace::Lifted {
            return Ok(());
        }
        let mut pacer = self.pacer.lock().unwrap_or_else(PoisonError::into_inner);
        pacer.count(chat, chat < 0, tokio::time::Instant::now()).map_err(refusal::Refusal::too_many)
    }

    fn set_pace(&self, pace: Pace) {
        *self.pace.lock().unwrap_or_else(PoisonError::into_inner) = pace;
    }
}

#[cfg(test)]
mod tests;
