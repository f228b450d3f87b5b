//! What a call brings: its token and its parameters.

use axum::body::{Body, to_bytes};
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::{Map, Value};

/// Larger calls are refused.
const LARGEST: usize = 1024 * 1024;

/// The token of a call.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Reads the query, and the body as JSON where it says so.
pub(super) async fn read(query: Option<&str>, headers: &HeaderMap, body: Body) -> Value {
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

/// A text parameter; empty when it is not there.
pub(super) fn text<'a>(params: &'a Value, key: &str) -> &'a str {
    params.get(key).and_then(Value::as_str).unwrap_or_default()
}
