//! Pairing: the code that is open, and who became an owner by one.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;

use crate::store::error::Result;

/// Codes and who used them.
#[async_trait]
pub trait Pairings: Send + Sync {
    /// Opens a code until then, in the place of the one before. Durable.
    async fn open_pairing(&self, code: &str, until: DateTime<Utc>) -> Result<()>;

    /// Tries a code for somebody, who is an owner when it is right; a wrong one counts. The same person may try the
    /// same code again: it comes to the same. Durable.
    async fn pair(&self, person: &PersonId, code: &str) -> Result<Paired>;

    /// Lists who was paired, the first before the others.
    async fn paired(&self) -> Result<Vec<PersonId>>;

    /// Takes it back; `false` when they were not paired. Durable.
    async fn unpair(&self, person: &PersonId) -> Result<bool>;
}

/// What a code came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paired {
    /// It is right: they are paired.
    Done,
    /// It is wrong, and so many more may be tried.
    Wrong {
        /// How many; none: the open code is closed now.
        left: i64,
    },
    /// No code is open: none was made, it was used, its time is over, or too many wrong ones were tried.
    NoneOpen,
}
