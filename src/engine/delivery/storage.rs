//! The ledger while the daemon runs: asked again until it takes what it is given, its trouble said when it comes and when it is over.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use selkie_channel_core::locked;
use tokio::sync::{Notify, watch};

use crate::delivery::outage::{News, Outage};
use crate::delivery::runtime::Runtime;
use selkie_store::{Ledger, StoreError};

/// How often an idle daemon looks whether its database is still there.
const LOOK: Duration = Duration::from_secs(5);
/// How often one looks whether trouble is over.
const SOON: Duration = Duration::from_secs(1);
/// What has had no answer for so long is told.
const SILENT: Duration = Duration::from_secs(5);

/// The ledger, and whether it takes writes.
pub struct Storage {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    pub(crate) health: Health,
    /// Something was stored, for whoever looks through it beside everything else.
    pub heard: Notify,
    /// A place goes on under another id.
    pub moved: Notify,
    outage: Mutex<Outage>,
    runtime: Arc<Runtime>,
}

impl Storage {
    /// A store that takes writes, as far as is known.
    pub fn new(ledger: Arc<dyn Ledger>, runtime: Arc<Runtime>) -> Self {
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
    pub fn trouble(self: &Arc<Self>, error: &StoreError) {
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
    pub fn stored(&self) {
        self.heard.notify_one();
        self.health.mended();
    }

    /// Says why nothing can be written, or what has had no answer for long, while that is so.
    pub fn why(&self) -> Option<String> {
        let failed = locked(&self.outage).why().map(str::to_owned);
        failed.or_else(|| silence(&*self.ledger))
    }

    fn tell(&self, error: &StoreError) {
        let news = locked(&self.outage).there(self.runtime.clock.now(), &error.to_string());
        if let Some(News { seconds, times }) = news {
            tracing::error!(%error, seconds, times, "the store cannot be written to: what waits for it is tried again, and nothing is acknowledged before it is stored");
        }
    }

    /// Repeats a verb until the store takes it. `None` when the daemon stops first, or when the row
    /// is a defect that no repetition mends.
    pub async fn insist<'a, T, F, V>(self: &'a Arc<Self>, mut verb: F) -> Option<T>
    where
        F: FnMut(&'a dyn Ledger) -> V,
        V: Future<Output = Result<T, StoreError>>,
    {
        loop {
            match verb(&*self.ledger).await {
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

    /// Notices what nobody else does: a database that was deleted or replaced while nothing is written, one that does not
    /// answer, and the end of trouble. Until the daemon stops.
    pub async fn watch_over(self: Arc<Self>) {
        let mut is_silent = false;
        loop {
            let soon = self.health.is_whole() && locked(&self.outage).why().is_some();
            tokio::select! {
                () = tokio::time::sleep(if soon { SOON } else { LOOK }) => {}
                () = self.runtime.stop.work.cancelled() => return,
            }
            if let Err(error) = self.ledger.in_place() {
                self.trouble(&error);
            }
            self.tell_end();
            let silence = silence(&*self.ledger);
            if let Some(says) = silence.as_deref().filter(|_| !is_silent) {
                tracing::error!(says, "the store does not answer: what waits for it waits on");
            }
            // What was given up owes nothing any more, and proves nothing.
            let is_over = silence.is_none() && self.health.is_whole();
            if is_silent && is_over {
                tracing::info!("the store answers again");
            }
            is_silent = (is_silent || silence.is_some()) && !is_over;
        }
    }

    /// As loud as the trouble was: who is told of it is told of its end.
    fn tell_end(&self) {
        if !self.health.is_whole() {
            return;
        }
        let over = locked(&self.outage).over(self.runtime.clock.now());
        if let Some(News { seconds, times }) = over {
            tracing::info!(seconds, times, "the store can write again");
        }
    }

    async fn probe(&self) {
        let mut wait = Duration::from_millis(500);
        while !self.health.is_whole() {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.runtime.stop.work.cancelled() => return,
            }
            wait = (wait * 2).min(LOOK);
            match self.ledger.healthy().await {
                Ok(()) => self.stored(),
                Err(error) => self.tell(&error),
            }
        }
    }
}

/// Says since when the store owes an answer, when that is long.
fn silence(ledger: &dyn Ledger) -> Option<String> {
    let lag = ledger.lag();
    (lag >= SILENT).then(|| format!("it has not answered for {} s", lag.as_secs()))
}

/// Whether the store takes writes.
pub struct Health(watch::Sender<bool>);

impl Default for Health {
    fn default() -> Self {
        Self(watch::channel(true).0)
    }
}

impl Health {
    /// Notes that a write failed; `true` when that is news.
    pub fn broke(&self) -> bool {
        self.0.send_if_modified(|whole| std::mem::replace(whole, false))
    }

    /// Notes that a write was taken; `true` when that is news.
    pub fn mended(&self) -> bool {
        // Every accepted batch comes by here: look before taking the write lock.
        !*self.0.borrow() && self.0.send_if_modified(|whole| !std::mem::replace(whole, true))
    }

    /// Whether the store takes writes, as far as is known.
    pub fn is_whole(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns when the store takes writes.
    pub async fn whole(&self) {
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
