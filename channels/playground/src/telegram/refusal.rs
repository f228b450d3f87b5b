//! The Bot API's answers: `{"ok":true,…}` and its refusals with their real words.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// A refusal as the Bot API words it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    /// The HTTP status and `error_code`.
    pub(crate) code: u16,
    /// The `description`.
    pub(crate) description: String,
    /// `parameters`, where the API gives them.
    pub(crate) parameters: Option<Value>,
}

impl Refusal {
    /// Any refusal with this code and these words.
    pub(crate) fn new(code: u16, description: impl Into<String>) -> Self {
        Self { code, description: description.into(), parameters: None }
    }

    /// 400 `Bad Request: …`.
    pub(crate) fn bad(what: impl AsRef<str>) -> Self {
        Self::new(400, format!("Bad Request: {}", what.as_ref()))
    }

    /// 403 `Forbidden: …`.
    pub(crate) fn forbidden(what: &str) -> Self {
        Self::new(403, format!("Forbidden: {what}"))
    }

    /// 404, for methods and tokens the server does not know.
    pub(crate) fn not_found() -> Self {
        Self::new(404, "Not Found")
    }

    /// 401, for a wrong token.
    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized")
    }

    /// 409, for the older of two pollers.
    pub(crate) fn second_poller() -> Self {
        Self::new(
            409,
            "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
        )
    }

    /// 409, for polling while a webhook is set.
    pub(crate) fn webhook_active() -> Self {
        Self::new(
            409,
            "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        )
    }

    /// 409, for a poll that waits while a webhook is set.
    pub(crate) fn ended_by_webhook() -> Self {
        Self::new(409, "Conflict: terminated by setWebhook request")
    }

    /// 429 with `retry_after` in seconds.
    pub(crate) fn too_many(retry_after: u64) -> Self {
        Self {
            code: 429,
            description: format!("Too Many Requests: retry after {retry_after}"),
            parameters: Some(json!({ "retry_after": retry_after })),
        }
    }

    /// 400 for a group that became a supergroup.
    pub(crate) fn migrated(to: i64) -> Self {
        Self {
            parameters: Some(json!({ "migrate_to_chat_id": to })),
            ..Self::bad("group chat was upgraded to a supergroup chat")
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut body = json!({
            "ok": false, "error_code": self.code, "description": self.description,
        });
        if let Some(parameters) = self.parameters {
            body["parameters"] = parameters;
        }
        let status = StatusCode::from_u16(self.code).unwrap_or(StatusCode::BAD_REQUEST);
        (status, Json(body)).into_response()
    }
}
