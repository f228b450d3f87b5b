//! Where the browser brings the answer: a listener of this machine for one request.

use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::error::LoginError;

/// How long somebody has for signing in, minutes.
const MINUTES: u64 = 5;
/// How long the browser has to read what it is answered.
const LAST_WORD: Duration = Duration::from_secs(1);
const PAGE: &str =
    "selkie has the answer. You can close this page; the terminal says what came of it.\n";

pub(crate) struct RedirectListener {
    listener: TcpListener,
    /// Its address, as the browser is told.
    pub(crate) address: String,
}

impl RedirectListener {
    pub(crate) async fn new() -> Result<Self, LoginError> {
        let failed = |error: std::io::Error| {
            let why = format!("this machine does not listen for it: {error}");
            LoginError::Unusable(format!("the answer of the browser is not used: {why}"))
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self { listener, address: format!("http://127.0.0.1:{port}/callback") })
    }

    /// Waits for the browser, and returns the query that it comes with.
    pub(crate) async fn query(self) -> Result<String, LoginError> {
        let (tell, mut told) = mpsc::channel(1);
        let done = CancellationToken::new();
        let router = Router::new().route("/callback", get(take)).with_state(tell);
        let until = done.clone().cancelled_owned();
        let served = axum::serve(self.listener, router).with_graceful_shutdown(until).into_future();
        let mut served = std::pin::pin!(served);
        let query = tokio::select! {
            query = timeout(Duration::from_secs(MINUTES * 60), told.recv()) => query.ok().flatten(),
            _ = &mut served => None,
        };
        done.cancel();
        if query.is_some() {
            timeout(LAST_WORD, served).await.ok();
        }
        let late = || format!("nobody has signed in within {MINUTES} minutes");
        query.ok_or_else(|| LoginError::Unusable(late()))
    }
}

/// Takes the first; who comes later is told so.
async fn take(
    State(tell): State<mpsc::Sender<String>>,
    RawQuery(query): RawQuery,
) -> (StatusCode, &'static str) {
    match tell.try_send(query.unwrap_or_default()) {
        Ok(()) => (StatusCode::OK, PAGE),
        Err(_) => (StatusCode::GONE, "selkie has an answer already.\n"),
    }
}
