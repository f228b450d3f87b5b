//! What the connections tell of themselves: syncs, statements, round trips, how long verbs wait.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use selkie_channel_core::locked;

/// Counters of all connections of a store.
#[derive(Debug)]
pub struct Metrics {
    /// How often a durable commit was synced.
    pub syncs: Counter,
    /// Statements that were sent, `BEGIN` and `COMMIT` included.
    pub statements: Counter,
    /// How often an answer was waited for.
    pub round_trips: Counter,
    /// Verbs that were run again.
    pub reruns: Counter,
    /// When the verb in hand came, by connection.
    in_hand: Mutex<Vec<Option<Instant>>>,
}

/// Counts.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one more.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many there were.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Metrics {
    /// Counts for so many connections.
    pub fn new(connections: usize) -> Self {
        let [syncs, statements, round_trips, reruns] = Default::default();
        let in_hand = Mutex::new(vec![None; connections]);
        Self { syncs, statements, round_trips, reruns, in_hand }
    }

    /// Notes when the verb in hand came.
    pub fn hold(&self, connection: usize, since: Option<Instant>) {
        if let Some(place) = locked(&self.in_hand).get_mut(connection) {
            *place = since;
        }
    }

    /// Returns how long the oldest verb in hand has been waiting.
    pub fn lag(&self) -> Duration {
        let oldest = locked(&self.in_hand).iter().flatten().min().copied();
        oldest.map_or(Duration::ZERO, |since| since.elapsed())
    }
}
