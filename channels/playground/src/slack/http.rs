//! The HTTP side: tokens, parameters, planned faults, and the answers.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use serde_json::{Map, Value, json};

use super::methods::{self, Refusal};
use super::world::{APP_TOKEN, BOT_TOKEN};
use super::{Server, files, respond, sockets};
use crate::line::Line;
use crate::telegram::FaultKind;

/// Larger calls are refused.
const LARGEST: usize = 1024 * 1024;

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
    let params = params(parts.uri.query(), &parts.headers, body).await;
    record(&server, &method, &params);
    let fault = server.faults.meet(&method, None);
    if let Some(FaultKind::Delay { ms }) = fault {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
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
            match fault {
                Some(FaultKind::CutAfter) => line.cut(),
                Some(FaultKind::Garbage) => return "this is not the answer".into_response(),
                Some(FaultKind::Truncate) => {
                    return ([(CONTENT_TYPE, "application/json")], "{\"ok\":tr").into_response();
                }
                _ => {}
            }
            Json(answer).into_response()
        }
        Err(refusal) => refused(&refusal),
    }
}

fn record(server: &Server, method: &str, params: &Value) {
    let mut calls = server.calls.lock().unwrap_or_else(PoisonError::into_inner);
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
        FaultKind::Html { status } => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_GATEWAY);
            (status, Html("<html><body>nginx</body></html>")).into_response()
        }
        FaultKind::CutBefore => {
            line.cut();
            StatusCode::BAD_GATEWAY.into_response()
        }
        _ => return None,
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
    match methods::scope(method, params).filter(|scope| world.missing_scopes.contains(*scope)) {
        Some(scope) => Err(Refusal::Scope(scope)),
        None => Ok(()),
    }
}

/// The token of a call.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Reads the query, and the body as JSON where it says so.
async fn params(query: Option<&str>, headers: &HeaderMap, body: Body) -> Value {
    let mut params = Map::new();
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        params.insert(key.to_owned(), decoded(value).into());
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let bytes = to_bytes(body, LARGEST).await.unwrap_or_default();
    if kind.starts_with("application/json")
        && let Ok(Value::Object(body)) = serde_json::from_slice(&bytes)
    {
        params.extend(body);
    }
    Value::Object(params)
}

fn decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let hex = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                if let (Some(high), Some(low)) = (hex(bytes.next()), hex(bytes.next())) {
                    out.extend(u8::try_from(high * 16 + low));
                }
            }
            byte => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
