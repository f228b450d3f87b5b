//! A request's body as a whole, within its size and its time.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use tokio::time::timeout;

/// The largest body of a webhook, in bytes: services send a few kilobytes.
pub const MAX_WEBHOOK: usize = 1024 * 1024;
/// A body that has not arrived by then never will.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Reads a body of at most `max` bytes. One that says that it is larger is not read at all.
///
/// # Errors
/// The status to answer with: 413 for what is too large or was cut, 408 for what does not come in 15 seconds.
pub async fn whole_body(
    headers: &HeaderMap,
    body: Body,
    max: usize,
) -> Result<axum::body::Bytes, StatusCode> {
    let said = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    if said.is_some_and(|said| said > max) {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    match timeout(TIMEOUT, to_bytes(body, max)).await {
        Ok(Ok(body)) => Ok(body),
        // A body that was cut and one without end look alike here; neither is taken.
        Ok(Err(_)) => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}
