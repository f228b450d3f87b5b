//! The APIs that a profile may speak.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The API of a provider or a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// What the address is known for; the other one, where the server itself leads there.
    #[default]
    Auto,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's chat completions, which most servers speak.
    Chat,
    /// Anthropic's Messages.
    Messages,
}

impl Api {
    /// Returns its name as config writes it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Messages => "messages",
        }
    }
}
