//! What the writer tells of itself: its syncs, how long verbs wait, and whether the file is damaged.

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use selkie_channel_core::locked;

use crate::engine::Class;
use crate::error::{Result, StoreError};

/// What the writer tells of itself.
#[derive(Debug, Default)]
pub struct Gauge {
    /// Syncs of durable commits, syncs while idle.
    syncs: Mutex<(u64, u64)>,
    /// When the oldest verb in hand came.
    oldest: Mutex<Option<Instant>>,
    /// What SQLite found wrong with the file: from then on nothing is written.
    damage: OnceLock<String>,
}

impl Gauge {
    /// Returns how often a durable commit was synced.
    pub fn syncs(&self) -> u64 {
        locked(&self.syncs).0
    }

    /// Returns how often relaxed commits were synced while the writer was idle.
    pub fn settles(&self) -> u64 {
        locked(&self.syncs).1
    }

    /// Returns how long the oldest verb in hand has been waiting.
    pub fn lag(&self) -> Duration {
        let oldest = *locked(&self.oldest);
        oldest.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Whether writing goes on.
    ///
    /// # Errors
    /// `Broken` when the file was found damaged: whoever writes on makes it worse.
    pub fn is_whole(&self) -> Result<()> {
        self.damage.get().map_or(Ok(()), |why| Err(StoreError::Broken(why.clone())))
    }

    /// Notes damage; nobody but whoever opens a store is told of it as such.
    pub fn note(&self, error: StoreError) -> StoreError {
        let StoreError::Damaged(what) = error else { return error };
        let says = self.damage.get_or_init(|| {
            format!("{what}: selkie writes nothing more to it; stop selkie, and its next start says what to do")
        });
        StoreError::Broken(says.clone())
    }

    /// Counts a sync.
    pub fn count(&self, class: Class) {
        let mut syncs = locked(&self.syncs);
        match class {
            Class::Durable => syncs.0 += 1,
            Class::Relaxed => syncs.1 += 1,
        }
    }

    /// Notes when the oldest verb in hand came.
    pub fn hold(&self, since: Option<Instant>) {
        *locked(&self.oldest) = since;
    }
}
