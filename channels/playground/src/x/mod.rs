//! The emulated X: posts, the account's timeline, logins checked as strictly as X does, and the handle that
//! looks at them.

mod api;
mod count;
mod handle;
mod http;
mod login;
mod post;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use tokio::sync::watch as changes;

pub use handle::{XCall, XPlatform, XPost};
pub(crate) use http::{MOUNT, routes};
pub use login::{
    ACCESS_TOKEN, ACCESS_TOKEN_SECRET, APP_BEARER, CLIENT_ID, CONSUMER_KEY, CONSUMER_SECRET,
    REFRESH_TOKEN, USER, USER_BEARER,
};

use crate::clock::Now;
use crate::telegram::Faults;

/// The server's parts; the world's lock is never held over an await.
pub(crate) struct Server {
    world: Mutex<World>,
    pub(crate) faults: Faults,
    /// Counts what happened, for those who wait.
    happened: changes::Sender<u64>,
    now: Now,
}

/// Everything there is.
pub(crate) struct World {
    /// Oldest first.
    posts: Vec<XPost>,
    calls: Vec<XCall>,
    /// The one refresh token that works.
    refresh: String,
    /// When each access token ends.
    access: HashMap<String, DateTime<Utc>>,
    /// Nonces that were used.
    nonces: HashSet<String>,
    number: u64,
}

impl Server {
    pub(crate) fn new(now: Now) -> Arc<Self> {
        let world = World {
            posts: Vec::new(),
            calls: Vec::new(),
            refresh: REFRESH_TOKEN.to_owned(),
            access: HashMap::new(),
            nonces: HashSet::new(),
            number: 0,
        };
        Arc::new(Self {
            world: Mutex::new(world),
            faults: Faults::default(),
            happened: changes::Sender::new(0),
            now,
        })
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> DateTime<Utc> {
        (self.now)()
    }

    fn tell(&self) {
        self.happened.send_modify(|count| *count += 1);
    }
}

impl World {
    /// A number that was never given before.
    fn next(&mut self) -> u64 {
        self.number += 1;
        self.number
    }
}

#[cfg(test)]
mod tests;
