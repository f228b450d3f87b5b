//! A demo's way into the future: the clock goes from one due time to the next, and waits at each until all that came of
//! it is done.

use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::sync::{Mutex, broadcast};
use tokio::time::timeout;

use crate::app::App;
use crate::demo::{ClockMove, Movable};
use selkie_domain::clock::Clock as _;
use selkie_domain::event::Event;
use selkie_schedule::movable::MovableClocks;
use selkie_schedule::travel::destination;
use selkie_schedule::words::moment;
use selkie_store::Ledger;

/// How long one due time may take.
const TIMEOUT: Duration = Duration::from_secs(120);
/// What is passed over tells nobody: the store is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Where the next due time is meant, whenever that is.
pub const NEXT: &str = "next";

/// Moves a demo's clock.
pub struct Traveller {
    app: Arc<App>,
    clocks: Arc<MovableClocks>,
    /// One moves at a time.
    moves: Mutex<()>,
}

/// Where the clock stands after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What it showed when it had been moved.
    pub at: DateTime<Utc>,
    /// Whether something came due.
    pub due: bool,
    /// Whether a task failed.
    pub failed: bool,
}

impl Traveller {
    /// Moves the clocks of a started demo.
    pub fn new(app: Arc<App>, clocks: Arc<MovableClocks>) -> Self {
        Self { app, clocks, moves: Mutex::default() }
    }

    /// Returns what the clock shows.
    pub fn now(&self) -> DateTime<Utc> {
        self.clocks.now()
    }

    /// Shows a moment.
    pub fn shown(&self, at: DateTime<Utc>) -> String {
        moment(at, self.app.plan.zone)
    }

    /// Reads where to go: what [`destination`] takes, or `next`.
    ///
    /// # Errors
    /// In words, for whoever wrote it.
    pub async fn read(&self, written: &str) -> anyhow::Result<DateTime<Utc>> {
        if written.trim() != NEXT {
            return destination(written, self.app.plan.zone, self.now())
                .map_err(anyhow::Error::msg);
        }
        let next = self.app.ledger.upcoming(self.now()).await?.next;
        next.ok_or_else(|| anyhow!("nothing is to come: make a schedule first"))
    }

    /// Goes to the next due time, or to `until` when there is none before it, and waits until all is done.
    ///
    /// # Errors
    /// When the store cannot be read, or what came due is not done after two minutes.
    pub async fn step(&self, until: DateTime<Utc>) -> anyhow::Result<Stop> {
        let _alone = self.moves.lock().await;
        let events = self.app.events.listen();
        let next = self.app.ledger.upcoming(self.now()).await?.next;
        let at = next.map_or(until, |next| next.min(until)).max(self.now());
        self.clocks.forward_to(at);
        let late = || {
            let at = self.shown(at);
            let seconds = TIMEOUT.as_secs();
            anyhow!("what came due at {at} is not done after {seconds} s")
        };
        let settled = timeout(TIMEOUT, self.settled(at, events)).await;
        let failed = settled.map_err(|_| late())??;
        Ok(Stop { at, due: next.is_some_and(|next| next <= at), failed })
    }

    /// Waits until nothing that was due at `at` is left to do. Returns whether a task failed.
    async fn settled(
        &self,
        at: DateTime<Utc>,
        mut events: broadcast::Receiver<Event>,
    ) -> anyhow::Result<bool> {
        let mut failed = false;
        loop {
            let now = at.max(self.now());
            let looks = self.app.flow.rests.borrow().is_some_and(|looks| looks <= now);
            if !looks && !self.app.ledger.upcoming(now).await?.due {
                return Ok(failed);
            }
            // One that was missed is made up for by the store.
            if let Ok(Ok(event)) = timeout(LOOK, events.recv()).await {
                failed |= has_failed(&event);
            }
        }
    }
}

#[async_trait]
impl Movable for Traveller {
    fn zone(&self) -> String {
        self.app.plan.zone.name().to_owned()
    }

    async fn step(&self, to: &str) -> Result<ClockMove, String> {
        let until = self.read(to).await.map_err(|why| why.to_string())?;
        let stop = Self::step(self, until).await.map_err(|why| why.to_string())?;
        Ok(ClockMove { now: self.now(), until, due: stop.due })
    }
}

/// Whether nothing is left to do by itself.
pub async fn idle(ledger: &dyn Ledger) -> anyhow::Result<bool> {
    let counts = ledger.counts().await?;
    let done = counts.waiting + counts.running + counts.queued + counts.sending == 0;
    // What became of a post is told when it is there.
    Ok(done && ledger.untold_posts().await?.is_empty())
}

/// Whether it tells that a task failed.
pub fn has_failed(event: &Event) -> bool {
    matches!(event, Event::Ended { state, .. } if state == "failed")
}
