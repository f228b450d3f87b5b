//! The ledger: what is written when, and what a crash may cost.
//!
//! The ports are VERBS, each one transaction. "Durable" verbs are synced before they return; "relaxed"
//! ones are committed and visible, survive `kill -9`, and can be lost only with the power. The law, the
//! states and the write plan stand in `src/README.md`; every implementation passes `conformance`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::ConversationId;

use crate::domain::facts::{Mode, Trust};
use crate::domain::taint::Taint;

#[cfg(test)]
pub mod conformance;
mod delivery;
mod gate;
mod hold;
mod inflow;
mod intake;
mod question;
pub mod read;
pub mod settings;
mod spending;
pub mod sqlite;
mod status;
mod work;

pub use delivery::{Delivery, Draft, DuePart, Outcome, Queued, Standing};
pub use gate::{AtGate, Gate, Judged};
pub use hold::{FetchEffect, Fetched, HeldAnswer, Holds, Offer, Swept};
pub use inflow::{Inflow, Seen, Waiting};
pub use intake::{
    Accepted, Arrival, CommandDone, CommandEffect, Disposition, Fresh, Fuse, Intake, NewTask,
    StopAnswers,
};
pub use question::{Asked, QuestionRow, Questions, Settled, TapDone, TapEffect};
pub use settings::Since;
pub use spending::Spending;
pub use status::{StatusMessages, Stray};
pub use work::{Advance, Claimed, Committed, End, Said, Work};

/// Opens the ledger of a state folder: `selkie.db`, and `selkie.lock` that, with a lock on the folder, keeps others out.
///
/// # Errors
/// See [`sqlite::Sqlite::open`].
pub fn open(state_dir: &Path) -> Result<Arc<dyn Ledger>> {
    let options = sqlite::Options::default();
    Ok(Arc::new(sqlite::Sqlite::open(&state_dir.join("selkie.db"), options)?))
}

/// Why a verb did nothing. Each variant says what the caller does next.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing was written (disk full, read-only, I/O): refuse to acknowledge and to act; try later.
    #[error("the store cannot write: {0}")]
    Broken(String),
    /// The database was written by a newer selkie: do not start.
    #[error(
        "the database is of version {found}, this selkie knows {known}: run the newer selkie, or put the backup beside it, made before the upgrade, in its place"
    )]
    Newer {
        /// The file's version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// The file is not whole, or not ours: do not start. It says what to do.
    #[error("{0}")]
    Damaged(String),
    /// Another process holds the store: do not start.
    #[error("{0}")]
    Held(String),
    /// A stored row cannot be read: a defect, the row is named.
    #[error("a stored row cannot be read: {0}")]
    Corrupt(String),
}

/// What a verb answers.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Where a conversation's place works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workplace {
    /// The place's row, by which its own folders are named; absent while nobody has spoken there.
    pub row: Option<i64>,
    /// The folder that an owner has set for it.
    pub set: Option<String>,
}

/// The conversation's own small records.
#[async_trait]
pub trait Notes: Send + Sync {
    /// Returns the todo list (JSON) of a conversation; `None` when it was never written.
    async fn todos(&self, conversation: &ConversationId) -> Result<Option<String>>;

    /// Returns where a conversation's place works.
    async fn workspace(&self, conversation: &ConversationId) -> Result<Workplace>;

    /// Replaces the todo list of a conversation. Durable. `/reset` clears it.
    async fn set_todos(&self, conversation: &ConversationId, json: String) -> Result<()>;

    /// Returns what a conversation is in.
    async fn mode(&self, conversation: &ConversationId) -> Result<Mode>;

    /// Returns the level of what a task for somebody of this trust that begins now would read of the
    /// conversation's history.
    async fn level(&self, conversation: &ConversationId, trust: Trust) -> Result<Taint>;

    /// Changes what a conversation is in. Durable. `/reset` makes it normal.
    async fn set_mode(&self, conversation: &ConversationId, mode: Mode) -> Result<()>;
}

/// A whole ledger, with its counters.
#[async_trait]
pub trait Ledger:
    Intake + Gate + Work + Delivery + Holds + Questions + Notes + Spending + StatusMessages + read::Read
{
    /// How many durable commits were synced (`store_syncs_total`): a plain message costs two when
    /// it comes alone, and less when commits are shared. Syncs while idle and those of checkpoints are
    /// not counted here: they are off the hot path and come when they come.
    fn syncs(&self) -> u64;

    /// How long the oldest verb has been waiting for the writer; a health figure.
    fn lag(&self) -> Duration;

    /// Forgets a few of the rows that are older; returns how many, 0 when there is nothing left to forget.
    /// Relaxed.
    async fn forget_old(&self, since: Since) -> Result<u64>;

    /// Returns the places whose tasks have not ended, each by the row number of its first conversation,
    /// with when the oldest of those tasks was made.
    async fn at_work(&self) -> Result<Vec<(i64, DateTime<Utc>)>>;

    /// Ends after the verbs it was given, with everything in the one database file; what is asked later
    /// is refused.
    async fn close(&self);

    /// Checks, without a write, that what was opened still lies where it was: every write checks it, too.
    fn in_place(&self) -> Result<()>;
}
