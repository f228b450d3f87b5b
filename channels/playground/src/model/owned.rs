//! What a provider marks as its own beside the calls of its model, and refuses to go on without.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the servers want back with their calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnForm {
    /// Nothing.
    #[default]
    Nothing,
    /// Thoughts: `reasoning_content`, or blocks with signatures in Anthropic's dialect.
    Thoughts,
    /// A mark on the first call (`extra_content`), in OpenAI's dialect alone.
    Marks,
}

/// What is thought before an answer; nobody could make it up.
pub(super) fn thoughts(number: u64) -> String {
    format!("thinking of request {number} 🤔 with \\ and \"quotes\"")
}

/// Its signature.
pub(super) fn signature(number: u64) -> String {
    format!("c2lnbmVk/{number}+==")
}

/// The block with thoughts that nobody may read.
pub(super) fn hidden(number: u64) -> Value {
    json!({ "type": "redacted_thinking", "data": format!("aGlkZGVu/{number}") })
}

/// The mark on a call.
pub(super) fn mark(number: u64) -> Value {
    json!({ "google": { "thought_signature": signature(number) } })
}

/// Whether `makes` has made a text for some request: the one whose number stands in it.
pub(super) fn is_made(text: &str, makes: impl Fn(u64) -> String) -> bool {
    let digits = |c: char| !c.is_ascii_digit();
    let mut numbers = text.split(digits).filter_map(|digits| digits.parse().ok());
    numbers.any(|number| makes(number) == text)
}

/// Whether a call carries a mark of ours.
pub(super) fn is_marked(call: &Value) -> bool {
    let mark = call["extra_content"]["google"]["thought_signature"].as_str();
    mark.is_some_and(|mark| is_made(mark, signature))
}

/// Whether a message carries thoughts of ours.
pub(super) fn is_thought(message: &Value) -> bool {
    message["reasoning_content"].as_str().is_some_and(|text| is_made(text, thoughts))
}

/// What a chat completions server says of calls without their thoughts.
pub(super) const NO_THOUGHTS: &str =
    "The `reasoning_content` in the thinking mode must be passed back to the API.";
/// What a Messages server says of calls without theirs.
pub(super) const NO_THINKING: &str = "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When \
     `thinking` is enabled, a final `assistant` message must start with a thinking block.";

impl OwnForm {
    /// Checks a chat completions request: every call since the person's last message has what it came with.
    pub(super) fn check_openai(self, messages: &Value) -> Result<(), &'static str> {
        for message in since_user(messages, |m| m["role"] == "user") {
            let Some(calls) = message["tool_calls"].as_array() else { continue };
            match self {
                Self::Thoughts if !is_thought(message) => return Err(NO_THOUGHTS),
                Self::Marks if !is_marked(&calls[0]) => {
                    return Err(
                        "Function call is missing a thought_signature in functionCall parts.",
                    );
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks a Messages request likewise.
    pub(super) fn check_anthropic(self, messages: &Value) -> Result<(), &'static str> {
        let text = |block: &Value| block["data"].as_str().unwrap_or_default().to_owned();
        let is_hidden = |block: &Value| is_made(&text(block), |n| text(&hidden(n)));
        let is_whole = |blocks: &[Value]| match blocks {
            [first, second, ..] => is_thinking(first) && is_hidden(second),
            _ => false,
        };
        for message in since_user(messages, says) {
            let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
            if self == Self::Thoughts && asks(blocks) && !is_whole(blocks) {
                return Err(NO_THINKING);
            }
        }
        Ok(())
    }
}

/// Whether a block is a thought of ours with its signature.
fn is_thinking(block: &Value) -> bool {
    let whole =
        |n| json!({ "type": "thinking", "thinking": thoughts(n), "signature": signature(n) });
    let text = block["thinking"].as_str().unwrap_or_default();
    is_made(text, |n| if *block == whole(n) { thoughts(n) } else { String::new() })
}

/// Whether a message is a person's: the answers of calls come in their name, too.
pub(super) fn says(message: &Value) -> bool {
    let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_said = message["content"].is_string() || blocks.iter().any(|b| b["type"] == "text");
    message["role"] == "user" && is_said
}

/// Whether an answer calls tools.
pub(super) fn asks(blocks: &[Value]) -> bool {
    blocks.iter().any(|block| block["type"] == "tool_use")
}

/// The model's messages since the person's last one.
pub(super) fn since_user(
    messages: &Value,
    is_user: impl Fn(&Value) -> bool,
) -> impl Iterator<Item = &Value> {
    let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let from = messages.iter().rposition(is_user).unwrap_or_default();
    messages[from..].iter().filter(|message| message["role"] == "assistant")
}
