//! What an answer of HTTP says of a request.

use reqwest::header::{CONTENT_TYPE, HeaderName, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};

use crate::error::McpError;
use crate::login::Challenge;
use crate::message::{self, Incoming};
use crate::open_calls::Reply;
use crate::text::short;

/// Bytes of a body that tells of a failure, and characters of it that are told.
const MAX_REFUSAL: usize = 64 * 1024;
const MAX_WORDS: usize = 300;
/// Characters of what says how to sign in.
const MAX_CHALLENGE: usize = 2_000;

pub(crate) fn is_stream(response: &Response) -> bool {
    header(response, CONTENT_TYPE).to_ascii_lowercase().starts_with("text/event-stream")
}

/// Reads a body of at most so many bytes; they count unpacked.
pub(crate) async fn whole(mut response: Response, most: usize) -> Result<Vec<u8>, McpError> {
    let broken = |error: reqwest::Error| {
        McpError::Gone(format!("broke off its answer ({})", innermost(&error)))
    };
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(broken)? {
        if bytes.len() + piece.len() > most {
            return Err(McpError::Protocol(format!("sent an answer of more than {most} bytes")));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// Reads the answer to a request in a body.
pub(crate) fn answer_in(bytes: &[u8], id: Option<u64>) -> Reply {
    match message::read(bytes) {
        Some(Incoming::Answer { id: of, result }) if of == id || result.is_err() => result,
        _ => Err(McpError::Protocol("sent an answer that is none to the request".to_owned())),
    }
}

/// Says what a status means that is no success. Requests go nowhere but where the config says: whoever answers with a
/// redirect decides nothing.
pub(crate) async fn refused(response: Response, server: &str, has_session: bool) -> McpError {
    let status = response.status();
    if status.is_redirection() {
        let to = short(header(&response, LOCATION), MAX_WORDS);
        return McpError::Protocol(format!(
            "redirects to {to}, where nothing was sent: only its url in the config says where requests go"
        ));
    }
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return unsigned(&response, server);
    }
    if status == StatusCode::NOT_FOUND && has_session {
        return McpError::SessionLost;
    }
    let body = whole(response, MAX_REFUSAL).await.unwrap_or_default();
    if let Some(Incoming::Answer { result: Err(refusal), .. }) = message::read(&body) {
        return refusal;
    }
    let words = short(&String::from_utf8_lossy(&body), MAX_WORDS);
    McpError::Status { status: status.as_u16(), words }
}

/// Says what somebody who signs in would change.
fn unsigned(response: &Response, server: &str) -> McpError {
    let all = response.headers().get_all(WWW_AUTHENTICATE).into_iter();
    let all: Vec<_> = all.filter_map(|value| value.to_str().ok()).collect();
    let challenge = short(&all.join(", "), MAX_CHALLENGE);
    let server = server.to_owned();
    match Challenge::read(&challenge).lacks() {
        Some(scopes) => McpError::Scope { server, scopes },
        None => McpError::SignIn { server, status: response.status().as_u16(), challenge },
    }
}

/// Says why a request came to nothing. What was never sent can be sent again; of all else nobody knows what came of it.
pub(crate) fn failure(error: reqwest::Error) -> McpError {
    let words = innermost(&error);
    match error.is_connect() || error.is_builder() {
        true => McpError::Unreachable(words),
        false => McpError::Gone(format!("broke off ({words})")),
    }
}

fn header(response: &Response, name: HeaderName) -> &str {
    response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Returns the reason behind all others.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    short(&inner.to_string(), MAX_WORDS)
}
