//! The HTTP side: who calls, planned faults, and the answers.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::http::Method;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::Server;
use super::api::{self, ApiCall};
use super::login::{self, Caller, SignedRequest};
use super::media::{self, Form};
use super::record::XCall;
use super::refusal::Refusal;
use crate::faults::FaultKind;
use crate::form::pairs;
use crate::line::Line;
use crate::spoilt;

/// A piece of a file, and what stands around it.
const MAX: usize = media::PIECE + 64 * 1024;

/// Where the playground serves this: a part of what callers sign.
pub(crate) const MOUNT: &str = "/x";

/// The API, below [`MOUNT`].
pub(crate) fn routes(server: Arc<Server>) -> Router {
    let call =
        async move |State(server): State<Arc<Server>>,
                    ConnectInfo(line): ConnectInfo<Line>,
                    request: Request<Body>| { call(&server, &line, request).await };
    Router::new().fallback(call).layer(DefaultBodyLimit::disable()).with_state(server)
}

/// One call.
async fn call(server: &Server, line: &Line, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let is_post = head.method == Method::POST;
    let full = head.uri.path().to_owned();
    let path: Vec<&str> = full.trim_start_matches("/2/").split('/').collect();
    let Some(method) = api::name(is_post, &path).filter(|_| full.starts_with("/2/")) else {
        return Refusal::new(404, "Not Found", "Not Found").into_response();
    };
    let bytes = axum::body::to_bytes(body, MAX).await.unwrap_or_default();
    let form = media::form(&head.headers, &bytes).await;
    let fault = server.faults.meet(method, None);
    // A call is known from the moment it arrives; its status when it is answered.
    let number = {
        let mut world = server.world();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        world.calls.push(XCall { method: method.to_owned(), body, status: None });
        world.calls.len() - 1
    };
    server.tell();
    let response = answer(server, line, &fault, |server| {
        let (status, value) =
            run(server, &head, &path, &RequestBody { bytes: &bytes, form: form.as_ref() })?;
        Ok((status, server.world().answer_of(method).unwrap_or(value)))
    })
    .await;
    let cut = matches!(fault, Some(FaultKind::CutBefore | FaultKind::CutAfter));
    server.world().calls[number].status = Some(if cut { 0 } else { response.status().as_u16() });
    server.tell();
    response
}

/// A body as it came.
struct RequestBody<'a> {
    bytes: &'a [u8],
    form: Option<&'a Form>,
}

fn run(
    server: &Server,
    head: &Parts,
    path: &[&str],
    sent: &RequestBody<'_>,
) -> Result<(u16, Value), Refusal> {
    let now = server.now();
    let RequestBody { bytes, form } = sent;
    if path == ["oauth2", "token"] {
        return Ok((200, login::renew(&mut server.world(), bytes, now)?));
    }
    let query = pairs(head.uri.query().unwrap_or_default());
    let caller = caller(server, head, &query)?;
    let is_post = head.method == Method::POST;
    let is_json = head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_post && !is_json && form.is_none() {
        return Err(Refusal::new(
            415,
            "Unsupported Media Type",
            "The body must be application/json.",
        ));
    }
    let body = serde_json::from_slice(bytes).unwrap_or_default();
    api::run(server, &ApiCall { is_post, path, query: &query, body: &body, form: *form, caller })
}

fn caller(server: &Server, head: &Parts, query: &[(String, String)]) -> Result<Caller, Refusal> {
    let host = head.headers.get(HOST).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let url = format!("http://{host}{MOUNT}{}", head.uri.path());
    let signed =
        SignedRequest { method: head.method.as_str(), url: &url, query, now: server.now() };
    login::caller(&mut server.world(), &head.headers, &signed)
}

/// Carries the call out with the fault it meets.
async fn answer(
    server: &Server,
    line: &Line,
    fault: &Option<FaultKind>,
    run: impl FnOnce(&Server) -> Result<(u16, Value), Refusal>,
) -> Response {
    spoilt::delay(fault.as_ref()).await;
    if let Some(response) = fault.as_ref().and_then(|kind| before_effect(server, kind, line)) {
        return response;
    }
    match run(server) {
        Ok((status, value)) => {
            spoilt::answer(status, value.to_string(), fault.as_ref(), "{}", line)
        }
        Err(refusal) if matches!(fault, Some(FaultKind::CutAfter)) => {
            line.cut();
            refusal.into_response()
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// The answer of a fault that comes instead of the effect.
fn before_effect(server: &Server, fault: &FaultKind, line: &Line) -> Option<Response> {
    Some(match fault {
        FaultKind::TooMany { retry_after } => {
            let refusal = Refusal::new(429, "Too Many Requests", "Too Many Requests");
            let wait = i64::try_from(*retry_after).unwrap_or(i64::MAX);
            let reset = Some(server.now().timestamp().saturating_add(wait));
            Refusal { reset, ..refusal }.into_response()
        }
        FaultKind::Unauthorized => {
            Refusal::new(401, "Unauthorized", "Unauthorized").into_response()
        }
        FaultKind::Refuse { code, description } => {
            Refusal::new(*code, "Refused", description).into_response()
        }
        other => return spoilt::instead(other, line),
    })
}
