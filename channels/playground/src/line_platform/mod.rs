//! The emulated LINE: a Messaging API server, a content host, a signing webhook sender, and the handle
//! that plays its people.

mod api;
mod check;
mod content;
mod demo;
mod handle;
mod http;
mod knock;
mod people;
mod port;
mod push;
mod sender;
mod view;
mod watch;
mod world;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use chrono::{DateTime, Utc};
use selkie_channel_core::locked;
use tokio::sync::{mpsc, watch as changes};

pub use content::{Draft, MediaKind};
pub use demo::{ACCESS_TOKEN, ADA, BOT, BOT_NAME, GRACE, GROUP, LINUS, ROOM, SECRET};
pub use handle::LinePlatform;
pub(crate) use http::{data_routes, routes};
pub(crate) use sender::run as send_webhooks;
pub use view::{LineButton, LineCall, LineMessage, Via};

use crate::clock::Now;
use crate::faults::Faults;
use world::World;

/// The server's parts; the world's lock is never held over an await.
pub(crate) struct Server {
    world: Mutex<World>,
    pub(crate) faults: Faults,
    /// Counts what happened, for those who wait.
    happened: changes::Sender<u64>,
    /// Events for the webhook sender.
    outbox: mpsc::UnboundedSender<serde_json::Value>,
    /// Events that the webhook has not taken.
    pending: AtomicUsize,
    now: Now,
}

impl Server {
    /// A server with the demo's world, and what its sender will send.
    pub(crate) fn new(
        skipped: u32,
        now: Now,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<serde_json::Value>) {
        let (outbox, events) = mpsc::unbounded_channel();
        let mut world = demo::world();
        world.skip(skipped);
        let server = Self {
            world: Mutex::new(world),
            faults: Faults::default(),
            happened: changes::Sender::new(0),
            outbox,
            pending: AtomicUsize::new(0),
            now,
        };
        (Arc::new(server), events)
    }

    fn world(&self) -> MutexGuard<'_, World> {
        locked(&self.world)
    }

    fn now(&self) -> DateTime<Utc> {
        (self.now)()
    }

    /// When what happens now is said to have happened: LINE may be late.
    fn stamp(&self) -> DateTime<Utc> {
        let lateness = self.world().lateness;
        self.now() - lateness
    }

    /// Hands an event to the sender.
    fn dispatch(&self, event: serde_json::Value) {
        self.pending.fetch_add(1, Ordering::Relaxed);
        // The sender lives as long as the playground.
        drop(self.outbox.send(event));
    }

    fn tell(&self) {
        self.happened.send_modify(|count| *count += 1);
    }
}

#[cfg(test)]
mod tests;
