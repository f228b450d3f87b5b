//! The `agent:` section: how far one task may go.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use selkie_domain::span::Span;

/// How far one task may go. Every limit ends the task with a line that names it; 0 lifts a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Model calls of one task. The last one may call no tools, so that it answers.
    pub max_steps: u32,
    /// Tokens read and written by one task.
    pub max_tokens: u64,
    /// Cost of one task in US dollars, by the price table.
    pub max_cost_usd: f64,
    /// From claim to answer.
    pub timeout: Span,
    /// Tokens of the conversation before it, where the model takes as many: at four fifths of them the history is cut
    /// down to half.
    pub max_history_tokens: u64,
    /// Tokens of one model answer.
    pub max_output_tokens: u32,
    /// The n-th call with the same arguments and the same answer is not made: the model gets one step
    /// without tools, and the next repetition ends the task.
    pub repeat_limit: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_steps: 50,
            max_tokens: 1_000_000,
            max_cost_usd: 2.0,
            timeout: Span(Duration::from_secs(30 * 60)),
            max_history_tokens: 24_000,
            max_output_tokens: 8192,
            repeat_limit: 3,
        }
    }
}
