//! The HTTP side: hosts, the access token, planned faults, and the answers.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::Server;
use super::api::{self, Answer, ApiCall};
use super::check::Refusal;
use super::demo::ACCESS_TOKEN;
use super::view::LineCall;
use crate::faults::FaultKind;
use crate::line::Line;
use crate::spoilt;

const MAX: usize = 2 * 1024 * 1024;

type NameLookup = fn(bool, &[&str]) -> Option<&'static str>;

/// The API host, below `/line`.
pub(crate) fn routes(server: Arc<Server>) -> Router {
    host(server, api::name)
}

/// The content host, below `/line-data`.
pub(crate) fn data_routes(server: Arc<Server>) -> Router {
    host(server, api::data_name)
}

fn host(server: Arc<Server>, naming: NameLookup) -> Router {
    let call =
        async move |State(server): State<Arc<Server>>,
                    ConnectInfo(line): ConnectInfo<Line>,
                    request: Request<Body>| { call(&server, &line, request, naming).await };
    Router::new().fallback(call).layer(DefaultBodyLimit::disable()).with_state(server)
}

/// One call.
async fn call(server: &Server, line: &Line, request: Request, naming: NameLookup) -> Response {
    let (head, body) = request.into_parts();
    let post = head.method == Method::POST;
    let full = head.uri.path().to_owned();
    let path: Vec<&str> = full.trim_start_matches("/v2/bot/").split('/').collect();
    let Some(method) = naming(post, &path).filter(|_| full.starts_with("/v2/bot/")) else {
        return refuse(&Refusal::new(404, "Not found"));
    };
    if header(&head.headers, AUTHORIZATION.as_str()) != Some(&format!("Bearer {ACCESS_TOKEN}")) {
        let words = "Authentication failed. Confirm that the access token in the authorization \
            header is valid.";
        return refuse(&Refusal::new(401, words));
    }
    let bytes = axum::body::to_bytes(body, MAX).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let retry_key = header(&head.headers, "x-line-retry-key").map(str::to_owned);
    let asked = ApiCall { post, path: &path, body: &body, retry_key: retry_key.as_deref() };
    let fault = server.faults.meet(method, None);
    let (status, response) = answer(server, line, &asked, fault).await;
    let call = LineCall { method: method.to_owned(), body, retry_key, status };
    let mut world = server.world();
    if !world.is_loaded {
        world.calls.push(call);
    }
    drop(world);
    server.tell();
    response
}

/// Carries the call out with the fault it meets.
async fn answer(
    server: &Server,
    line: &Line,
    asked: &ApiCall<'_>,
    fault: Option<FaultKind>,
) -> (u16, Response) {
    spoilt::delay(fault.as_ref()).await;
    if let Some(response) = fault.as_ref().and_then(|kind| before_effect(kind, line)) {
        let cut = matches!(fault, Some(FaultKind::CutBefore));
        return (if cut { 0 } else { response.status().as_u16() }, response);
    }
    let done = match asked.path {
        ["channel", "webhook", "test"] => Ok(Answer::Json(200, api::test(server).await)),
        _ => api::run(server, asked),
    };
    let response = match done {
        Ok(Answer::Json(status, value)) => {
            spoilt::answer(status, value.to_string(), fault.as_ref(), "{}", line)
        }
        Ok(Answer::File { bytes, mime }) => ([(CONTENT_TYPE, mime)], bytes).into_response(),
        Err(refusal) => refuse(&refusal),
    };
    if matches!(fault, Some(FaultKind::CutAfter)) {
        line.cut();
        return (0, response);
    }
    (response.status().as_u16(), response)
}

/// The answer of a fault that comes instead of the effect.
fn before_effect(fault: &FaultKind, line: &Line) -> Option<Response> {
    Some(match fault {
        FaultKind::TooMany { retry_after } => {
            let words = "The API rate limit has been exceeded. Try again later.";
            let mut response = refuse(&Refusal::new(429, words));
            response.headers_mut().insert(RETRY_AFTER, (*retry_after).into());
            response
        }
        FaultKind::Unauthorized => refuse(&Refusal::new(401, "Authentication failed")),
        FaultKind::Conflict => refuse(&Refusal::new(409, "Conflict")),
        FaultKind::Refuse { code, description } => refuse(&Refusal::new(*code, description)),
        other => return spoilt::instead(other, line),
    })
}

fn refuse(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    let body = if refusal.body.is_null() { json!({}) } else { refusal.body.clone() };
    let mut response = (status, Json(body)).into_response();
    let accepted = refusal.accepted.as_ref().and_then(|id| id.parse().ok());
    if let Some(id) = accepted {
        response.headers_mut().insert("x-line-accepted-request-id", id);
    }
    response
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
