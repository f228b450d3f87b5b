//! The daemon of a restored life: it tells how it stands and waits for its owner's word; no channel is open, nothing is
//! sent, no schedule is looked at.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use selkie_channel_core::door::{Caps, Door};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::daemon::answered::Answered;
use crate::daemon::app::App;
use crate::daemon::backup::{AskedToResume, Resumed, told_to_resume};
use crate::engine::flow::Flow;
use crate::daemon::service_manager::ServiceManager;
use crate::daemon::socket;
use crate::daemon::status::StatusDesk;
use crate::daemon::vitals;
use crate::schedule::words::moment;
use crate::schedule::zone::Zone;

/// What the socket's requests reach.
struct Desk {
    flow: Arc<Flow>,
    status: Arc<StatusDesk>,
    /// What holds it, in words.
    says: String,
    resumed: Arc<Notify>,
}

/// Returns at once when nothing holds the life, else when its owner lets it go on.
///
/// # Errors
/// When the store cannot be read, or the socket not be made.
pub async fn wait(
    app: &App,
    status: Arc<StatusDesk>,
    manager: &ServiceManager,
) -> anyhow::Result<()> {
    let Some(restored) = app.ledger.restored().await? else { return Ok(()) };
    let says = restored.says(&moment(restored.made_at, app.plan.zone));
    tracing::warn!("{says}");
    manager.status(&says);
    manager.ready();
    let listener = socket::listen(&app.plan.folders.state)?;
    let resumed = Arc::new(Notify::new());
    let (flow, is_resumed) = (Arc::clone(&app.flow), Arc::clone(&resumed));
    let desk = Arc::new(Desk { flow, status, says, resumed });
    let router = Router::new()
        .route("/v1/status", get(look))
        .route("/v1/zone", get(zone))
        .route("/v1/resume", post(resume))
        .fallback(refuse)
        .with_state(desk);
    let stop = CancellationToken::new();
    let end = stop.clone();
    let waits = async move {
        is_resumed.notified().await;
        // Whoever has said so reads the answer first.
        end.cancel();
    };
    let served = async {
        tokio::join!(Door { routes: router, caps: Caps::LOCAL }.serve(listener, stop), waits);
    };
    // Nothing turns yet but this: who waits for a word lives.
    tokio::select! {
        () = served => {}
        never = vitals::feed(manager) => match never {},
    }
    Ok(())
}

async fn look(State(desk): State<Arc<Desk>>) -> Response {
    match desk.status.look().await {
        Ok(status) => Json(status).into_response(),
        Err(error) => broken(&error),
    }
}

async fn zone(State(desk): State<Arc<Desk>>) -> Json<Zone> {
    Json(desk.status.zone())
}

async fn resume(State(desk): State<Arc<Desk>>, Json(asked): Json<AskedToResume>) -> Response {
    match told_to_resume(&desk.flow, asked).await {
        Ok(told) => {
            if matches!(&told, Answered::Done(Resumed { resumed: true, .. })) {
                desk.resumed.notify_one();
            }
            Json(told).into_response()
        }
        Err(error) => broken(&error),
    }
}

async fn refuse(State(desk): State<Arc<Desk>>) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, desk.says.clone()).into_response()
}

fn broken(error: &dyn std::fmt::Display) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response()
}
