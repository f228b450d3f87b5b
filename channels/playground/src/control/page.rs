//! The demo's page, embedded in the binary.

use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{Html, IntoResponse};

/// `/`.
pub(crate) async fn index() -> impl IntoResponse {
    // The page also reads the daemon's console, another port of this machine.
    let policy = "default-src 'self'; connect-src 'self' http://127.0.0.1:* http://localhost:*; \
                  img-src 'self' data: blob:; media-src 'self' blob:; style-src 'self' 'unsafe-inline'";
    ([(CONTENT_SECURITY_POLICY, policy)], Html(include_str!("../../page/index.html")))
}

/// `/app.js`.
pub(crate) async fn script() -> impl IntoResponse {
    let kind = "text/javascript; charset=utf-8";
    ([(CONTENT_TYPE, kind)], include_str!("../../page/app.js"))
}

/// `/style.css`.
pub(crate) async fn style() -> impl IntoResponse {
    let kind = "text/css; charset=utf-8";
    ([(CONTENT_TYPE, kind)], include_str!("../../page/style.css"))
}
