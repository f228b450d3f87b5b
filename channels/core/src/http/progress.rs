//! How much of a body has not been handed to the connection yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much of a body is left. Clones count the same body.
#[derive(Clone, Debug)]
pub struct Progress {
    left: Arc<AtomicU64>,
}

impl Progress {
    /// Begins with a body of so many bytes.
    pub fn of(bytes: u64) -> Self {
        Self { left: Arc::new(AtomicU64::new(bytes)) }
    }

    /// Notes that so many bytes more were handed over.
    pub fn hand_over(&self, bytes: u64) {
        let left = self.left.load(Ordering::Acquire);
        self.left.store(left.saturating_sub(bytes), Ordering::Release);
    }

    /// Whether every byte was handed over: only then may the platform have it.
    pub fn is_complete(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }
}
