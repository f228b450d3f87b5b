//! What the connections tell of themselves: syncs, statements, round trips, how long verbs wait.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Counters of all connections of a store.
#[derive(Debug)]
pub struct Metrics {
    syncs: AtomicU64,
    statements: AtomicU64,
    round_trips: AtomicU64,
    reruns: AtomicU64,
    /// When the verb in hand came, by connection.
    in_hand: Mutex<Vec<Option<Instant>>>,
}

impl Metrics {
    /// Counts for so many connections.
    pub fn new(connections: usize) -> Self {
        Self {
            syncs: AtomicU64::new(0),
            statements: AtomicU64::new(0),
            round_trips: AtomicU64::new(0),
            reruns: AtomicU64::new(0),
            in_hand: Mutex::new(vec![None; connections]),
        }
    }

    /// Counts a durable commit.
    pub fn synced(&self) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a statement.
    pub fn sent(&self) {
        self.statements.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a wait for an answer.
    pub fn waited(&self) {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a verb that is run again.
    pub fn ran_again(&self) {
        self.reruns.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes when the verb in hand came.
    pub fn hold(&self, connection: usize, since: Option<Instant>) {
        let mut all = self.in_hand.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = all.get_mut(connection) {
            *place = since;
        }
    }

    /// Returns how often a durable commit was synced.
    pub fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// Returns how many statements were sent, `BEGIN` and `COMMIT` included.
    pub fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    /// Returns how often an answer was waited for.
    pub fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }

    /// Returns how often a verb was run again.
    pub fn reruns(&self) -> u64 {
        self.reruns.load(Ordering::Relaxed)
    }

    /// Returns how long the oldest verb in hand has been waiting.
    pub fn lag(&self) -> Duration {
        let all = self.in_hand.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().flatten().min().map_or(Duration::ZERO, Instant::elapsed)
    }
}
