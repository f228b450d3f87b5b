//! The ledger while the daemon runs: asked again until it takes what it is given, its trouble said when it comes and when it is over.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use selkie_channel_core::locked;
use tokio::sync::{Notify, watch};

use crate::delivery::outage::{News, Outage};
use crate::delivery::runtime::Runtime;
use crate::store::{Ledger, StoreError};

/// How often an idle daemon looks whether its database is still there.
const LOOK: Duration = Duration::from_secs(10);

/// The ledger, and whether it takes writes.
pub(crate) struct Storage {
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) health: Health,
    /// Something was stored, for whoever looks through it beside everything else.
    pub(crate) heard: Notify,
    /// A place goes on under another id.
    pub(crate) moved: Notify,
    outage: Mutex<Outage>,
    runtime: Arc<Runtime>,
}

impl Storage {
    /// A store that takes writes, as far as is known.
    pub(crate) fn new(ledger: Arc<dyn Ledger>, runtime: Arc<Runtime>) -> Self {
        Self {
            ledger,
            health: Health::default(),
            heard: Notify::new(),
            moved: Notify::new(),
            outage: Mutex::default(),
            runtime,
        }
    }

    /// Notes what a verb of the store answered instead of doing it. A broken store is said once, and
    /// asked again until it takes writes.
    pub(crate) fn trouble(self: &Arc<Self>, error: &StoreError) {
        if !matches!(error, StoreError::Broken(_)) {
            tracing::error!(%error, "the store refused a row");
            return;
        }
        let is_news = self.health.broke();
        self.tell(error);
        if is_news {
            let storage = Arc::clone(self);
            self.runtime.tracker.spawn(async move { storage.probe().await });
        }
    }

    /// Notes that the store took a write.
    pub(crate) fn stored(&self) {
        self.heard.notify_one();
        if !self.health.mended() {
            return;
        }
        let news = locked(&self.outage).over(self.runtime.clock.now());
        if let Some(News { seconds, .. }) = news {
            // As loud as the trouble was: who is told of it is told of its end.
            tracing::info!(seconds, "the store can write again");
        }
    }

    fn tell(&self, error: &StoreError) {
        let news = locked(&self.outage).there(self.runtime.clock.now());
        match news {
            None => {}
            Some(News { untold: 0, .. }) => {
                tracing::error!(%error, "nothing is acknowledged, run or sent until the store can write");
            }
            Some(News { untold, .. }) => {
                tracing::error!(%error, times_before = untold, "nothing is acknowledged, run or sent until the store can write");
            }
        }
    }

    /// Repeats a verb until the store takes it. `None` when the daemon stops first, or when the row
    /// is a defect that no repetition mends.
    pub(crate) async fn insist<T, F, V>(self: &Arc<Self>, mut verb: F) -> Option<T>
    where
        F: FnMut() -> V,
        V: Future<Output = Result<T, StoreError>>,
    {
        loop {
            match verb().await {
                Ok(done) => return Some(done),
                Err(error @ StoreError::Broken(_)) => self.trouble(&error),
                Err(error) => {
                    self.trouble(&error);
                    return None;
                }
            }
            tokio::select! {
                () = self.health.whole() => {}
                () = self.runtime.stop.work.cancelled() => return None,
            }
        }
    }

    /// Notices, though nothing is written, that the database was deleted or replaced. Until the daemon stops.
    pub(crate) async fn watch_over(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.runtime.stop.work.cancelled() => return,
            }
            let counted = locked(&self.outage).counted(self.runtime.clock.now());
            if let Some(times) = counted {
                tracing::error!(times, "the store could not write for moments, and can again");
            }
            if let Err(error) = self.ledger.in_place() {
                self.trouble(&error);
            }
        }
    }

    async fn probe(&self) {
        let mut wait = Duration::from_millis(500);
        while !self.health.is_whole() {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.runtime.stop.work.cancelled() => return,
            }
            wait = (wait * 2).min(Duration::from_secs(30));
            match self.ledger.healthy().await {
                Ok(()) => self.stored(),
                Err(error) => self.tell(&error),
            }
        }
    }
}

/// Whether the store takes writes.
pub(crate) struct Health(watch::Sender<bool>);

impl Default for Health {
    fn default() -> Self {
        Self(watch::channel(true).0)
    }
}

impl Health {
    /// Notes that a write failed; `true` when that is news.
    pub(crate) fn broke(&self) -> bool {
        self.0.send_if_modified(|whole| std::mem::replace(whole, false))
    }

    /// Notes that a write was taken; `true` when that is news.
    pub(crate) fn mended(&self) -> bool {
        // Every accepted batch comes by here: look before taking the write lock.
        !*self.0.borrow() && self.0.send_if_modified(|whole| !std::mem::replace(whole, true))
    }

    /// Whether the store takes writes, as far as is known.
    pub(crate) fn is_whole(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns when the store takes writes.
    pub(crate) async fn whole(&self) {
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
