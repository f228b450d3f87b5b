//! Pairing: the code that makes an owner, those by which strangers ask to be let in, and who was paired.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use selkie_domain::facts::Trust;

/// Codes and who used them.
#[async_trait]
pub trait Pairings: Send + Sync {
    /// Opens a code until then, in the place of the one before. Durable.
    async fn open_pairing(&self, code: &str, until: DateTime<Utc>) -> Result<()>;

    /// Tries a code for somebody, who is an owner when it is right; a wrong one counts. The same person may try the
    /// same code again: it comes to the same. `false` does not tell whether a code is open at all. Durable.
    async fn pair(&self, person: &PersonId, code: &str) -> Result<bool>;

    /// Whether it was this code that made somebody an owner.
    async fn has_paired(&self, person: &PersonId, code: &str) -> Result<bool>;

    /// Opens a request of a stranger to be let in; returns the code that stands for it, which is an earlier one while
    /// that is open. Where many are open the oldest makes way. Durable.
    async fn request_pairing(&self, request: PairingRequest) -> Result<StrangersCode>;

    /// Lets in whose request has this code; a wrong code counts against all that are open. Approving one again comes to
    /// the same. Durable.
    async fn approve_pairing(&self, code: &str) -> Result<PairingOutcome>;

    /// Lets in whose request has this code, or ignores them for a year, by an owner's button; `None` when there is none that
    /// is open. The same again comes to the same. Durable.
    async fn settle_pairing(&self, code: &str, lets_in: bool) -> Result<Option<PairingRequest>>;

    /// Lists the requests that are open, the one that ends first before the others.
    async fn pairing_requests(&self) -> Result<Vec<PairingRequest>>;

    /// Lists who was paired, the first before the others.
    async fn paired(&self) -> Result<Vec<PairedPerson>>;

    /// Takes it back; `false` when they were not paired. Durable.
    async fn unpair(&self, person: &PersonId) -> Result<bool>;
}

/// What a stranger's request came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StrangersCode {
    /// The code that stands for it; none while theirs is closed, or when they are in already.
    pub code: Option<String>,
    /// So many were open that the oldest made way.
    pub crowded: bool,
}

/// A stranger who wants to be let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairingRequest {
    /// Who.
    pub person: PersonId,
    /// As their platform calls them.
    pub name: String,
    /// What an owner approves it by.
    pub code: String,
    /// Until when.
    pub until: DateTime<Utc>,
}

/// What an approval came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PairingOutcome {
    /// They are let in.
    Done {
        /// Who.
        person: PersonId,
        /// As their platform called them.
        name: String,
    },
    /// Nobody's open request has this code, and so many more may be tried.
    Wrong {
        /// How many; none: the requests that were open are closed now.
        left: i64,
    },
    /// No request is open.
    NoneOpen,
}

/// Somebody who was paired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairedPerson {
    /// Who.
    pub person: PersonId,
    /// As what: an owner, or one who is allowed.
    pub trust: Trust,
}
