//! The one thread that writes: group commit, a savepoint per verb, syncs where a verb asks for one.
//!
//! Nothing waits to batch: while one batch is being synced the next one gathers. A verb's answer leaves
//! only after the COMMIT of its batch.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::check;
use super::gauge::Gauge;
use super::place::Place;
use super::tx::SqliteTx;
use super::wal::Wal;
use crate::engine::{Class, Job, Purge, Verb};
use crate::error::{Result, StoreError};

const MAX_VERBS: usize = 256;
const MAX_BYTES: usize = 2 << 20;
const IDLE: Duration = Duration::from_millis(50);

/// The handle to the writing thread. Dropping it ends the thread after the verbs it has.
#[derive(Debug)]
pub struct Writer {
    verbs: Option<Sender<Message>>,
    thread: Option<JoinHandle<()>>,
    gauge: Arc<Gauge>,
}

impl Writer {
    /// Starts the thread on the only connection that writes to the file at `path`.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(conn: Connection, path: &Path) -> Result<Self> {
        let (verbs, inbox) = channel();
        let gauge = Arc::new(Gauge::default());
        let bench = WriterThread {
            conn,
            inbox,
            gauge: Arc::clone(&gauge),
            place: Place::of(path),
            wal: Wal::new(check::log_of(path)),
            syncing: Class::Durable,
            closing: None,
        };
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || bench.work())
            .map_err(|e| StoreError::Broken(format!("no thread for the writer: {e}")))?;
        Ok(Self { verbs: Some(verbs), thread: Some(thread), gauge })
    }

    /// Takes a verb, to be run in a transaction and answered after its commit.
    pub fn take(&self, verb: Verb) {
        // Without a thread it is dropped, which says that the store is closed.
        drop(self.verbs.as_ref().map(|v| v.send(Message::Verb(verb))));
    }

    /// Takes older copies of what was taken back out of the files, when there is time.
    pub fn purge(&self, how: Purge) {
        // Without a thread there is no log either.
        drop(self.verbs.as_ref().map(|v| v.send(Message::Purge(how))));
    }

    /// Ends after the verbs that are there, with everything in the database file and its log gone.
    pub async fn close(&self) {
        let (answer, closed) = oneshot::channel();
        let sent = self.verbs.as_ref().is_some_and(|v| v.send(Message::Close(answer)).is_ok());
        // Closed before, or gone: nothing is left to do.
        if sent {
            drop(closed.await);
        }
    }

    /// Returns the counters.
    pub fn gauge(&self) -> &Gauge {
        &self.gauge
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.verbs.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's writer ended in a panic");
        }
    }
}

/// What the thread is sent.
enum Message {
    Verb(Verb),
    Purge(Purge),
    Close(oneshot::Sender<()>),
}

/// A verb of a batch, and why nothing of it is kept.
struct BatchEntry {
    verb: Verb,
    failed: Option<StoreError>,
}

/// What the thread owns.
struct WriterThread {
    conn: Connection,
    inbox: Receiver<Message>,
    gauge: Arc<Gauge>,
    place: Place,
    wal: Wal,
    syncing: Class,
    /// Who waits for the end.
    closing: Option<oneshot::Sender<()>>,
}

impl WriterThread {
    fn work(mut self) {
        while let Some(first) = self.next() {
            self.gauge.hold(Some(first.came));
            let batch = self.gather(first);
            self.carry_out(batch);
            self.gauge.hold(None);
        }
        let Self { conn, wal, closing, .. } = self;
        wal.end(conn);
        // Whoever asked for the end may have gone.
        closing.map(|answer| answer.send(()));
    }

    /// Waits for a verb; rests once when none comes for a while. `None` at the end.
    fn next(&mut self) -> Option<Verb> {
        while self.closing.is_none() {
            let soon = match self.wal.is_restless() {
                true => self.inbox.recv_timeout(IDLE),
                false => Err(RecvTimeoutError::Timeout),
            };
            let message = match soon {
                Ok(message) => message,
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    self.rest();
                    self.inbox.recv().ok()?
                }
            };
            if let Some(verb) = self.verb(message) {
                return Some(verb);
            }
        }
        None
    }

    fn verb(&mut self, message: Message) -> Option<Verb> {
        match message {
            Message::Verb(verb) => Some(verb),
            Message::Purge(how) => {
                self.wal.purge(how);
                None
            }
            Message::Close(answer) => {
                self.closing = Some(answer);
                None
            }
        }
    }

    fn rest(&mut self) {
        if !self.wal.is_restless() {
            return;
        }
        match self.wal.rest(&self.conn) {
            Ok(true) => self.gauge.count(Class::Relaxed),
            Ok(false) => {}
            Err(e) => tracing::warn!(error = %e, "the store could not be settled while idle"),
        }
    }

    fn gather(&mut self, first: Verb) -> Vec<BatchEntry> {
        let mut bytes = first.bytes;
        let mut batch = vec![BatchEntry { verb: first, failed: None }];
        while batch.len() < MAX_VERBS && bytes < MAX_BYTES {
            let Ok(message) = self.inbox.try_recv() else { break };
            let Some(verb) = self.verb(message) else { break };
            bytes += verb.bytes;
            batch.push(BatchEntry { verb, failed: None });
        }
        batch
    }

    fn carry_out(&mut self, mut batch: Vec<BatchEntry>) {
        let durable = batch.iter().any(|t| t.verb.class == Class::Durable);
        let class = if durable { Class::Durable } else { Class::Relaxed };
        let committed = self.transact(&mut batch, class);
        if let Err(e) = &committed {
            tracing::error!(error = %e, verbs = batch.len(), "the store could not commit");
            self.roll_back();
        }
        let bytes = batch.iter().map(|t| t.verb.bytes).sum();
        let committed = committed.map_err(|e| self.gauge.note(e));
        for BatchEntry { verb, failed } in batch {
            let own = failed.map_or(Ok(()), |e| Err(self.gauge.note(e)));
            verb.job.answer(committed.clone().and(own));
        }
        // After the answers: nobody waits for a checkpoint.
        self.wal.wrote(&self.conn, bytes);
    }

    fn transact(&mut self, batch: &mut [BatchEntry], class: Class) -> Result<()> {
        self.gauge.is_whole()?;
        self.place.is_there()?;
        self.sync_as(class)?;
        let before = self.conn.total_changes();
        run(&self.conn, "BEGIN IMMEDIATE")?;
        match batch {
            [alone] => {
                if !sole(&self.conn, alone)? {
                    return Ok(());
                }
            }
            _ => batch.iter_mut().try_for_each(|taken| one(&self.conn, taken))?,
        }
        run(&self.conn, "COMMIT")?;
        if self.conn.total_changes() == before {
            return Ok(());
        }
        match class {
            Class::Durable => self.gauge.count(Class::Durable),
            Class::Relaxed => self.wal.unsynced(),
        }
        if class == Class::Durable {
            self.wal.synced();
        }
        Ok(())
    }

    /// Switches syncing, between transactions and only when it changes.
    fn sync_as(&mut self, class: Class) -> Result<()> {
        if class != self.syncing {
            let level = if class == Class::Durable { "FULL" } else { "NORMAL" };
            self.conn.pragma_update(None, "synchronous", level)?;
            self.syncing = class;
        }
        Ok(())
    }

    fn roll_back(&self) {
        if !self.conn.is_autocommit()
            && let Err(e) = run(&self.conn, "ROLLBACK")
        {
            tracing::error!(error = %e, "the store could not roll back");
        }
    }
}

/// Runs the only verb of a batch: the transaction is its savepoint, which spares a copy of every page
/// it changes. Tells whether there is something to commit.
fn sole(conn: &Connection, taken: &mut BatchEntry) -> Result<bool> {
    if is_kept(conn, taken)? {
        return Ok(true);
    }
    run(conn, "ROLLBACK")?;
    Ok(false)
}

/// Runs one verb in its savepoint: an error takes back this verb alone, unless SQLite has already
/// taken back the whole transaction.
fn one(conn: &Connection, taken: &mut BatchEntry) -> Result<()> {
    run(conn, "SAVEPOINT verb")?;
    if !is_kept(conn, taken)? {
        run(conn, "ROLLBACK TO verb")?;
    }
    run(conn, "RELEASE verb")
}

/// Runs a verb and notes why it failed; whether what it did is to be kept.
fn is_kept(conn: &Connection, taken: &mut BatchEntry) -> Result<bool> {
    let job: &mut dyn Job = taken.verb.job.as_mut();
    let Err(e) = job.run(&mut SqliteTx::on(conn)) else { return Ok(true) };
    if conn.is_autocommit() {
        return Err(e);
    }
    taken.failed = Some(e);
    Ok(false)
}

fn run(conn: &Connection, sql: &str) -> Result<()> {
    conn.prepare_cached(sql)?.execute([])?;
    Ok(())
}
