//! Conversations that rest: what of them was summed up, and what is to be.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::ConversationId;

use crate::error::Result;
use crate::work::Past;
use selkie_domain::facts::Trust;

/// What is known of summaries.
#[async_trait]
pub trait Summaries: Send + Sync {
    /// Lists conversations with so many tasks that ended since they were summed up, those that ended first before the
    /// others.
    async fn unsummarized(&self, sought: SoughtTalk) -> Result<Vec<SummaryGap>>;

    /// Notes that a summary is being made; `false` when that is not to be: the conversation was begun anew, or so many
    /// were made on this day already. Relaxed: one that is made again takes the place of the other.
    async fn begin_summary(&self, of: SummaryMark, day: Day) -> Result<bool>;

    /// Returns what was said in the tasks that a summary is to cover.
    async fn talk_to_summarize(&self, of: SummaryMark) -> Result<Talk>;

    /// Whether a summary that was begun may still be written: nothing of it was forgotten or taken back.
    async fn may_summarize(&self, of: SummaryMark) -> Result<bool>;

    /// Notes that a summary was made, or is not to be made any more; `false` when what it covers was forgotten or taken back
    /// meanwhile. Durable.
    async fn end_summary(&self, of: SummaryMark) -> Result<bool>;

    /// Lists conversations whose summary covers what was taken back.
    async fn stale_summaries(&self) -> Result<Vec<ConversationId>>;

    /// Notes that such a summary is gone. Durable.
    async fn drop_summary(&self, conversation: &ConversationId) -> Result<()>;
}

/// Which conversations are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoughtTalk {
    /// Something was said there since.
    pub since: DateTime<Utc>,
    /// So many tasks have ended at least.
    pub least: i64,
    /// So many conversations at most.
    pub most: usize,
}

/// A conversation with talk that no summary covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryGap {
    /// The conversation.
    pub conversation: ConversationId,
    /// What a summary is to cover.
    pub mark: SummaryMark,
    /// When its last task ended.
    pub ended_at: DateTime<Utc>,
    /// A task runs there, or waits for its turn.
    pub is_busy: bool,
}

/// What a summary covers: the endings of a conversation and epoch behind the summary before it, up to one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SummaryMark {
    /// The row of the conversation.
    pub conversation: i64,
    /// Its epoch.
    pub epoch: i64,
    /// Behind this ending.
    pub behind: i64,
    /// Up to this one.
    pub upto: i64,
}

/// A day, and how many summaries it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// Its number, since 1970.
    pub number: i64,
    /// So many, of all conversations together.
    pub most: i64,
}

/// What was said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Talk {
    /// Task by task, the oldest first: the newest of them.
    pub tasks: Vec<Past>,
    /// The least trust in whom those tasks asked.
    pub asked_by: Option<Trust>,
}
