//! What an adapter knows of the profile it serves, and the error for a deadline that has passed.

use std::time::Duration;

use crate::domain::span::Span;
use crate::llm::{Card, Failed, ModelError, Reason, Request};

/// A profile as every adapter takes it, with all defaults filled in.
pub(super) struct Profile {
    /// What callers must know.
    pub card: Card,
    /// Its name in config.
    pub name: String,
    /// Where it stands in config: `llm.profiles.fast`, or `llm` in the short form.
    pub at: String,
    /// The model's name at its provider.
    pub model: String,
    /// The profile's own limit of tokens written.
    pub max_output: Option<u32>,
    /// Ask for a stream.
    pub stream: bool,
}

impl Profile {
    /// Who answers, for people: `name/model`.
    pub fn by(&self) -> String {
        format!("{}/{}", self.name, self.model)
    }

    /// How many tokens of answer are asked for.
    pub fn most(&self, request: &Request) -> u32 {
        self.max_output.map_or(request.max_output, |most| most.min(request.max_output))
    }
}

/// Says that the deadline has passed.
pub(super) fn too_late(deadline: Duration) -> Failed {
    let why = format!("no answer within {}", Span(deadline));
    ModelError::Transient { why, reason: Reason::Silent, retry_after: None }.into()
}
