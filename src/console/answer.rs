//! What the read API answers: rows with readable keys, and faults that say what to do.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use selkie_channel_core::ConversationId;
use serde::Serialize;
use serde_json::json;

use selkie_store::StoreError;

/// A row beside the key of its conversation, as people write it.
#[derive(Serialize)]
pub(super) struct KeyedRow<T> {
    key: String,
    #[serde(flatten)]
    row: T,
}

impl<T> KeyedRow<T> {
    /// Puts the key of `of(row)` beside the row.
    pub(super) fn by(row: T, of: impl FnOnce(&T) -> &ConversationId) -> Self {
        Self { key: of(&row).key().to_owned(), row }
    }

    /// Puts the key of a conversation beside a row.
    pub(super) fn under(conversation: &ConversationId, row: T) -> Self {
        Self { key: conversation.key().to_owned(), row }
    }
}

/// An answer or a fault.
pub(super) type Answer<T> = Result<Json<T>, Fault>;

/// `{"error": "…"}` with a status.
#[derive(Debug)]
pub(super) struct Fault {
    status: StatusCode,
    message: String,
}

impl Fault {
    /// Says what is wrong and what to do.
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// There is no such thing; `says` tells where to look.
    pub(super) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// The question cannot be read.
    pub(super) fn unreadable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        tracing::warn!(%error, "the console cannot read the ledger");
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("the ledger cannot be read now, ask again: {error}"),
        )
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.message }))).into_response()
    }
}
