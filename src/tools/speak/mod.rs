//! Speaking into this very conversation: one implementation for all channels; what differs is data.

mod react;
mod send;

use std::sync::Arc;

use selkie_channel_core::{SpeakingEffect, SpeakingTool};
use serde_json::Value;

use crate::domain::tool::{Class, Recovery, ToolSpec};
use crate::tools::args::tidy;
use crate::tools::ports::Spoken;
use crate::tools::scope::Scope;
use crate::tools::{Output, Settings, Tool, ToolError};

/// Makes the runtime tool of a channel's data. It knows no task: the call's scope says where it speaks.
pub fn tool(
    data: &'static SpeakingTool,
    channel: &'static str,
    settings: &Settings,
) -> Arc<dyn Tool> {
    let spec = Arc::new(ToolSpec {
        name: data.name,
        description: data.description.to_owned(),
        parameters: tidy((data.parameters)().to_value()),
        class: Class::Reply,
        group: channel,
        sources: &["S3"],
        // Its effect is a row under the call's id: calling again finds the row.
        recovery: Recovery::CallAgain,
    });
    match data.effect {
        SpeakingEffect::React => Arc::new(react::React { spec, data }),
        SpeakingEffect::SendFile | SpeakingEffect::SendPhoto | SpeakingEffect::SendVoice => {
            let max_bytes = settings.send.max_bytes.min(data.max_bytes);
            Arc::new(send::Send { spec, data, max_bytes })
        }
    }
}

/// Whether config leaves a speaking tool on.
pub fn is_enabled(data: &SpeakingTool, settings: &Settings) -> bool {
    match data.effect {
        SpeakingEffect::React => settings.react.enabled,
        SpeakingEffect::SendFile | SpeakingEffect::SendPhoto | SpeakingEffect::SendVoice => {
            settings.send.enabled
        }
    }
}

/// Refuses every conversation but this one, however the id is written.
fn only_here(data: &SpeakingTool, scope: &Scope, args: &Value) -> Result<(), ToolError> {
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
fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|t| !t.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Tells the model what became of its words.
fn outcome(spoken: Spoken, sent: &str) -> Output {
    match spoken {
        Spoken::Sent(_) => Output::ok(sent),
        Spoken::Queued => Output::ok("queued: it is stored and will be sent; do not send it again"),
        Spoken::Unclear => Output::ok(
            "unclear: it may or may not have arrived, and it is not repeated; do not send it again",
        ),
        Spoken::Refused(reason) => {
            Output { text: format!("refused: {reason}"), is_error: true, ..Output::default() }
        }
    }
}

#[cfg(test)]
mod tests;
