//! The read API: what is there, live. JSON and server-sent events on loopback; nothing here writes.

mod answer;
mod approval;
mod asked;
mod health;
mod known;
mod live;
mod origin_check;
mod routes;
mod settings;
mod sources;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::serve::ListenerExt as _;
use axum::{Router, middleware};
use selkie_channel_core::server::{Caps, Door};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use settings::{ListenError, Settings};
pub use sources::{ChannelView, Channels, Console, Explain, Health, Posts, Syncs};

impl Console {
    /// Returns the routes. Streams of events end when `stop` is cancelled.
    pub fn router(self, stop: CancellationToken) -> Router {
        let wall = Arc::new(self.wall.clone());
        routes::routes()
            .merge(health::routes())
            .merge(known::routes())
            .merge(live::routes(stop))
            .layer(middleware::from_fn_with_state(wall, origin_check::guard))
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
