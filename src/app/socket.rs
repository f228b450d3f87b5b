//! The control socket: `<state>/selkie.sock`, for the commands of the same user on the same machine.
//!
//! `POST /v1/ask` streams JSON lines (who closes it before the end has their task stopped), `POST /v1/request` answers
//! everything else ([`Request`]), `POST /v1/reload` has the config read again, `GET /v1/status` tells how the daemon stands.
//! Whoever may open the socket (0600) may do all of it.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response as HttpResponse};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::{StreamExt, stream};
use selkie_channel_core::server::{Caps, Door};
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use crate::answered::NotDone;
use crate::app::App;
use crate::backup::ResumeReport;
use crate::reload::Reloader;
use crate::request::{Request, Response};
use crate::status::StatusDesk;
use selkie_engine::terminal::ask::Ask;

/// Bytes of what is asked: a MiB of text, with each character written as JSON may.
const MAX_ASK: usize = 8 * 1024 * 1024;

/// Returns where the socket of a state folder lies.
pub fn path(state: &Path) -> PathBuf {
    state.join("selkie.sock")
}

/// Listens, replacing what a dead daemon left. Only to be called while the store's lock is held.
///
/// # Errors
/// When the socket cannot be made.
pub fn listen(state: &Path) -> anyhow::Result<UnixListener> {
    let path = path(state);
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    anyhow::ensure!(
        !is_folder,
        "{} is a folder, and the control socket belongs there: move it away",
        path.display()
    );
    remove(state);
    let listener = UnixListener::bind(&path)
        .with_context(|| format!("the control socket {} cannot be created", path.display()))?;
    // The folder is 0700 already; this keeps it so when somebody opens the folder.
    std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Removes the socket of a state folder.
pub fn remove(state: &Path) {
    match std::fs::remove_file(path(state)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, "the control socket cannot be removed");
        }
        _ => {}
    }
}

/// What the socket's requests reach.
pub struct Desk {
    /// What answers.
    pub app: Arc<App>,
    /// Tells how the daemon stands.
    pub status: Arc<StatusDesk>,
    /// What it does.
    pub stage: Stage,
}

/// What a daemon does.
pub enum Stage {
    /// It works, by a config that can be read again.
    Works(Arc<Reloader>),
    /// It was restored, and waits for its owner's word.
    Waits {
        /// Says so.
        message: String,
        /// Ends the waiting.
        resumed: CancellationToken,
    },
}

/// Serves until `stop`.
pub async fn serve(desk: Desk, listener: UnixListener, stop: CancellationToken) {
    let router = Router::new()
        .route("/v1/ask", post(ask).layer(DefaultBodyLimit::max(MAX_ASK)))
        .route("/v1/request", post(request))
        .route("/v1/reload", post(reload))
        .route("/v1/status", get(status))
        .with_state(Arc::new(desk));
    // Whoever opens the socket is this machine's user: no wall, but nobody may hold it for ever.
    Door { routes: router, caps: Caps::LOCAL }.serve(listener, stop).await;
}

async fn ask(State(desk): State<Arc<Desk>>, Json(ask): Json<Ask>) -> HttpResponse {
    if let Stage::Waits { message, .. } = &desk.stage {
        return (StatusCode::SERVICE_UNAVAILABLE, message.clone()).into_response();
    }
    let events = match desk.app.flow.ask(ask).await {
        Ok(events) => events,
        Err(error) => return broken(&error),
    };
    let lines = stream::unfold(events, |mut events| async {
        let event = events.recv().await?;
        let mut line = serde_json::to_string(&event).unwrap_or_default();
        line.push('\n');
        Some((line, events))
    });
    Body::from_stream(lines.map(Ok::<_, io::Error>)).into_response()
}

async fn request(
    State(desk): State<Arc<Desk>>,
    Json(request): Json<Request>,
) -> Json<Result<Response, NotDone>> {
    let Stage::Waits { message, resumed } = &desk.stage else {
        return Json(request.answer(&desk.app).await);
    };
    if !matches!(request, Request::Zone | Request::Resume { .. }) {
        return Json(Err(NotDone::refused(message)));
    }
    let answered = request.answer(&desk.app).await;
    if matches!(answered, Ok(Response::Resumed(ResumeReport { resumed: true, .. }))) {
        // Whoever has said so reads the answer first.
        resumed.cancel();
    }
    Json(answered)
}

async fn reload(State(desk): State<Arc<Desk>>) -> HttpResponse {
    match &desk.stage {
        Stage::Works(reloader) => Json(Arc::clone(reloader).reload().await).into_response(),
        Stage::Waits { message, .. } => {
            (StatusCode::SERVICE_UNAVAILABLE, message.clone()).into_response()
        }
    }
}

async fn status(State(desk): State<Arc<Desk>>) -> HttpResponse {
    match &desk.stage {
        Stage::Works(_) => Json(desk.status.look_at_all().await).into_response(),
        Stage::Waits { .. } => match desk.status.look().await {
            Ok(status) => Json(status).into_response(),
            Err(error) => broken(&error),
        },
    }
}

fn broken(error: &dyn std::fmt::Display) -> HttpResponse {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response()
}
