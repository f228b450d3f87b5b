//! How fast a channel may speak, by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Pace;

/// How fast a channel may speak.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaceName {
    /// As the platform allows.
    #[default]
    Platform,
    /// As fast as it can, for benchmarks.
    Lifted,
}

impl PaceName {
    /// What is taken.
    pub const TAKEN: &str = "platform or lifted";

    /// Returns the pace; the platform's own is `platform`.
    pub fn pace(self, platform: Pace) -> Pace {
        match self {
            Self::Platform => platform,
            Self::Lifted => Pace::LIFTED,
        }
    }
}
