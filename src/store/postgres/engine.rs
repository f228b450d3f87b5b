//! The ledger's second engine: hands verbs to threads, each with a connection of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use async_trait::async_trait;
use rustls::ClientConfig;
use tokio::sync::oneshot;

use super::address::Address;
use super::lane::{Lane, Order};
use super::metrics::Metrics;
use super::schema;
use super::session::Session;
use super::shared::ConnectionSettings;
use super::tls::Tls;
use super::transaction::Turn;
use crate::database::Opener;
use crate::engine::{Engine, Job, Purge, Verb};
use crate::error::{Result, StoreError};
use crate::sqlite::StoreLock;

/// So many connections write, so many only read.
const WRITERS: usize = 4;
const READERS: usize = 2;

/// The ledger in a PostgreSQL database. Dropping it finishes the verbs it was given.
pub struct Postgres {
    shared: Arc<ConnectionSettings>,
    lanes: Vec<Sender<Order>>,
    readers: Vec<Sender<Order>>,
    next_reader: AtomicUsize,
    threads: Vec<JoinHandle<()>>,
    /// Freed last.
    folder: Option<StoreLock>,
}

impl Postgres {
    /// Opens the database, makes its tables or brings them to today's version, and takes it for this instance.
    ///
    /// # Errors
    /// `Away` when nobody answers or who answers is a replica, `Held` when another selkie has it, `Newer` when a newer
    /// selkie wrote it, `Damaged` when it must not be used as it is, `Broken` otherwise.
    pub fn open(address: Address, owner: Opener, tls: &ClientConfig) -> Result<Self> {
        let metrics = Metrics::new(WRITERS + READERS);
        Self::over(ConnectionSettings::new(address, Tls::new(tls), owner, metrics))
    }

    /// The same over what connections have in common.
    pub(super) fn over(shared: ConnectionSettings) -> Result<Self> {
        let shared = Arc::new(shared);
        let mut all = Self {
            shared,
            lanes: Vec::new(),
            readers: Vec::new(),
            next_reader: AtomicUsize::new(0),
            threads: Vec::new(),
            folder: None,
        };
        let shared = Arc::clone(&all.shared);
        // Whoever calls may be in a runtime, where nothing may wait.
        let opened =
            std::thread::scope(|scope| scope.spawn(move || schema::open(&shared, WRITERS)).join());
        let opened = opened.map_err(|_| StoreError::Broken("opening panicked".to_owned()))??;
        let mut sessions = opened.sessions.into_iter();
        for (slot, last) in (0..WRITERS).zip(opened.turns) {
            let instance = all.shared.owner.instance.clone();
            let turn = Turn { slot: i64::try_from(slot).unwrap_or_default(), instance, last };
            let lane = all.start(slot, sessions.next(), Some(turn))?;
            all.lanes.push(lane);
        }
        for place in WRITERS..WRITERS + READERS {
            let reader = all.start(place, None, None)?;
            all.readers.push(reader);
        }
        Ok(all)
    }

    /// Holds the lock of a state folder for as long as the database.
    #[must_use]
    pub fn with_folder(mut self, folder: Option<StoreLock>) -> Self {
        self.folder = folder;
        self
    }

    fn start(
        &mut self,
        place: usize,
        session: Option<Session>,
        turn: Option<Turn>,
    ) -> Result<Sender<Order>> {
        let (orders, inbox): (Sender<Order>, Receiver<Order>) = channel();
        let lane = Lane::new(Arc::clone(&self.shared), inbox, place, session, turn);
        let thread = std::thread::Builder::new()
            .name(format!("store-{place}"))
            .spawn(move || lane.work())
            .map_err(|e| StoreError::Broken(format!("no thread for a connection: {e}")))?;
        self.threads.push(thread);
        Ok(orders)
    }

    /// Returns how many statements were sent, and how often an answer was waited for.
    pub fn traffic(&self) -> Traffic {
        let metrics = &self.shared.metrics;
        Traffic {
            statements: metrics.statements.get(),
            round_trips: metrics.round_trips.get(),
            reruns: metrics.reruns.get(),
        }
    }
}

/// What has gone to and fro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Statements, `BEGIN` and `COMMIT` included.
    pub statements: u64,
    /// Waits for an answer.
    pub round_trips: u64,
    /// Verbs that were run again.
    pub reruns: u64,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").field("address", &self.shared.address).finish_non_exhaustive()
    }
}

#[async_trait]
impl Engine for Postgres {
    fn write(&self, verb: Verb) {
        let count = self.lanes.len().max(1) as u64;
        let lane = usize::try_from(verb.key.0 % count).unwrap_or_default();
        // A job that is dropped says that the store is closed.
        drop(self.lanes.get(lane).map(|lane| lane.send(Order::Write(verb))));
    }

    async fn read(&self, job: Box<dyn Job>) {
        let next = self.next_reader.fetch_add(1, Ordering::Relaxed) % self.readers.len().max(1);
        drop(self.readers.get(next).map(|reader| reader.send(Order::Read(job))));
    }

    fn purge(&self, _: Purge) {
        // Deleted rows are overwritten by the server when it vacuums; there is no log of ours.
    }

    fn syncs(&self) -> u64 {
        self.shared.metrics.syncs.get()
    }

    fn lag(&self) -> Duration {
        self.shared.metrics.lag()
    }

    async fn close(&self) {
        let ends = self.readers.iter().chain(&self.lanes).map(|lane| {
            let (done, ended) = oneshot::channel();
            // A lane that has ended has nothing left to do.
            drop(lane.send(Order::Close(done)));
            ended
        });
        for ended in ends.collect::<Vec<_>>() {
            drop(ended.await);
        }
    }

    fn in_place(&self) -> Result<()> {
        if let Some(folder) = &self.folder {
            folder.look();
        }
        self.shared.is_there()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.readers.clear();
        self.lanes.clear();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the store ended in a panic");
            }
        }
    }
}
