//! The open connections of one listener: counted, and at the most the idlest one makes room.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The connections of one listener.
pub(super) struct Seats {
    most: usize,
    inner: Mutex<Inner>,
    freed: Notify,
}

#[derive(Default)]
struct Inner {
    last: u64,
    taken: BTreeMap<u64, Taken>,
}

struct Taken {
    /// Since when it waits for a request; `None` while one is answered.
    idle: Option<Instant>,
    leave: CancellationToken,
}

/// One connection's seat, free again when it is dropped.
pub(super) struct Seat {
    seats: Arc<Seats>,
    number: u64,
    /// Cancelled when another connection needs the seat.
    pub(super) leave: CancellationToken,
}

/// A request that is answered: meanwhile its connection makes room for nobody.
pub(super) struct Busy(Arc<Seat>);

impl Seats {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: most.max(1), inner: Mutex::default(), freed: Notify::new() })
    }

    /// Waits for a seat. The connection that has waited longest for a request leaves for it.
    pub(super) async fn take(self: &Arc<Self>) -> Seat {
        loop {
            let mut freed = pin!(self.freed.notified());
            // A seat that is freed after the look below is not missed.
            freed.as_mut().enable();
            if let Some(seat) = self.try_take() {
                return seat;
            }
            freed.await;
        }
    }

    fn try_take(self: &Arc<Self>) -> Option<Seat> {
        let mut inner = self.inner();
        if inner.taken.len() >= self.most {
            let idle = inner.taken.values().filter_map(|t| t.idle.map(|since| (since, &t.leave)));
            if let Some((_, leave)) = idle.min_by_key(|(since, _)| *since) {
                leave.cancel();
            }
            return None;
        }
        inner.last += 1;
        let (number, leave) = (inner.last, CancellationToken::new());
        inner.taken.insert(number, Taken { idle: Some(Instant::now()), leave: leave.clone() });
        Some(Seat { seats: Arc::clone(self), number, leave })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Marks the seat as needed until what is returned is dropped.
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        self.mark(None);
        Busy(Arc::clone(self))
    }

    fn mark(&self, idle: Option<Instant>) {
        if let Some(taken) = self.seats.inner().taken.get_mut(&self.number) {
            taken.idle = idle;
        }
        // Whoever waits may find somebody idle now.
        if idle.is_some() {
            self.seats.freed.notify_one();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.inner().taken.remove(&self.number);
        self.seats.freed.notify_one();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.mark(Some(Instant::now()));
    }
}
