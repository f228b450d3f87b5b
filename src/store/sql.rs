//! The ledger in SQL: its ports' verbs, over whatever engine runs them.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, Utc};

use crate::engine::{Class, Engine, Key, Verb, job};
use crate::error::Result;
use crate::tx::Tx;
use selkie_domain::clock::SharedClock;

/// A ledger over an engine.
#[derive(Clone)]
pub struct SqlLedger {
    engine: Arc<dyn Engine>,
    clock: SharedClock,
}

/// How a verb is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    class: Class,
    bytes: usize,
    key: Key,
}

impl Plan {
    /// Nothing of it may be lost.
    pub const DURABLE: Self = Self { class: Class::Durable, bytes: 0, key: Key::ANY };
    /// The power may take it back.
    pub const RELAXED: Self = Self { class: Class::Relaxed, bytes: 0, key: Key::ANY };

    /// Of this class.
    pub fn of(class: Class) -> Self {
        Self { class, ..Self::RELAXED }
    }

    /// It writes about so many bytes.
    pub fn bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// It overtakes nothing that has the same name.
    pub fn after(self, name: &(impl Hash + ?Sized)) -> Self {
        Self { key: Key::of(name), ..self }
    }
}

impl SqlLedger {
    /// Takes an engine, and the time for the verbs that are not handed one.
    pub fn over(engine: Arc<dyn Engine>, clock: SharedClock) -> Self {
        Self { engine, clock }
    }

    /// The same by another clock.
    #[must_use]
    pub fn by(self, clock: SharedClock) -> Self {
        Self { clock, ..self }
    }

    /// Returns the engine.
    pub fn engine(&self) -> &dyn Engine {
        self.engine.as_ref()
    }

    /// Returns the time.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Runs a verb in a transaction and returns what it came to after its commit.
    ///
    /// # Errors
    /// The verb's own, or `Broken` when it could not be committed.
    pub async fn write<T, F>(&self, plan: Plan, verb: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(&mut dyn Tx) -> Result<T> + Send + 'static,
    {
        let (job, answer) = job(verb);
        let Plan { class, bytes, key } = plan;
        self.engine.write(Verb { class, bytes, key, came: Instant::now(), job });
        answer.wait().await
    }

    /// Reads in one snapshot, beside the writers.
    ///
    /// # Errors
    /// The query's own, or `Broken` when nothing can be read.
    pub(crate) async fn read<T, F>(&self, query: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(&mut dyn Tx) -> Result<T> + Send + 'static,
    {
        let (job, answer) = job(query);
        self.engine.read(job).await;
        answer.wait().await
    }
}
