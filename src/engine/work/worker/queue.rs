//! Lanes that are ready, in turn, and the rights to run their tasks.

use std::collections::{HashSet, VecDeque};

use chrono::{DateTime, Utc};
use tokio::sync::OwnedSemaphorePermit;

use selkie_domain::task::Lane;

/// Lanes that wait for a worker.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) lanes: VecDeque<Lane>,
    /// Those of them that got work since they were last looked into for an owner's.
    unseen: Unseen,
    /// Lanes whose task may be what killed the process, again and again: each runs with nothing beside it.
    pub(super) suspects: VecDeque<Lane>,
    queued: HashSet<Lane>,
    pub(super) wake_at: Option<DateTime<Utc>>,
    /// Ask the ledger for ready lanes.
    pub(super) look: bool,
}

/// Lanes in order, each once.
#[derive(Default)]
struct Unseen {
    lanes: VecDeque<Lane>,
    known: HashSet<Lane>,
}

/// A right to run one task, until it is dropped.
pub(super) struct Permit {
    /// An owner's, and nobody else's.
    pub(super) is_kept: bool,
    _slot: OwnedSemaphorePermit,
}

impl Permit {
    pub(super) fn any(slot: OwnedSemaphorePermit) -> Self {
        Self { is_kept: false, _slot: slot }
    }

    pub(super) fn kept(slot: OwnedSemaphorePermit) -> Self {
        Self { is_kept: true, _slot: slot }
    }
}

impl Queue {
    /// Nothing is known yet: the ledger is asked.
    pub(super) fn new() -> Self {
        Self { look: true, ..Self::default() }
    }

    /// The lane that is next for a permit. One that was seen for an owner's stays in its place for anybody's.
    pub(super) fn next(&mut self, permit: &Permit) -> Option<Lane> {
        if !permit.is_kept {
            let lane = self.lanes.pop_front()?;
            self.queued.remove(&lane);
            if self.lanes.is_empty() {
                self.unseen = Unseen::default();
            }
            return Some(lane);
        }
        while let Some(lane) = self.unseen.lanes.pop_front() {
            self.unseen.known.remove(&lane);
            if self.queued.contains(&lane) {
                return Some(lane);
            }
        }
        None
    }

    /// Whether a lane got work that nobody has looked into for an owner's.
    pub(super) fn has_unseen(&self) -> bool {
        !self.unseen.lanes.is_empty()
    }

    /// A lane whose task was claimed out of its turn waits no more.
    pub(super) fn leave(&mut self, lane: &Lane) {
        if self.queued.remove(lane) {
            self.lanes.retain(|waiting| waiting != lane);
        }
    }

    pub(super) fn push(&mut self, lane: Lane) {
        if self.unseen.known.insert(lane.clone()) {
            self.unseen.lanes.push_back(lane.clone());
        }
        if self.queued.insert(lane.clone()) {
            self.lanes.push_back(lane);
        }
    }
}
