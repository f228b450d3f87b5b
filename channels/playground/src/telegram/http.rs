//! The HTTP side: paths, the token, planned faults, and the answers.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};

use super::log::{Call, Outcome};
use super::params::Params;
use super::polling::Redelivery;
use super::refusal::Refusal;
use super::{Server, methods, render};
use crate::faults::FaultKind;
use crate::line::Line;
use crate::spoilt;

/// The routes below `/telegram`.
pub(crate) fn routes(server: Arc<Server>) -> Router {
    Router::new()
        .route("/file/{bot}/{*path}", get(download))
        .route("/{bot}/{method}", any(call))
        .fallback(async || Refusal::not_found())
        .layer(DefaultBodyLimit::disable())
        .with_state(server)
}

/// One call of a method.
async fn call(
    State(server): State<Arc<Server>>,
    ConnectInfo(line): ConnectInfo<Line>,
    Path((bot, method)): Path<(String, String)>,
    request: Request,
) -> Response {
    if let Err(refusal) = check_token(&server, &bot) {
        return refusal.into_response();
    }
    let method = method.to_ascii_lowercase();
    let params = match Params::read(request).await {
        Ok(params) => params,
        Err(refusal) => return refusal.into_response(),
    };
    server.log.count(&method);
    let record = server.log.keeps().then(|| params.record());
    let fault = server.faults.meet(&method, params.int("chat_id"));
    let (outcome, response) = answer(&server, &line, &method, &params, fault).await;
    if let Some(params) = record {
        server.log.keep(Call { method, params, at: server.now(), outcome });
    }
    response
}

/// Runs the method with the fault it meets.
async fn answer(
    server: &Server,
    line: &Line,
    method: &str,
    params: &Params,
    fault: Option<FaultKind>,
) -> (Outcome, Response) {
    let mut redelivery = Redelivery::Once;
    match &fault {
        Some(FaultKind::Delay { ms }) => {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(*ms)) => {}
                () = server.stop.cancelled() => {}
            }
        }
        Some(FaultKind::Duplicate) => redelivery = Redelivery::Twice,
        Some(FaultKind::Redeliver) => redelivery = Redelivery::Again,
        Some(kind) => {
            if let Some(response) = before_effect(kind, line) {
                return (Outcome::Faulted, response);
            }
        }
        None => {}
    }
    match methods::run(server, method, params, redelivery).await {
        Err(refusal) => {
            let outcome = Outcome::Refused(refusal.code, refusal.description.clone());
            (outcome, refusal.into_response())
        }
        Ok(result) => {
            let text = format!("{{\"ok\":true,\"result\":{result}}}");
            let bare = "{\"ok\":true,\"result\":true}";
            (Outcome::Done, spoilt::answer(200, text, fault.as_ref(), bare, line))
        }
    }
}

/// The answer of a fault that comes instead of the effect.
fn before_effect(fault: &FaultKind, line: &Line) -> Option<Response> {
    let refusal = match fault {
        FaultKind::TooMany { retry_after } => Refusal::too_many(*retry_after),
        FaultKind::Conflict => Refusal::second_poller(),
        FaultKind::Unauthorized => Refusal::unauthorized(),
        FaultKind::Refuse { code, description } => Refusal::new(*code, description.clone()),
        other => return spoilt::instead(other, line),
    };
    Some(refusal.into_response())
}

/// `/file/bot<token>/<path>`.
async fn download(
    State(server): State<Arc<Server>>,
    ConnectInfo(line): ConnectInfo<Line>,
    Path((bot, path)): Path<(String, String)>,
) -> Response {
    if let Err(refusal) = check_token(&server, &bot) {
        return refusal.into_response();
    }
    server.log.count("file");
    if let Some(response) =
        server.faults.meet("file", None).and_then(|fault| before_effect(&fault, &line))
    {
        return response;
    }
    let world = server.world();
    match world.files.values().find(|file| file.path == path) {
        Some(file) => {
            let kind = render::mime(&file.name);
            ([(CONTENT_TYPE, kind)], file.bytes.clone()).into_response()
        }
        None => Refusal::not_found().into_response(),
    }
}

/// `bot<id>:<secret>`: another form is no bot's path, another token is nobody's.
fn check_token(server: &Server, bot: &str) -> Result<(), Refusal> {
    let token = bot.strip_prefix("bot").ok_or_else(Refusal::not_found)?;
    let (id, secret) = token.split_once(':').ok_or_else(Refusal::not_found)?;
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) || secret.is_empty() {
        return Err(Refusal::not_found());
    }
    if server.world().token == token { Ok(()) } else { Err(Refusal::unauthorized()) }
}
