//! Whether the store takes writes: known to all of flow, said once per change.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::flow::desk::Desk;

/// How often an idle daemon looks whether its database is still there.
const LOOK: Duration = Duration::from_secs(10);

/// Notices, though nothing is written, that the database was deleted or replaced. Until the daemon stops.
pub(super) async fn watch_over(desk: Arc<Desk>) {
    let stop = desk.stop.work.clone();
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.cancelled() => return,
        }
        if let Err(error) = desk.ledger.in_place() {
            desk.trouble(&error);
        }
    }
}

/// Whether the store takes writes.
pub(super) struct Health(watch::Sender<bool>);

impl Default for Health {
    fn default() -> Self {
        Self(watch::channel(true).0)
    }
}

impl Health {
    /// Notes that a write failed; `true` when that is news.
    pub(super) fn broke(&self) -> bool {
        self.0.send_if_modified(|whole| std::mem::replace(whole, false))
    }

    /// Notes that a write was taken; `true` when that is news.
    pub(super) fn mended(&self) -> bool {
        // Every accepted batch comes by here: look before taking the write lock.
        !*self.0.borrow() && self.0.send_if_modified(|whole| !std::mem::replace(whole, true))
    }

    /// Whether the store takes writes, as far as is known.
    pub(super) fn is_whole(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns when the store takes writes.
    pub(super) async fn whole(&self) {
        // The sender lives in `self`, so the wait cannot fail.
        drop(self.0.subscribe().wait_for(|whole| *whole).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_news() {
        let health = Health::default();
        assert!(!health.mended());
        assert!(health.broke());
        assert!(!health.broke());
        assert!(!health.is_whole());
        assert!(health.mended());
        assert!(health.is_whole());
    }
}
