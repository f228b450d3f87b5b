//! What all tools that speak share: they speak here only, and say what became of it.

use selkie_channel_core::SpeakingTool;
use serde_json::Value;

use super::letter::word;
use crate::args::tidy;
use crate::ports::SayOutcome;
use crate::scope::Scope;
use crate::{Output, ToolError};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// What is known of every tool that speaks in its own conversation.
pub(super) fn spec(data: &'static SpeakingTool, channel: &'static str) -> ToolSpec {
    let parameters = tidy((data.parameters)().to_value());
    ToolSpec {
        description: data.description.to_owned(),
        group: channel,
        sources: &["S3"],
        speaks: true,
        // Its effect is a row under the call's id: calling again finds the row.
        ..ToolSpec::new(data.name, Class::Reply, Recovery::CallAgain, parameters)
    }
}

/// Refuses every conversation but this one, however the id is written.
pub(super) fn only_here(data: &SpeakingTool, scope: &Scope, args: &Value) -> Result<(), ToolError> {
    let Some(name) = data.names.conversation else { return Ok(()) };
    let Some(written) = args.get(name).and_then(id) else { return Ok(()) };
    match scope.reply.is_here(&written) {
        Some(true) => Ok(()),
        Some(false) => Err(ToolError::tell(format!(
            "unauthorized {name}: {written} is another conversation; {} speaks in this one only: \
             leave {name} out",
            data.name
        ))),
        None => Err(ToolError::tell(format!(
            "invalid {name}: {written} names no conversation: leave it out for this one"
        ))),
    }
}

/// An id as models write it: a number or a text.
pub(super) fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|t| !t.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Tells the model what became of its words.
pub(super) fn outcome(spoken: SayOutcome, sent: &str) -> Output {
    match spoken {
        SayOutcome::Sent(_) => Output::ok(sent),
        SayOutcome::Queued | SayOutcome::Unclear => Output::ok(word(&spoken)),
        SayOutcome::Refused(reason) => {
            Output { text: format!("refused: {reason}"), is_error: true, ..Output::default() }
        }
    }
}
