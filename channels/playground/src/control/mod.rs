//! The page and the control API that the page, scripts and the demo use.

mod api;
mod emoji;
mod mrkdwn;
mod page;
mod rooms;
mod stream;

use std::sync::{Arc, Mutex, PoisonError};

use axum::routing::{get, post};
use axum::{Router, middleware};
use selkie_channel_core::door::{Wall, guard};
use tokio_util::sync::CancellationToken;

use crate::line_platform::LinePlatform;
use crate::model::Model;
use crate::slack::Slack;
use crate::telegram::Telegram;
use crate::x::XPlatform;

/// What the control API works on.
pub(crate) struct Control {
    telegram: Telegram,
    slack: Slack,
    line: LinePlatform,
    x: XPlatform,
    model: Model,
    stop: CancellationToken,
    daemon_url: Mutex<Option<String>>,
    model_name: Mutex<String>,
}

/// The platforms whose chats the page shows.
pub(crate) struct Platforms {
    pub(crate) telegram: Telegram,
    pub(crate) slack: Slack,
    pub(crate) line: LinePlatform,
    pub(crate) x: XPlatform,
}

impl Control {
    pub(crate) fn new(platforms: Platforms, model: Model, stop: CancellationToken) -> Arc<Self> {
        let Platforms { telegram, slack, line, x } = platforms;
        let model_name = Mutex::new("the playground's scripted model".to_owned());
        let daemon_url = Mutex::default();
        Arc::new(Self { telegram, slack, line, x, model, stop, daemon_url, model_name })
    }

    pub(crate) fn set_daemon_url(&self, url: &str) {
        *self.daemon_url.lock().unwrap_or_else(PoisonError::into_inner) = Some(url.to_owned());
    }

    pub(crate) fn set_model_name(&self, name: &str) {
        *self.model_name.lock().unwrap_or_else(PoisonError::into_inner) = name.to_owned();
    }
}

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
        .route("/api/events", get(stream::events))
        .layer(axum::extract::DefaultBodyLimit::max(51 * 1024 * 1024))
        .layer(middleware::from_fn_with_state(wall, guard))
        .with_state(control)
}

#[cfg(test)]
mod tests;
