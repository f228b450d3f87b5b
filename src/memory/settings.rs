//! The `memory:` section.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::llm::EmbeddingSettings;

/// How what is remembered is found.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Finding it by what it means.
    pub embeddings: EmbeddingSettings,
}
