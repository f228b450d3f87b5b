//! What a call brings: its token and its parameters.

use axum::body::{Body, to_bytes};
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::{Map, Value};

use crate::form::pairs;

/// Larger calls are refused.
const LARGEST: usize = 1024 * 1024;

/// The token of a call.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Reads the query, and the body as JSON where it says so.
pub(super) async fn read(query: Option<&str>, headers: &HeaderMap, body: Body) -> Value {
    let pairs = pairs(query.unwrap_or_default()).into_iter();
    let mut params: Map<String, Value> = pairs.map(|(key, value)| (key, value.into())).collect();
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let bytes = to_bytes(body, LARGEST).await.unwrap_or_default();
    if kind.starts_with("application/json")
        && let Ok(Value::Object(body)) = serde_json::from_slice(&bytes)
    {
        params.extend(body);
    }
    Value::Object(params)
}

/// A text parameter; empty when it is not there.
pub(super) fn text<'a>(params: &'a Value, key: &str) -> &'a str {
    params.get(key).and_then(Value::as_str).unwrap_or_default()
}
