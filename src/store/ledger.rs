//! A whole ledger: every port, and what it tells of itself.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::UnsentFiles;
use crate::agents::Agents;
use crate::approval::Approvals;
use crate::delivery::Delivery;
use crate::error::Result;
use crate::gate::Gate;
use crate::hold::DeferredReplies;
use crate::intake::Intake;
use crate::memory::Memories;
use crate::met::Acquaintances;
use crate::notes::Notes;
use crate::pairing::Pairings;
use crate::post::Posts;
use crate::question::Questions;
use crate::read::Reader;
use crate::reminder::Reminders;
use crate::restored::{ReleaseResult, RestoreOrigin, RestorePolicy};
use crate::schedule::{DueSchedules, Schedules};
use crate::settings::Since;
use crate::skills::LoadedSkills;
use crate::spending::UsageCounters;
use crate::status::StatusMessages;
use crate::summary::Summaries;
use crate::voice::VoiceNotes;
use crate::work::Work;

/// A whole ledger, with its counters.
#[async_trait]
pub trait Ledger:
    Intake
    + Gate
    + Work
    + Agents
    + Delivery
    + DeferredReplies
    + Questions
    + Approvals
    + Notes
    + LoadedSkills
    + Acquaintances
    + Schedules
    + DueSchedules
    + Reminders
    + Memories
    + Posts
    + UsageCounters
    + StatusMessages
    + Summaries
    + Pairings
    + VoiceNotes
    + Reader
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

    /// Whether a place is being forgotten still: something of it is left, or a task that was told to stop goes on; or files
    /// of a message that was taken back are there still.
    async fn is_forgetting(&self) -> Result<bool>;

    /// Returns the places that are being forgotten still, each by the row number of its first conversation, with when that was
    /// asked for.
    async fn forgetting(&self) -> Result<Vec<(i64, DateTime<Utc>)>>;

    /// Returns the messages that were taken back and whose files have still to go.
    async fn unsent(&self) -> Result<UnsentFiles>;

    /// Notes that their files are gone for good. Relaxed.
    async fn unsent_gone(&self, unsent: UnsentFiles) -> Result<()>;

    /// Returns the places whose tasks have not ended, each by the row number of its first conversation,
    /// with when the oldest of those tasks was made.
    async fn at_work(&self) -> Result<Vec<(i64, DateTime<Utc>)>>;

    /// Returns what this life was restored from while nobody has said that it may go on: until then whoever opens it
    /// begins nothing.
    async fn restored(&self) -> Result<Option<RestoreOrigin>>;

    /// Lets a restored life go on; `None` when nothing holds it. Durable.
    async fn release(&self, waiting: RestorePolicy) -> Result<Option<ReleaseResult>>;

    /// Ends after the verbs it was given, with everything in the one database file; what is asked later
    /// is refused.
    async fn close(&self);

    /// Checks, without a write, that what was opened still lies where it was: every write checks it, too.
    fn in_place(&self) -> Result<()>;
}
