//! The emulated model servers: one script and one record behind two providers' dialects.

mod anthropic;
mod anthropic_check;
mod cache;
mod contract;
mod conversation;
mod ears;
mod embeddings;
mod handle;
mod maker;
mod making;
mod meaning;
mod openai;
mod openai_check;
mod owned;
mod prompt;
mod speech;
mod stream;
mod strict;
mod turn;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

pub(crate) use conversation::text_of;
pub use conversation::{AnsweredCall, Conversation, ListedTool, TalkTurn};
pub use ears::{SentRecording, Speech, SpeechMode};
pub use handle::{Answerer, Behaviour, Dialect, EmbeddingMode, Model, ModelRequest};
pub use maker::{Maker, MakerMode, SaidWords, WantedPicture};
pub use owned::OwnForm;
pub(crate) use prompt::{Prompt, fresh};
pub use strict::Family;
pub use turn::{ScriptedCall, Turn};

/// The routes below `/model`.
pub(crate) fn routes(model: Model) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(openai::chat))
        .route("/v1/responses", post(strict::responses::responses))
        .route("/v1/embeddings", post(embeddings::embeddings))
        .route("/v1/audio/transcriptions", post(speech::transcriptions))
        .route("/v1/audio/speech", post(making::speech))
        .route("/v1/images/generations", post(making::generations))
        .route("/v1/images/edits", post(making::edits))
        .route("/v1/pictures/{name}", get(making::picture))
        .route("/v1/models", get(openai::models))
        .route("/api/ps", get(strict::running::running))
        .route("/anthropic/v1/messages", post(anthropic::messages))
        .layer(DefaultBodyLimit::disable())
        .with_state(model)
}

#[cfg(test)]
mod tests;
