//! Whether the daemon lives, whether it is ready, and what Prometheus scrapes.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::Console;
use super::answer::Fault;
use super::asked::ConsoleState;

/// What Prometheus' text is, as HTTP calls it.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Returns the routes.
pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/livez", get(alive))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
}

/// 200 as long as all loops turn, whatever platforms and databases do: who starts it again helps.
async fn alive(State(console): ConsoleState) -> Response {
    told(&console.health.alive())
}

/// 200 as long as it answers people.
async fn ready(State(console): ConsoleState) -> Response {
    told(&console.health.ready().await)
}

async fn metrics(State(console): ConsoleState) -> Response {
    match console.health.metrics().await {
        Ok(text) => ([(header::CONTENT_TYPE, METRICS)], text).into_response(),
        Err(_) => {
            let says = "the counters cannot be written as text now: ask again";
            Fault::new(StatusCode::INTERNAL_SERVER_ERROR, says).into_response()
        }
    }
}

fn told(missing: &[String]) -> Response {
    match missing {
        [] => "ok\n".into_response(),
        missing => (StatusCode::SERVICE_UNAVAILABLE, missing.join("\n") + "\n").into_response(),
    }
}
