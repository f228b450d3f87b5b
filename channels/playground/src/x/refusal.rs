//! A refusal in X's shape.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// A refusal in X's shape.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) body: Value,
    /// When a limit ends, seconds since 1970.
    pub(super) reset: Option<i64>,
}

impl Refusal {
    pub(super) fn new(status: u16, title: &str, detail: &str) -> Self {
        let body =
            json!({ "title": title, "detail": detail, "type": "about:blank", "status": status });
        Self { status, body, reset: None }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        let mut response = (status, Json(self.body)).into_response();
        if let Some(reset) = self.reset {
            response.headers_mut().insert("x-rate-limit-reset", reset.into());
        }
        response
    }
}
