//! One call, from what the model wrote to what it reads: look up, check, time-box, call, cut, redact.

use selkie_channel_core::Redactor;

use crate::domain::transcript::{Answer, Call};
use crate::tools::ToolError;
use crate::tools::registry::Registry;
use crate::tools::scope::Scope;

/// An answered call.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatched {
    /// For the transcript.
    pub answer: Answer,
    /// The answer holds words from outside.
    pub untrusted: bool,
}

/// Calls a tool of this task's registry. Every fault of the model's becomes an answer; only what must
/// end the task is an error.
///
/// # Errors
/// [`ToolError::Abort`] alone.
pub async fn dispatch(
    registry: &Registry,
    call: &Call,
    scope: &Scope,
    redactor: &Redactor,
) -> Result<Dispatched, ToolError> {
    let _ = (registry, call, scope, redactor);
    todo!("tools")
}
