//! What is posted in public: how each post stands, who is told, and what a person may still do about it.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, Outbound, Part};

use crate::delivery::{DeliveryState, Draft, Month, QueuedOutbound};
use crate::error::Result;
use selkie_domain::ids::{OutboundId, ScheduleId};

/// What is posted in public.
#[async_trait]
pub trait Posts: Send + Sync {
    /// Returns the newest posts, the newest first.
    async fn posts(&self, limit: usize) -> Result<Vec<PostRow>>;

    /// Returns one; `None` when there is none.
    async fn post_of(&self, outbound: OutboundId) -> Result<Option<PostRow>>;

    /// Returns those of which nobody was told yet what became of them, the oldest first.
    async fn untold_posts(&self) -> Result<Vec<OutboundId>>;

    /// Returns where the copies lie that a post or a schedule may still need.
    async fn post_files(&self) -> Result<Vec<String>>;

    /// Notes that whoever asked knows what became of a post, and says what tells them, once: `None` when they
    /// were told before. Durable.
    async fn tell_post(
        &self,
        outbound: OutboundId,
        telling: PostNotice,
    ) -> Result<Option<ToldPost>>;

    /// Queues what of a post was refused or is unclear once more, where the month lets it be, and whoever asked is
    /// told anew. Durable.
    async fn post_again(&self, outbound: OutboundId, once_more: OnceMore) -> Result<PostedAgain>;

    /// Returns the newest post of a schedule that is on its way: nobody knows yet what becomes of it.
    async fn post_on_its_way(&self, of: ScheduleId) -> Result<Option<OutboundId>>;

    /// Withdraws what of a post has not been sent; returns whether there was any. Durable.
    async fn withdraw_post(&self, outbound: OutboundId) -> Result<bool>;
}

/// How a post is tried once more.
#[derive(Clone, Debug)]
pub struct OnceMore {
    /// Its calls, the arrived ones among them.
    pub parts: Vec<Part>,
    /// Not tried after this moment.
    pub expires_at: Option<DateTime<Utc>>,
    /// What the month lets be posted.
    pub month: Option<Month>,
}

/// What became of a post that was to be tried once more.
#[derive(Clone, Debug)]
pub enum PostedAgain {
    /// What is missing is to be sent.
    Queued(QueuedOutbound),
    /// Nothing of it is missing, or it is under way.
    Nothing,
    /// The month does not let it be posted, and why: nothing was written.
    Over(String),
}

/// What is written when somebody is told what became of a post.
#[derive(Clone, Debug, Default)]
pub struct PostNotice {
    /// What they read; nothing when they know already.
    pub draft: Option<Draft>,
    /// Its schedule waits from now on, and why.
    pub pause: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct ToldPost {
    /// To be sent.
    pub queued: Option<QueuedOutbound>,
    /// Its schedule waits from now on.
    pub paused: bool,
}

/// A stored post, or thread.
#[derive(Clone, Debug, PartialEq)]
pub struct PostRow {
    /// What is said.
    pub outbound: OutboundId,
    /// It, as it was written.
    pub said: Outbound,
    /// The conversation that asked for it; `None` for the command line's.
    pub asked: Option<ConversationId>,
    /// The time of a schedule that it is.
    pub of: Option<PostOf>,
    /// Whoever asked was told what became of it.
    pub told: bool,
    /// Where it stands.
    pub standing: DeliveryState,
    /// Which of its parts have not arrived, by their places.
    pub missing: Vec<usize>,
    /// When it was stored, or tried again in a later month.
    pub created_at: DateTime<Utc>,
}

/// One time of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostOf {
    /// Which schedule.
    pub schedule: ScheduleId,
    /// Which time.
    pub at: DateTime<Utc>,
}
