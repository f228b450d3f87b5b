//! What an adapter knows of the profile it serves, and the error for a deadline that has passed.

use std::time::Duration;

use crate::domain::span::Span;
use crate::llm::{Card, ModelError};

/// A profile as every adapter takes it, with all defaults filled in.
pub(super) struct Profile {
    /// What callers must know.
    pub card: Card,
    /// Its name in config.
    pub name: String,
    /// The model's name at its provider.
    pub model: String,
    /// The profile's own limit of tokens written.
    pub max_output: Option<u32>,
    /// Ask for a stream.
    pub stream: bool,
}

/// Says that the deadline has passed.
pub(super) fn too_late(deadline: Duration) -> ModelError {
    let why = format!("no answer within {}", Span(deadline));
    ModelError::Transient { why, retry_after: None }
}
