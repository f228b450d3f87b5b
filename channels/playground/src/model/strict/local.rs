//! A local server whose window is small.

use serde_json::Value;

use crate::model::openai_check::Complaint;
use crate::model::stream::tokens;

/// Tokens that prompt and answer have together: what Ollama loads a model with on a small machine
/// (<https://docs.ollama.com/context-length>).
pub(super) const WINDOW: usize = 4_096;
/// Kept free for the answer when a prompt is cut.
const ANSWER: usize = 512;

/// Checks little: <https://docs.ollama.com/api/openai-compatibility>. What it does not know it ignores.
pub(super) fn check(body: &Value) -> Result<(), Complaint> {
    if body["messages"].as_array().is_none_or(Vec::is_empty) {
        return Err(Complaint::new("[] is too short - 'messages'"));
    }
    Ok(())
}

/// Cuts a request to what the window holds, as Ollama does (`server/prompt.go`, also
/// <https://github.com/LogneBudo/llmxray/releases/tag/v0.8.12>): the oldest messages go, what the system says and the
/// newest message stay. What is too long even so loses its beginning: here first the list of tools, which stands there.
/// Returns how many tokens are gone; nobody is told.
pub(crate) fn fit(body: &mut Value) -> usize {
    let before = size(body);
    let most = WINDOW - ANSWER;
    let is_system = |message: &Value| message["role"] == "system";
    while size(body) > most
        && let Some(messages) = body["messages"].as_array_mut()
        && let Some(oldest) = messages.iter().position(|message| !is_system(message))
        && oldest + 1 < messages.len()
    {
        messages.remove(oldest);
    }
    if size(body) > most
        && let Some(fields) = body.as_object_mut()
    {
        fields.remove("tools");
    }
    let over = size(body).saturating_sub(most);
    if over > 0
        && let Some(messages) = body["messages"].as_array_mut()
        && let Some(system) = messages.iter_mut().find(|message| is_system(message))
        && let Some(text) = system["content"].as_str()
    {
        let wanted = (over * 4 + 4).min(text.len());
        let from = (wanted..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        system["content"] = text[from..].into();
    }
    before.saturating_sub(size(body))
}

/// How many tokens the prompt has.
pub(crate) fn size(body: &Value) -> usize {
    tokens(&body["tools"].to_string()) + tokens(&body["messages"].to_string())
}
