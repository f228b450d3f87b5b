//! The read API: what is there, live. JSON and server-sent events on loopback; nothing here writes.

mod answer;
mod live;
mod routes;
mod settings;
mod wall;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::serve::ListenerExt as _;
use axum::{Router, middleware};
use selkie_channel_core::door::{Caps, Door, Wall};
use serde::Serialize;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use settings::{ListenError, Settings};

use crate::domain::facts::Facts;
use crate::domain::happening::Happenings;
use crate::shape::Explained;
use crate::store::read::Read;

/// Explains the shape of these facts, recomputed: shape is pure.
pub type Explain = Arc<dyn Fn(&Facts) -> Explained + Send + Sync>;

/// Lists the channels as they stand at this moment.
pub type Channels = Arc<dyn Fn() -> Vec<ChannelView> + Send + Sync>;

/// Counts the store's durable commits.
pub type Syncs = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Everything the read API reads.
#[derive(Clone)]
pub struct Console {
    /// The ledger's read ports.
    pub ledger: Arc<dyn Read>,
    /// Explains shapes.
    pub explain: Explain,
    /// What happens, live.
    pub happenings: Happenings,
    /// The channels and how they are.
    pub channels: Channels,
    /// Durable commits since the start.
    pub syncs: Syncs,
    /// The version of this selkie.
    pub version: &'static str,
    /// The `main` route's model: `gpt-5.2 via openai`.
    pub model: String,
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

impl Console {
    /// Returns the routes. Streams of events end when `stop` is cancelled.
    pub fn router(self, stop: CancellationToken) -> Router {
        let wall = Arc::new(self.wall.clone());
        routes::routes()
            .merge(live::routes(stop))
            .layer(middleware::from_fn_with_state(wall, wall::guard))
            .with_state(Arc::new(self))
    }

    /// Serves the routes until `stop` is cancelled.
    pub async fn serve(self, listener: TcpListener, stop: CancellationToken) {
        let door = Door { routes: self.router(stop.clone()), caps: Caps::LOCAL };
        // Small answers must not wait for more; without it they are merely slower.
        let listener = listener.tap_io(|stream| {
            stream.set_nodelay(true).ok();
        });
        door.serve(listener, stop).await;
    }
}
