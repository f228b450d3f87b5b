//! What the read API reads.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use selkie_channel_core::ConversationId;
use selkie_channel_core::door::Wall;
use serde::Serialize;

use crate::domain::clock::SharedClock;
use crate::domain::facts::Facts;
use crate::domain::happening::Happenings;
use crate::domain::in_force::NotInForce;
use crate::domain::live::Live;
use crate::memory::remembered::Remembered;
use crate::people::book::KnownList;
use crate::schedule::post_view::{PostUrl, PostView};
use crate::shape::Explained;
use crate::store::read::Read;
use crate::store::{Result, Schedules};
use crate::work::todo_list::TodoList;

/// Explains the shape of these facts, recomputed: shape is pure.
pub type Explain = Arc<dyn Fn(&Facts) -> Explained + Send + Sync>;

/// Lists the channels as they stand at this moment.
pub type Channels = Arc<dyn Fn() -> Vec<ChannelView> + Send + Sync>;

/// Counts the store's durable commits.
pub type Syncs = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Lists drafts, scheduled posts, and the newest that went out or did not.
pub type Posts = Arc<dyn Fn() -> BoxFuture<'static, Result<Vec<PostView>>> + Send + Sync>;

/// What conversations know beyond their histories, each as far as it may.
#[async_trait]
pub trait Knowledge: Send + Sync {
    /// Lists whom a conversation may hear of, the latest met first.
    ///
    /// # Errors
    /// When the ledger or a file cannot be read.
    async fn contacts(&self, of: &ConversationId) -> Looked<KnownList>;

    /// Lists what it sees of what is to be done, and what was done.
    ///
    /// # Errors
    /// As [`Knowledge::contacts`].
    async fn todos(&self, of: &ConversationId) -> Looked<TodoList>;

    /// Lists what it remembers, its own first, in the order of its files.
    ///
    /// # Errors
    /// As [`Knowledge::contacts`].
    async fn memory(&self, of: &ConversationId) -> Looked<Vec<Remembered>>;
}

/// How the daemon is, for health checks and for Prometheus.
#[async_trait]
pub trait Health: Send + Sync {
    /// Says why it does not live: what should have turned long ago. Empty when it lives.
    fn alive(&self) -> Vec<String>;

    /// Says what is missing for it to answer people. Empty when nothing is.
    async fn ready(&self) -> Vec<String>;

    /// Tells what of the config is not in force.
    async fn not_in_force(&self) -> NotInForce {
        NotInForce::default()
    }

    /// Writes what is counted, and what stands, as Prometheus reads it.
    ///
    /// # Errors
    /// When it cannot be written.
    async fn metrics(&self) -> std::result::Result<String, fmt::Error>;
}

/// What a conversation sees, or why that cannot be told.
pub type Looked<T> = std::result::Result<Sees<T>, Unreadable>;

/// What a conversation sees, and how far.
#[derive(Clone, Debug, Default)]
pub struct Sees<T> {
    /// All there is: an owner alone reads what is told there.
    pub is_whole: bool,
    /// What it sees.
    pub what: T,
}

/// Why it cannot be told what a conversation knows.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

/// Everything the read API reads.
#[derive(Clone)]
pub struct Console {
    /// The ledger's read ports.
    pub ledger: Arc<dyn Read>,
    /// The schedules.
    pub schedules: Arc<dyn Schedules>,
    /// Finds the address of a post.
    pub post_url: PostUrl,
    /// Lists what is posted in public.
    pub posts: Posts,
    /// What conversations know.
    pub knowledge: Arc<dyn Knowledge>,
    /// The time.
    pub clock: SharedClock,
    /// Explains shapes.
    pub explain: Explain,
    /// What happens, live.
    pub happenings: Happenings,
    /// How the daemon is.
    pub health: Arc<dyn Health>,
    /// The channels and how they are.
    pub channels: Channels,
    /// Durable commits since the start.
    pub syncs: Syncs,
    /// The version of this selkie.
    pub version: &'static str,
    /// The `main` route's model: `gpt-6.2-sol via openai`.
    pub model: Live<str>,
    /// Who may ask.
    pub wall: Wall,
}

/// A channel for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChannelView {
    /// The config section: `telegram`.
    pub name: String,
    /// Which bot it is.
    pub account: String,
    /// How it is, in words: `listening`, `refused: …`.
    pub state: String,
}
