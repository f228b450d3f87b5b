//! The server's parts, and everything there is.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use chrono::{DateTime, Utc};
use selkie_channel_core::locked;
use serde_json::Value;
use tokio::sync::watch as changes;

use super::keys::REFRESH_TOKEN;
use super::medium::Medium;
use super::record::{XCall, XPost};
use crate::clock::Now;
use crate::faults::Faults;

/// The server's parts; the world's lock is never held over an await.
pub(crate) struct Server {
    pub(super) world: Mutex<World>,
    pub(crate) faults: Faults,
    /// Counts what happened, for those who wait.
    pub(super) happened: changes::Sender<u64>,
    pub(super) now: Now,
}

/// Everything there is.
#[derive(Default)]
pub(crate) struct World {
    /// Oldest first.
    pub(super) posts: Vec<XPost>,
    pub(super) calls: Vec<XCall>,
    /// Pictures that were uploaded.
    pub(super) media: Vec<Medium>,
    /// What calls that go well are answered instead, by their methods.
    pub(super) answers: Vec<(String, Value)>,
    /// The one refresh token that works.
    pub(super) refresh: String,
    /// When each access token ends.
    pub(super) access: HashMap<String, DateTime<Utc>>,
    /// Nonces that were used.
    pub(super) nonces: HashSet<String>,
    pub(super) number: u64,
}

impl Server {
    pub(crate) fn new(now: Now) -> Arc<Self> {
        let world = World { refresh: REFRESH_TOKEN.to_owned(), ..World::default() };
        Arc::new(Self {
            world: Mutex::new(world),
            faults: Faults::default(),
            happened: changes::Sender::new(0),
            now,
        })
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        locked(&self.world)
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        (self.now)()
    }

    pub(super) fn tell(&self) {
        self.happened.send_modify(|count| *count += 1);
    }
}

impl World {
    /// What the next call of this method is answered instead, once.
    pub(super) fn answer_of(&mut self, method: &str) -> Option<Value> {
        let at = self.answers.iter().position(|(of, _)| of == method)?;
        Some(self.answers.remove(at).1)
    }

    /// A number that was never given before.
    pub(super) fn next(&mut self) -> u64 {
        self.number += 1;
        self.number
    }
}
