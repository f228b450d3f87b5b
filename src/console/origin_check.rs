//! Who may ask the read API: whom the wall of every listener lets in, methods that only read, and pages of
//! the one allowed origin.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use selkie_channel_core::server::Wall;

use super::answer::Fault;

/// Refuses foreign hosts, foreign pages and methods, and marks what the allowed origin may read.
pub(super) async fn guard(State(wall): State<Arc<Wall>>, request: Request, next: Next) -> Response {
    let origin = wall.foreign_origin(request.headers());
    let mut response = match refusal(&wall, &request) {
        Some(fault) => fault.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        // How many there are of what a list cuts.
        let counts = HeaderValue::from_static("x-total-count, x-done-count");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, counts);
    }
    response
}

fn refusal(wall: &Wall, request: &Request) -> Option<Fault> {
    if let Some(refusal) = wall.refusal(request) {
        return Some(Fault::new(refusal.status, refusal.message));
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return Some(Fault::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "the console only reads: ask with GET",
        ));
    }
    None
}
