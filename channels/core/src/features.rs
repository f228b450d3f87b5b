//! What can be done in one conversation, as data.

use serde::{Deserialize, Serialize};

use crate::Audience;

/// What can be done in one conversation. Stored with a task's facts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Features {
    /// The channel's name: `telegram`.
    pub channel: String,
    /// The kind of conversation: `private`, `group`.
    pub kind: String,
    /// Whether other people read along.
    pub audience: Audience,
    /// Speaking tools that work here, by name.
    pub speaking: Vec<String>,
    /// The kind of text the model should write, one line for the prompt; empty for none.
    pub style: String,
}
