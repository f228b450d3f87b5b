//! The demo's page, embedded in the binary: one table of files.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{Html, IntoResponse, Response};

/// The files beside `index.html`, as they are asked for.
macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../page/", $name)))),+]
    };
}

const FILES: [(&str, &str); 24] = files![
    "app.js",
    "approval.js",
    "bus.js",
    "chats.js",
    "clock.js",
    "compare.js",
    "composer.js",
    "dom.js",
    "files.js",
    "health.js",
    "known.js",
    "later.js",
    "messages.js",
    "net.js",
    "open.js",
    "reactions.js",
    "rich.js",
    "shape.js",
    "state.js",
    "style.css",
    "talk.js",
    "tasks.js",
    "toolbar.js",
    "words.js",
];

/// `/`.
pub(crate) async fn index() -> impl IntoResponse {
    // The page also reads the daemon's console, another port of this machine.
    let policy = "default-src 'self'; connect-src 'self' http://127.0.0.1:* http://localhost:*; \
                  img-src 'self' data: blob:; media-src 'self' blob:; style-src 'self' 'unsafe-inline'";
    let headers = [(CONTENT_SECURITY_POLICY, policy), (CACHE_CONTROL, "no-cache")];
    (headers, Html(include_str!("../../page/index.html")))
}

/// `/{file}`.
pub(crate) async fn file(Path(wanted): Path<String>) -> Response {
    let Some((name, text)) = FILES.iter().find(|(name, _)| *name == wanted) else {
        return (StatusCode::NOT_FOUND, "no such file\n").into_response();
    };
    let kind = match name.ends_with(".css") {
        true => "text/css; charset=utf-8",
        false => "text/javascript; charset=utf-8",
    };
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-cache")], *text).into_response()
}
