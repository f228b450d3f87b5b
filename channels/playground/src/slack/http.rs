//! The HTTP side: tokens, parameters, planned faults, and the answers.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use selkie_channel_core::locked;
use serde_json::{Value, json};

use super::params::{self, bearer};
use super::refusal::Refusal;
use super::world::{APP_TOKEN, BOT_TOKEN};
use super::{Server, files, limits, methods, respond, sockets};
use crate::faults::FaultKind;
use crate::line::Line;
use crate::spoilt;

/// The header that says what a token may do.
const SCOPES: &str = "x-oauth-scopes";

/// The routes below `/slack`.
pub(crate) fn routes(server: Arc<Server>) -> Router {
    Router::new()
        .route("/api/{method}", any(call))
        .route("/ws/{ticket}", get(sockets::upgrade))
        .route("/respond/{id}", post(respond::respond))
        .route("/upload/{id}", post(files::upload))
        .route("/files/{id}/{name}", get(files::download))
        .layer(DefaultBodyLimit::disable())
        .with_state(server)
}

async fn call(
    State(server): State<Arc<Server>>,
    ConnectInfo(line): ConnectInfo<Line>,
    Path(method): Path<String>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let token = bearer(&parts.headers).unwrap_or_default().to_owned();
    let params = params::read(parts.uri.query(), &parts.headers, body).await;
    record(&server, &method, &params);
    let fault = server.faults.meet(&method, None);
    spoilt::delay(fault.as_ref()).await;
    if let Some(response) = fault.as_ref().and_then(|fault| instead(fault, &line)) {
        return response;
    }
    let done = check(&server, &method, &params, &token)
        .and_then(|()| server.may_call(&method))
        .and_then(|()| methods::run(&server, &method, &params));
    server.changed();
    match done {
        Ok(mut answer) => {
            answer["ok"] = json!(true);
            let text = answer.to_string();
            let bare = "{\"ok\":true}";
            let answer = spoilt::answer(200, text, fault.as_ref(), bare, &line);
            ([(SCOPES, limits::given(&server.world().missing_scopes))], answer).into_response()
        }
        Err(refusal) => refused(&refusal),
    }
}

fn record(server: &Server, method: &str, params: &Value) {
    if server.is_loaded.load(Ordering::Relaxed) {
        return;
    }
    let mut calls = locked(&server.calls);
    calls.push((method.to_owned(), params.clone()));
}

fn refused(refusal: &Refusal) -> Response {
    match refusal {
        Refusal::Limited(seconds) => {
            let body = Json(json!({ "ok": false, "error": "ratelimited" }));
            let after = [(RETRY_AFTER, seconds.to_string())];
            (StatusCode::TOO_MANY_REQUESTS, after, body).into_response()
        }
        Refusal::Scope(needed) => Json(json!({
            "ok": false, "error": "missing_scope", "needed": needed, "provided": "chat:write",
        }))
        .into_response(),
        Refusal::Blocks(why) => Json(json!({
            "ok": false, "error": "invalid_blocks", "errors": [why],
            "response_metadata": { "messages": [format!("[ERROR] {why}")] },
        }))
        .into_response(),
        Refusal::Word(word) => Json(json!({ "ok": false, "error": word })).into_response(),
    }
}

/// The answer of a fault that comes instead of the effect.
fn instead(fault: &FaultKind, line: &Line) -> Option<Response> {
    Some(match fault {
        FaultKind::TooMany { retry_after } => refused(&Refusal::Limited(*retry_after)),
        FaultKind::Unauthorized => refused(&Refusal::Word("invalid_auth".to_owned())),
        FaultKind::Refuse { description, .. } => refused(&Refusal::Word(description.clone())),
        other => return spoilt::instead(other, line),
    })
}

/// The socket wants the app's token, everything else the bot's.
fn check(server: &Server, method: &str, params: &Value, token: &str) -> Result<(), Refusal> {
    let word = |word: &str| Err(Refusal::Word(word.to_owned()));
    let world = server.world();
    if token.is_empty() {
        return word("not_authed");
    }
    if world.revoked {
        return word("token_revoked");
    }
    let (wanted, other) = match method {
        "apps.connections.open" => (APP_TOKEN, BOT_TOKEN),
        _ => (BOT_TOKEN, APP_TOKEN),
    };
    if token == other {
        return word("not_allowed_token_type");
    }
    if token != wanted {
        return word("invalid_auth");
    }
    match limits::scope(method, params).filter(|scope| world.missing_scopes.contains(*scope)) {
        Some(scope) => Err(Refusal::Scope(scope)),
        None => Ok(()),
    }
}
