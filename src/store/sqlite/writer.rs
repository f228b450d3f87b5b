//! The one thread that writes: group commit, a savepoint per verb, syncs where a verb asks for one.
//!
//! Nothing waits to batch: while one batch is being synced the next one gathers. A verb's answer leaves
//! only after the COMMIT of its batch.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::check;
use super::gauge::Gauge;
use super::place::Place;
use super::wal::Wal;
use crate::store::{Result, StoreError};

const MOST_VERBS: usize = 256;
const MOST_BYTES: usize = 2 << 20;
const IDLE: Duration = Duration::from_millis(50);

/// What a power failure may take back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing: synced before the verb answers.
    Durable,
    /// This verb, until the next sync. `kill -9` takes nothing.
    Relaxed,
}

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
        let bench = Bench {
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

    /// Runs one verb in a transaction and answers after its commit. `bytes` is about what it writes.
    ///
    /// # Errors
    /// The verb's own, or `Broken` when the batch could not be committed.
    pub async fn run<T, F>(&self, class: Class, bytes: usize, verb: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job = Box::new(Typed { verb: Some(verb), result: None, answer });
        let verb = Message::Verb(Verb { class, bytes, came: Instant::now(), job });
        let gone = || StoreError::Broken("the store is closed".to_owned());
        self.verbs.as_ref().and_then(|v| v.send(verb).ok()).ok_or_else(gone)?;
        answered.await.map_err(|_| gone())?
    }

    /// Empties the log as soon as there is time: what was taken back stands in its older pages.
    pub fn purge(&self) {
        // Without a thread there is no log either.
        drop(self.verbs.as_ref().map(|v| v.send(Message::Purge)));
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
    Purge,
    Close(oneshot::Sender<()>),
}

struct Verb {
    class: Class,
    bytes: usize,
    came: Instant,
    job: Box<dyn Job>,
}

/// A verb without its type: run once, answered once.
trait Job: Send {
    fn run(&mut self, conn: &Connection) -> Result<()>;
    fn answer(self: Box<Self>, committed: Result<()>, gauge: &Gauge);
}

struct Typed<T, F> {
    verb: Option<F>,
    result: Option<Result<T>>,
    answer: oneshot::Sender<Result<T>>,
}

impl<T: Send, F: FnOnce(&Connection) -> Result<T> + Send> Job for Typed<T, F> {
    fn run(&mut self, conn: &Connection) -> Result<()> {
        let Some(verb) = self.verb.take() else { return Ok(()) };
        let result = verb(conn);
        let outcome = result.as_ref().map(|_| ()).map_err(Clone::clone);
        self.result = Some(result);
        outcome
    }

    fn answer(self: Box<Self>, committed: Result<()>, gauge: &Gauge) {
        let Self { result, answer, .. } = *self;
        let result = committed.and_then(|()| {
            result.unwrap_or_else(|| Err(StoreError::Broken("the verb was not run".to_owned())))
        });
        let result = result.map_err(|e| gauge.note(e));
        // Nobody waits any more when the caller was cancelled; the verb stands all the same.
        drop(answer.send(result));
    }
}

/// What the thread owns.
struct Bench {
    conn: Connection,
    inbox: Receiver<Message>,
    gauge: Arc<Gauge>,
    place: Place,
    wal: Wal,
    syncing: Class,
    /// Who waits for the end.
    closing: Option<oneshot::Sender<()>>,
}

impl Bench {
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
            Message::Purge => {
                self.wal.purge();
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

    fn gather(&mut self, first: Verb) -> Vec<Verb> {
        let mut bytes = first.bytes;
        let mut batch = vec![first];
        while batch.len() < MOST_VERBS && bytes < MOST_BYTES {
            let Ok(message) = self.inbox.try_recv() else { break };
            let Some(verb) = self.verb(message) else { break };
            bytes += verb.bytes;
            batch.push(verb);
        }
        batch
    }

    fn carry_out(&mut self, mut batch: Vec<Verb>) {
        let durable = batch.iter().any(|v| v.class == Class::Durable);
        let class = if durable { Class::Durable } else { Class::Relaxed };
        let committed = self.transact(&mut batch, class);
        if let Err(e) = &committed {
            tracing::error!(error = %e, verbs = batch.len(), "the store could not commit");
            self.roll_back();
        }
        let bytes = batch.iter().map(|v| v.bytes).sum();
        let committed = committed.map_err(|e| self.gauge.note(e));
        for verb in batch {
            verb.job.answer(committed.clone(), &self.gauge);
        }
        // After the answers: nobody waits for a checkpoint.
        self.wal.wrote(&self.conn, bytes);
    }

    fn transact(&mut self, batch: &mut [Verb], class: Class) -> Result<()> {
        self.gauge.is_whole()?;
        self.place.is_there()?;
        self.sync_as(class)?;
        let before = self.conn.total_changes();
        run(&self.conn, "BEGIN IMMEDIATE")?;
        match batch {
            [alone] => {
                if !sole(&self.conn, alone.job.as_mut())? {
                    return Ok(());
                }
            }
            _ => batch.iter_mut().try_for_each(|v| one(&self.conn, v.job.as_mut()))?,
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
fn sole(conn: &Connection, job: &mut dyn Job) -> Result<bool> {
    let Err(e) = job.run(conn) else { return Ok(true) };
    if conn.is_autocommit() {
        return Err(e);
    }
    run(conn, "ROLLBACK")?;
    Ok(false)
}

/// Runs one verb in its savepoint: an error takes back this verb alone, unless SQLite has already
/// taken back the whole transaction.
fn one(conn: &Connection, job: &mut dyn Job) -> Result<()> {
    run(conn, "SAVEPOINT verb")?;
    if let Err(e) = job.run(conn) {
        if conn.is_autocommit() {
            return Err(e);
        }
        run(conn, "ROLLBACK TO verb")?;
    }
    run(conn, "RELEASE verb")
}

fn run(conn: &Connection, sql: &str) -> Result<()> {
    conn.prepare_cached(sql)?.execute([])?;
    Ok(())
}
