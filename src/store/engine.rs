//! What carries verbs out: the part of a ledger that is another for each database.

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::sync::oneshot;

use crate::error::{Result, StoreError};
use crate::tx::Tx;

/// How what was taken back leaves a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purge {
    /// The log is emptied as soon as there is time.
    Log,
    /// The same, and pages are written anew before the store is closed: where rows were moved from one page to
    /// another, copies stand in what nothing uses.
    Pages,
    /// Pages are written anew as soon as there is time.
    PagesSoon,
}

/// A database that runs verbs in transactions.
#[async_trait]
pub trait Engine: Debug + Send + Sync {
    /// Takes a verb to be run in a transaction. Its job is answered after the commit; one that is dropped unanswered
    /// says that the store is closed.
    fn write(&self, verb: Verb);

    /// Runs a job that only reads, in one snapshot, beside the writers.
    async fn read(&self, job: Box<dyn Job>);

    /// What was taken back does not stay where a file keeps older copies of it.
    fn purge(&self, how: Purge);

    /// Returns how many durable commits were synced.
    fn syncs(&self) -> u64;

    /// Returns how long the oldest verb in hand has been waiting.
    fn lag(&self) -> Duration;

    /// Ends after the verbs that it was given; what is asked later is refused.
    async fn close(&self);

    /// Checks, without a write, that what was opened is still there.
    ///
    /// # Errors
    /// `Broken` when it is not.
    fn in_place(&self) -> Result<()>;
}

/// What a power failure may take back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing: synced before the verb answers.
    Durable,
    /// This verb, until the next sync. `kill -9` takes nothing.
    Relaxed,
}

/// Verbs of the same key are carried out one after another, in the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub u64);

impl Key {
    /// Any order will do.
    pub const ANY: Self = Self(0);

    /// Makes the key of what is named so: an account, a conversation, a task's number.
    pub fn of(name: &(impl Hash + ?Sized)) -> Self {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// A verb on its way to the engine.
pub struct Verb {
    /// What a power failure may take back of it.
    pub class: Class,
    /// About how many bytes it writes.
    pub bytes: usize,
    /// What it must not overtake.
    pub key: Key,
    /// When it was asked for.
    pub came: Instant,
    /// What it does.
    pub job: Box<dyn Job>,
}

/// A verb without its types: run until a commit holds, answered once.
pub trait Job: Send {
    /// Runs it in a transaction. What an earlier run came to is forgotten.
    ///
    /// # Errors
    /// The verb's own: then nothing of it may be committed.
    fn run(&mut self, tx: &mut dyn Tx) -> Result<()>;

    /// Answers who asked: with what the last run came to, or with the error.
    fn answer(self: Box<Self>, committed: Result<()>);
}

/// Makes a job of a verb, and the place where its answer comes.
pub fn job<T, F>(verb: F) -> (Box<dyn Job>, Answer<T>)
where
    T: Send + 'static,
    F: Fn(&mut dyn Tx) -> Result<T> + Send + 'static,
{
    let (answer, answered) = oneshot::channel();
    (Box::new(TypedJob { verb, result: None, answer }), Answer(answered))
}

/// The answer of a job that an engine was given.
#[derive(Debug)]
pub struct Answer<T>(oneshot::Receiver<Result<T>>);

impl<T> Answer<T> {
    /// Waits for it.
    ///
    /// # Errors
    /// The verb's own, that of its commit, or `Broken` when the engine has ended.
    pub async fn wait(self) -> Result<T> {
        let closed = |_| StoreError::Broken("the store is closed".to_owned());
        self.0.await.map_err(closed)?
    }
}

impl<T: Send> Answer<T> {
    /// Waits for it on a thread that may be one of a runtime's: it stands still meanwhile.
    ///
    /// # Errors
    /// As [`Answer::wait`].
    pub fn wait_here(self) -> Result<T> {
        let closed = || StoreError::Broken("the store is closed".to_owned());
        let answer = std::thread::scope(|scope| scope.spawn(|| self.0.blocking_recv()).join());
        answer.map_err(|_| closed())?.map_err(|_| closed())?
    }
}

struct TypedJob<T, F> {
    verb: F,
    result: Option<T>,
    answer: oneshot::Sender<Result<T>>,
}

impl<T, F> Job for TypedJob<T, F>
where
    T: Send,
    F: Fn(&mut dyn Tx) -> Result<T> + Send,
{
    fn run(&mut self, tx: &mut dyn Tx) -> Result<()> {
        self.result = None;
        self.result = Some((self.verb)(tx)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<()>) {
        let Self { result, answer, .. } = *self;
        let not_run = || StoreError::Broken("the verb was not run".to_owned());
        let result = committed.and_then(|()| result.ok_or_else(not_run));
        // Nobody waits any more when the caller was cancelled; the verb stands all the same.
        drop(answer.send(result));
    }
}
