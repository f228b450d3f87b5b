//! What the read API reads.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use selkie_channel_core::server::Wall;
use serde::Serialize;

use selkie_domain::clock::SharedClock;
use selkie_domain::config_drift::NotInForce;
use selkie_domain::event::Events;
use selkie_domain::facts::Facts;
use selkie_domain::live::Live;
use selkie_engine::flow::Knowledge;
use selkie_schedule::post_view::{PostUrl, PostView};
use selkie_shape::Explanation;
use selkie_store::read::Reader;
use selkie_store::{Result, Schedules};

/// Explains the shape of these facts, recomputed: shape is pure.
pub type Explain = Arc<dyn Fn(&Facts) -> Explanation + Send + Sync>;

/// Lists the channels as they stand at this moment.
pub type Channels = Arc<dyn Fn() -> Vec<ChannelView> + Send + Sync>;

/// Counts the store's durable commits.
pub type Syncs = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Lists drafts, scheduled posts, and the newest that went out or did not.
pub type Posts = Arc<dyn Fn() -> BoxFuture<'static, Result<Vec<PostView>>> + Send + Sync>;

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

/// Everything the read API reads.
#[derive(Clone)]
pub struct Console {
    /// The ledger's read ports.
    pub ledger: Arc<dyn Reader>,
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
    pub events: Events,
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
