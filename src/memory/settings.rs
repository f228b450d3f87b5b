//! The `memory:` section.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::Deserialize;

use selkie_domain::span::Span;
use selkie_llm::EmbeddingSettings;

/// How what is remembered is found, and what is remembered by itself.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Finding it by what it means.
    pub embeddings: EmbeddingSettings,
    /// Summing up conversations that rest.
    pub summary: SummarySettings,
}

/// When a conversation is summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SummarySettings {
    /// After it has rested so long. 0s: never.
    pub after: Span,
    /// When so many tasks have ended since the summary before.
    pub tasks: NonZeroU32,
    /// So many summaries a day (UTC) at most, of all conversations together.
    pub per_day: NonZeroU32,
}

impl Default for SummarySettings {
    fn default() -> Self {
        Self {
            after: Span::seconds(30 * 60),
            tasks: const { NonZeroU32::new(10).unwrap() },
            per_day: const { NonZeroU32::new(100).unwrap() },
        }
    }
}

impl SummarySettings {
    /// Returns how long a conversation rests before; nothing where it is never summed up.
    pub fn after(self) -> Option<TimeDelta> {
        let after = Some(self.after.0).filter(|after| !after.is_zero())?;
        // What is longer than time itself is never.
        TimeDelta::from_std(after).ok().filter(|after| *after < TimeDelta::days(365))
    }
}
