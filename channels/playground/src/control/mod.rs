//! The page and the control API that the page, scripts and the demo use.

mod api;
mod clock;
mod emoji;
pub(crate) mod mrkdwn;
mod page;
mod rooms;
mod state;
mod stream;

use std::sync::Arc;

use axum::routing::{get, post};
use axum::{Router, middleware};
use selkie_channel_core::server::{Wall, guard};

pub(crate) use state::{Control, Platforms};

/// The page at `/` and the API below `/api`.
pub(crate) fn routes(control: Arc<Control>) -> Router {
    // What is done here is done for a person: a page of somebody else's may not even send it.
    let wall = Arc::new(Wall::default().no_forms());
    Router::new()
        .route("/", get(page::index))
        .route("/{file}", get(page::file))
        .route("/api/world", get(api::world))
        .route("/api/chats/{id}/messages", get(api::messages))
        .route("/api/chats/{id}/say", post(api::say))
        .route("/api/chats/{id}/upload", post(api::upload))
        .route("/api/chats/{id}/edit", post(api::edit))
        .route("/api/chats/{id}/press", post(api::press))
        .route("/api/chats/{id}/react", post(api::react))
        .route("/api/faults", post(api::fault).delete(api::clear_faults))
        .route("/api/model/script", post(api::script))
        .route("/api/files/{id}", get(api::file))
        .route("/api/clock", get(clock::shows).post(clock::step))
        .route("/api/events", get(stream::events))
        .layer(axum::extract::DefaultBodyLimit::max(51 * 1024 * 1024))
        .layer(middleware::from_fn_with_state(wall, guard))
        .with_state(control)
}

#[cfg(test)]
mod tests;
