//! The control socket: `<state>/selkie.sock`, for the commands of the same user on the same machine.
//!
//! `POST /v1/ask` streams JSON lines (who closes it before the end has their task stopped), `POST /v1/answer`
//! answers a question it asked, `POST /v1/say` speaks, `POST /v1/approvals` lists and decides, `POST /v1/pairing` makes owners,
//! `POST /v1/schedules` lists, makes and changes what is done later, `POST /v1/posts` what is posted, `POST /v1/sessions` tells what was said, `POST /v1/people` whom the bot knows and what state files said before, `POST /v1/tools/call` answers calls by hand,
//! `POST /v1/forget` forgets a person, `POST /v1/resume` says that a restored life may go on, `POST /v1/reload` has the config read again; `GET /v1/tasks`, `GET /v1/trace/{m}`, `GET /v1/status` and `GET /v1/zone` read. Whoever may open the socket (0600) may do all of it.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path as UrlPath, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::{StreamExt, stream};
use selkie_channel_core::door::{Caps, Door};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use crate::daemon::app::App;
use crate::daemon::approvals::{AskedOfApprovals, carry_out_approvals};
use crate::daemon::backup::{AskedToResume, told_to_resume};
use crate::engine::flow::Flow;
use crate::daemon::forgetting::{AskedToForget, told_to_forget};
use crate::daemon::hand::{ByHand, Called, ToolRunner};
use crate::daemon::pairing::{AskedOfPairing, carry_out_pairing};
use crate::daemon::people::{AskedOfPeople, carry_out_people};
use crate::daemon::posts::{AskedOfPosts, carry_out_posts};
use crate::daemon::reload::Reloader;
use crate::daemon::schedules::{Asked, carry_out};
use crate::daemon::sessions::{AskedOfSessions, carry_out_sessions};
use crate::daemon::status::{Status, StatusDesk};
use crate::delivery::say::Told;
use crate::domain::choice::Choice;
use crate::domain::words::Enclosure;
use crate::schedule::zone::Zone;
use crate::store::Ledger;
use crate::terminal::ask::Ask;
use crate::terminal::ask::AskEvent;

/// Bytes of what is asked: a MiB of text, with each character written as JSON may.
const LONGEST_ASK: usize = 8 * 1024 * 1024;

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
    flow: Arc<Flow>,
    ledger: Arc<dyn Ledger>,
    status: Arc<StatusDesk>,
    bench: ToolRunner,
    reloader: Arc<Reloader>,
}

impl Desk {
    /// Takes its parts of a app.
    pub fn of(app: &App, status: Arc<StatusDesk>, reloader: Arc<Reloader>) -> Self {
        Self {
            flow: Arc::clone(&app.flow),
            ledger: Arc::clone(&app.ledger),
            status,
            bench: ToolRunner::of(app),
            reloader,
        }
    }
}

/// Serves until `stop`.
pub async fn serve(desk: Desk, listener: UnixListener, stop: CancellationToken) {
    let router = Router::new()
        .route("/v1/ask", post(ask).layer(DefaultBodyLimit::max(LONGEST_ASK)))
        .route("/v1/answer", post(answer))
        .route("/v1/say", post(say))
        .route("/v1/approvals", post(approvals))
        .route("/v1/pairing", post(pairing))
        .route("/v1/schedules", post(schedules))
        .route("/v1/posts", post(posts))
        .route("/v1/people", post(people))
        .route("/v1/sessions", post(sessions))
        .route("/v1/tools/call", post(call))
        .route("/v1/tasks", get(tasks))
        .route("/v1/trace/{message}", get(trace))
        .route("/v1/status", get(status))
        .route("/v1/zone", get(zone))
        .route("/v1/resume", post(resume))
        .route("/v1/forget", post(forget))
        .route("/v1/reload", post(reload))
        .with_state(Arc::new(desk));
    // Whoever opens the socket is this machine's user: no wall, but nobody may hold it for ever.
    Door { routes: router, caps: Caps::LOCAL }.serve(listener, stop).await;
}

/// What `ask` sends.
#[derive(Debug, Serialize, Deserialize)]
pub struct AskBody {
    /// What is asked.
    pub text: String,
    /// What came along with it.
    #[serde(default)]
    pub enclosed: Vec<Enclosure>,
    /// The folder it is about.
    pub workspace: PathBuf,
    /// Somebody sits at it.
    pub terminal: bool,
    /// Which model is to answer, and how hard it is to think.
    #[serde(default)]
    pub choice: Choice,
}

/// What `ask` sends when its person has answered a question.
#[derive(Debug, Serialize, Deserialize)]
pub struct AnswerBody {
    /// The question's key.
    pub question: String,
    /// What they wrote.
    pub text: String,
    /// The folder it is about.
    pub workspace: PathBuf,
}

/// One line of what comes back: exactly one field is set.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskLine {
    /// Nothing yet.
    #[default]
    Waiting,
    /// A happening, as the console shows it.
    Progress(Value),
    /// An answer.
    Said(String),
    /// What was just said asks the question with this key, and waits for a line.
    Asked(String),
    /// How it ended: `done`, `failed`, `stopped`.
    Ended(String),
}

impl From<AskEvent> for AskLine {
    fn from(event: AskEvent) -> Self {
        match event {
            AskEvent::Happening(what) => {
                Self::Progress(serde_json::to_value(what).unwrap_or_default())
            }
            AskEvent::Said(text) => Self::Said(text),
            AskEvent::Asked(question) => Self::Asked(question),
            AskEvent::Ended { state } => Self::Ended(state),
        }
    }
}

async fn ask(State(desk): State<Arc<Desk>>, Json(body): Json<AskBody>) -> Response {
    let AskBody { text, enclosed, workspace, terminal, choice } = body;
    let events = match desk.flow.ask(Ask { workspace, text, enclosed, terminal, choice }).await {
        Ok(events) => events,
        Err(error) => return broken(&error),
    };
    let lines = stream::unfold(events, |mut events| async {
        let line = AskLine::from(events.recv().await?);
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        Some((text, events))
    });
    Body::from_stream(lines.map(Ok::<_, io::Error>)).into_response()
}

async fn answer(State(desk): State<Arc<Desk>>, Json(body): Json<AnswerBody>) -> Response {
    let AnswerBody { question, text, workspace } = body;
    let reply = Ask { workspace, text, terminal: true, ..Ask::default() };
    match desk.flow.answer(&question, reply).await {
        Ok(reply) => Json(reply).into_response(),
        Err(error) => broken(&error),
    }
}

/// What `say` sends.
#[derive(Debug, Serialize, Deserialize)]
pub struct SayBody {
    /// The conversation, as its channel writes it.
    pub to: String,
    /// In CommonMark.
    pub text: String,
}

async fn say(State(desk): State<Arc<Desk>>, Json(body): Json<SayBody>) -> Response {
    match desk.flow.say(&body.to, &body.text).await {
        Ok(told) => Json::<Told>(told).into_response(),
        Err(error) => broken(&error),
    }
}

async fn approvals(State(desk): State<Arc<Desk>>, Json(asked): Json<AskedOfApprovals>) -> Response {
    match carry_out_approvals(&desk.flow, asked).await {
        Ok(told) => Json(told).into_response(),
        Err(error) => broken(&error),
    }
}

async fn pairing(State(desk): State<Arc<Desk>>, Json(asked): Json<AskedOfPairing>) -> Response {
    match carry_out_pairing(&desk.flow, asked).await {
        Ok(told) => Json(told).into_response(),
        Err(error) => broken(&error),
    }
}

async fn schedules(State(desk): State<Arc<Desk>>, Json(asked): Json<Asked>) -> Response {
    match carry_out(&desk.flow, asked).await {
        Ok(told) => Json(told).into_response(),
        Err(error) => broken(&error),
    }
}

async fn posts(State(desk): State<Arc<Desk>>, Json(asked): Json<AskedOfPosts>) -> Response {
    match carry_out_posts(&desk.flow, asked).await {
        Ok(told) => Json(told).into_response(),
        Err(error) => broken(&error),
    }
}

async fn people(State(desk): State<Arc<Desk>>, Json(asked): Json<AskedOfPeople>) -> Response {
    match carry_out_people(&desk.flow, asked).await {
        Ok(told) => Json(told).into_response(),
        Err(error) => broken(&error),
    }
}

async fn call(State(desk): State<Arc<Desk>>, Json(body): Json<ByHand>) -> Json<Vec<Called>> {
    Json(desk.bench.call(&body).await)
}

async fn sessions(State(desk): State<Arc<Desk>>, Json(asked): Json<AskedOfSessions>) -> Response {
    match carry_out_sessions(&*desk.ledger, asked).await {
        Ok(told) => Json(told).into_response(),
        Err(error) => broken(&error),
    }
}

/// So many tasks are listed when nobody says, and at most.
const LISTED: usize = 20;
const MOST_LISTED: usize = 500;

#[derive(Deserialize)]
struct Limit {
    limit: Option<usize>,
}

async fn tasks(State(desk): State<Arc<Desk>>, Query(Limit { limit }): Query<Limit>) -> Response {
    let limit = limit.unwrap_or(LISTED).clamp(1, MOST_LISTED);
    match desk.ledger.tasks(None, limit).await {
        Ok(tasks) => Json(tasks).into_response(),
        Err(error) => broken(&error),
    }
}

async fn trace(State(desk): State<Arc<Desk>>, UrlPath(message): UrlPath<String>) -> Response {
    match desk.ledger.trace(&message).await {
        Ok(chains) => Json(chains).into_response(),
        Err(error) => broken(&error),
    }
}

/// The zone that times are read in here, for who shows them.
async fn zone(State(desk): State<Arc<Desk>>) -> Json<Zone> {
    Json(desk.status.zone())
}

async fn status(State(desk): State<Arc<Desk>>) -> Json<Status> {
    Json(desk.status.look_at_all().await)
}

async fn forget(State(desk): State<Arc<Desk>>, Json(asked): Json<AskedToForget>) -> Response {
    match told_to_forget(&desk.flow, asked).await {
        Ok(told) => Json(told).into_response(),
        Err(error) => broken(&error),
    }
}

async fn reload(State(desk): State<Arc<Desk>>) -> Response {
    Json(Arc::clone(&desk.reloader).reload().await).into_response()
}

async fn resume(State(desk): State<Arc<Desk>>, Json(asked): Json<AskedToResume>) -> Response {
    match told_to_resume(&desk.flow, asked).await {
        Ok(told) => Json(told).into_response(),
        Err(error) => broken(&error),
    }
}

fn broken(error: &dyn std::fmt::Display) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response()
}
