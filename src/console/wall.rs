//! Who may ask: requests whose Host is loopback (a foreign name means DNS rebinding), methods that only
//! read, and pages of the one allowed origin.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::answer::Fault;

/// What is let through.
pub(super) struct Wall {
    origin: Option<HeaderValue>,
}

impl Wall {
    /// Lets pages of `origin` read. An origin that cannot stand in a header matches none.
    pub(super) fn new(origin: Option<&str>) -> Self {
        Self { origin: origin.and_then(|o| HeaderValue::from_str(o).ok()) }
    }

    fn allowed_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let asked = headers.get(header::ORIGIN)?;
        self.origin.clone().filter(|allowed| allowed == asked)
    }
}

/// Refuses foreign hosts and methods, and marks what the allowed origin may read.
pub(super) async fn guard(State(wall): State<Arc<Wall>>, request: Request, next: Next) -> Response {
    let origin = wall.allowed_origin(request.headers());
    let mut response = match refusal(&request) {
        Some(fault) => fault.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

fn refusal(request: &Request) -> Option<Fault> {
    if !host_is_loopback(request.headers()) {
        return Some(Fault::new(
            StatusCode::FORBIDDEN,
            "the console answers on loopback only: ask for it as http://127.0.0.1:<port>",
        ));
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return Some(Fault::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "the console only reads: ask with GET",
        ));
    }
    None
}

fn host_is_loopback(headers: &HeaderMap) -> bool {
    headers.get(header::HOST).and_then(|h| h.to_str().ok()).is_some_and(names_loopback)
}

fn names_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
    bare.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_pass() {
        for host in ["127.0.0.1:80", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:80", "[::1]"] {
            assert!(names_loopback(host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "10.0.0.1:80",
            "",
            ":80",
            "127.0.0.1@evil.example",
        ] {
            assert!(!names_loopback(host), "{host}");
        }
    }
}
