//! The run's header: what is stored of a run beside its transcript.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::loop_guard::LoopGuard;
use selkie_domain::question::QuestionResult;
use selkie_domain::transcript::{Answer, Call};
use selkie_domain::usage::Usage;

/// What is stored of a run beside its transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub v: u16,
    /// When the task was first claimed.
    pub since: DateTime<Utc>,
    /// Model calls so far.
    pub steps: u32,
    pub usage: Usage,
    #[serde(rename = "circles")]
    pub loop_guard: LoopGuard,
    /// The next step may call no tools, because of a repetition or because it is the last one.
    #[serde(default)]
    pub hushed: Option<LastAnswerOnly>,
    /// The provider's last refusal in its own words.
    #[serde(default)]
    pub refused: Option<String>,
    /// The conversation before this task is not used any more.
    #[serde(default)]
    pub set_aside: bool,
    /// An answer came since.
    #[serde(default)]
    pub went_on: bool,
    /// The first step whose answer still goes back in its provider's own form.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub own_from: u32,
    #[serde(default)]
    pub fittings: u32,
    /// Calls of the last model answer whose turn comes later: group after group, each begun when the one
    /// before is answered.
    #[serde(default)]
    pub later: Vec<Vec<Call>>,
    /// Open calls that work on foreign bytes in this process and have begun: what ends the daemon once is
    /// not begun again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub started: Vec<String>,
    /// The open call has asked a person.
    #[serde(default)]
    pub asking: Option<QuestionCall>,
    /// The open call waits for somebody's approval, or has got it.
    #[serde(default, rename = "leave", skip_serializing_if = "Option::is_none")]
    pub approval: Option<CallApproval>,
    /// The open calls let agents work, and wait for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children: Option<ChildrenCalls>,
    /// The answer was corrected once, for it did not have the form that it has to have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub corrected: bool,
    /// Calls of the last model answer that ask before they are made: without an approval they have not begun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub will_ask: Vec<String>,
    /// Tools that somebody has refused this task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// The names of the pictures that the model has drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<String>,
}

/// What the open calls wait for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChildrenCalls {
    /// Since when: that time is not the task's.
    pub since: DateTime<Utc>,
    /// The calls, in their order.
    pub calls: Vec<AgentCall>,
}

/// One call, and what it is answered by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentCall {
    /// What is known when it is made.
    pub answer: Answer,
    /// The agents whose ends are the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaited: Vec<String>,
}

/// A call that needs somebody's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallApproval {
    /// The call's id.
    pub call: String,
    /// The approval's key.
    pub key: String,
    /// Since when it waits: that time is not the task's.
    pub since: Option<DateTime<Utc>>,
}

/// A call that asks a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionCall {
    /// The call's id.
    pub call: String,
    /// What was answered so far.
    pub given: Vec<QuestionResult>,
    /// The question that is open now, and since when: that time is not the task's.
    pub open: Option<(String, DateTime<Utc>)>,
    /// What the call gets back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Value>,
}

/// The layout of headers written today.
pub const VERSION: u16 = 1;

/// Why the next step may call no tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastAnswerOnly {
    /// This tool was called again and again.
    Repeated(String),
    /// `max_steps` is reached.
    LastStep,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(step: &u32) -> bool {
    *step == 0
}

/// Returns what was spent since a usage was stored.
pub fn since_stored(now: Usage, stored: Usage) -> Usage {
    Usage {
        calls: now.calls - stored.calls,
        input: now.input - stored.input,
        cached: now.cached - stored.cached,
        output: now.output - stored.output,
        thoughts: now.thoughts.saturating_sub(stored.thoughts),
        micro_usd: now.micro_usd - stored.micro_usd,
    }
}
