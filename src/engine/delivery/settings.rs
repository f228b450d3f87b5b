//! What delivery is told by config: `outbox` and `progress`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use selkie_domain::span::Span;

/// What delivery is told by config.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// What is said, until its receipt.
    pub outbox: OutboxSettings,
    /// How people are shown what a long task is doing.
    pub progress: ProgressSettings,
}

/// What is said, until its receipt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OutboxSettings {
    /// How long an unclear delivery rests before it is looked up, repeated with a mark, or left.
    pub unclear_after: Span,
    /// An answer that could not be delivered for so long expires.
    pub answer_expires: Span,
    /// What people read while the model is away.
    pub outages: TellOutages,
}

/// What people read while the model is away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TellOutages {
    /// Each message is answered by why there is no answer.
    #[default]
    Each,
    /// That is said once in a conversation, until the model answers again.
    Once,
}

impl Default for OutboxSettings {
    fn default() -> Self {
        Self {
            unclear_after: Span::seconds(30),
            answer_expires: Span::seconds(24 * 3600),
            outages: TellOutages::default(),
        }
    }
}

/// How people are shown what a long task is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProgressSettings {
    /// Whether a long task has a message that says what it is doing.
    pub status: StatusMode,
    /// A task that is quicker shows none.
    pub after: Span,
    /// Not more than one edit in this time.
    pub every: Span,
    /// Whether an answer is shown while it is written.
    pub stream: StreamMode,
    /// An answer that is written sooner is sent whole.
    pub stream_after: Span,
}

impl Default for ProgressSettings {
    fn default() -> Self {
        Self {
            status: StatusMode::default(),
            after: Span::seconds(4),
            every: Span::seconds(2),
            stream: StreamMode::default(),
            stream_after: Span::seconds(1),
        }
    }
}

/// Whether a long task has a message that says what it is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum StatusMode {
    /// Wherever the platform lets messages be changed.
    #[default]
    Auto,
    /// Never.
    Off,
}

/// Whether an answer is shown while it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum StreamMode {
    /// At the terminal, on the console's events, and wherever the platform lets messages be changed.
    #[default]
    Auto,
    /// Never: answers come whole.
    Off,
}
