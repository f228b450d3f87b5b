//! What all connections of a store have in common: where to, for whom, and whether the database is there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::address::Address;
use super::inspect;
use super::metrics::Metrics;
use super::owner;
use super::session::{ServerProcess, Session, TIMEOUT};
use super::tls::Tls;
use super::trouble::Trouble;
use crate::database::Opener;
use crate::error::{Result, StoreError};

/// What all connections have in common.
pub struct ConnectionSettings {
    /// Where to.
    pub address: Address,
    /// How it is encrypted.
    pub tls: Tls,
    /// For whom.
    pub owner: Opener,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    patience: Duration,
    away: Mutex<Option<Away>>,
    /// The same, for those who only look in passing.
    is_away: AtomicBool,
    /// Says who has the database now, when it is not us any more.
    taken: OnceLock<String>,
}

struct Away {
    since: Instant,
    why: String,
}

impl ConnectionSettings {
    /// Begins with a database that is there.
    pub fn new(address: Address, tls: Tls, owner: Opener, metrics: Metrics) -> Self {
        let is_away = AtomicBool::new(false);
        let metrics = Arc::new(metrics);
        Self {
            address,
            tls,
            owner,
            metrics,
            patience: TIMEOUT,
            away: Mutex::default(),
            is_away,
            taken: OnceLock::new(),
        }
    }

    /// Waits so long for an answer.
    #[cfg(test)]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Opens a connection to a server that may be used.
    ///
    /// # Errors
    /// As the server says.
    pub fn connect(&self) -> std::result::Result<Session, Trouble> {
        let metrics = Arc::clone(&self.metrics);
        let session = Session::open(&self.address, &self.tls, metrics, self.patience)?;
        inspect::server(&session, &self.address)?;
        Ok(session)
    }

    /// Opens the connection of a slot again, and returns it with the number of its last transaction that holds. What
    /// its `former` server process still does is ended first.
    ///
    /// # Errors
    /// As the server says; `Taken` when the database is another's.
    pub fn connect_again(
        &self,
        slot: usize,
        former: Option<&ServerProcess>,
    ) -> std::result::Result<(Session, i64), Trouble> {
        let session = self.connect()?;
        if let Some(former) = former {
            session.end(former)?;
        }
        let row = i64::try_from(slot).unwrap_or_default();
        let Some(turn) = owner::last_turn(&session, &self.owner, row)? else {
            self.lose(&session);
            return Err(Trouble::Taken);
        };
        if slot == 0 {
            owner::lock(&session, &self.owner).map_err(|e| Trouble::Lost(e.says()))?;
        }
        Ok((session, turn))
    }

    /// Notes that the database is another's, and says so once.
    pub fn lose(&self, session: &Session) {
        self.taken.get_or_init(|| {
            let says = owner::held(session, &self.owner).to_string();
            tracing::error!("{says}; this one no longer writes anything");
            says
        });
    }

    /// Whether the database is still ours.
    ///
    /// # Errors
    /// `Broken` when it is another's: for good.
    pub fn is_ours(&self) -> Result<()> {
        self.taken.get().map_or(Ok(()), |says| Err(StoreError::Broken(says.clone())))
    }

    /// Whether the database is there, as far as is known.
    ///
    /// # Errors
    /// `Broken` when it is not.
    pub fn is_there(&self) -> Result<()> {
        self.is_ours()?;
        let away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        away.as_ref().map_or(Ok(()), |away| Err(StoreError::Broken(away.why.clone())))
    }

    /// Notes that the database cannot be used, and returns it as a sentence. Whoever keeps the store says it.
    pub fn gone(&self, why: &str) -> String {
        let mut away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_away.store(true, Ordering::Release);
        let since = away.as_ref().map_or_else(Instant::now, |away| away.since);
        let why = format!("the database {} is away: {why}", self.address);
        *away = Some(Away { since, why: why.clone() });
        why
    }

    /// Notes that it is back.
    pub fn back(&self) {
        if !self.is_away.swap(false, Ordering::AcqRel) {
            return;
        }
        let away = self.away.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Away { since, .. }) = away {
            let seconds = since.elapsed().as_secs();
            tracing::debug!(database = %self.address, seconds, "the database is back");
        }
    }
}
