//! DeepSeek in its thinking mode.

use serde_json::Value;

use crate::model::openai_check::Complaint;
use crate::model::owned::{NO_THOUGHTS, is_thought, since_user};

/// Checks the thoughts: <https://api-docs.deepseek.com/guides/thinking_mode>. Where the model has called tools between
/// two messages of a person, `reasoning_content` of all its messages there comes back in every later request, also in
/// those of later turns; of others it is ignored. Those of the current turn come back as they were; nobody can
/// tell whether older ones are, and an empty text is taken there
/// (<https://github.com/NousResearch/hermes-agent/issues/16021>).
pub(super) fn check(messages: &Value) -> Result<(), Complaint> {
    let list = messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let turns = list.split(|message| message["role"] == "user");
    let calls = |turn: &&[Value]| turn.iter().any(|message| message["tool_calls"].is_array());
    let mut said = turns.filter(calls).flatten().filter(|m| m["role"] == "assistant");
    let is_whole = said.all(|message| message["reasoning_content"].is_string());
    let mut now = since_user(messages, |message| message["role"] == "user");
    if is_whole && now.all(|message| !message["tool_calls"].is_array() || is_thought(message)) {
        return Ok(());
    }
    Err(Complaint::new(NO_THOUGHTS).with_code("invalid_request_error"))
}
