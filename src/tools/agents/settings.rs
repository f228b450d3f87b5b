//! `tools.spawn` and `tools.agents`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use selkie_domain::span::Span;

/// `tools.spawn`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Spawn")]
pub struct Settings {
    /// Whether it may be used.
    pub enabled: bool,
    /// How many agents of one task run side by side; the others wait for their turn.
    #[schemars(range(min = 1, max = 64))]
    pub side_by_side: u32,
    /// How long an agent may take, and the most that a call may give it.
    pub timeout: Span,
    /// How long an agent that has ended can be asked again, and its name is taken.
    pub keep: Span,
}

/// `tools.agents`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "AgentTools")]
pub struct Tools {
    /// Whether `list_agents`, `message_agent`, `peek_agent` and `stop_agent` may be used, for whose schemas every request
    /// pays.
    pub enabled: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            side_by_side: 4,
            timeout: Span(Duration::from_secs(30 * 60)),
            keep: Span(Duration::from_secs(24 * 60 * 60)),
        }
    }
}
