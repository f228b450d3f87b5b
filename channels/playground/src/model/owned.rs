//! What a provider marks as its own beside the calls of its model, and refuses to go on without.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the servers want back with their calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owned {
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

impl Owned {
    /// Checks a chat completions request: every call since the person's last message has what it came with.
    pub(super) fn check_openai(self, messages: &Value, until: u64) -> Result<(), &'static str> {
        let known = |fits: &dyn Fn(u64) -> bool| (1..until).any(fits);
        for message in since_user(messages, |m| m["role"] == "user") {
            let Some(calls) = message["tool_calls"].as_array() else { continue };
            let thinks = |n| message["reasoning_content"] == thoughts(n).as_str();
            let marked = |n| calls[0]["extra_content"] == mark(n);
            match self {
                Self::Thoughts if !known(&thinks) => {
                    return Err(
                        "The `reasoning_content` in the thinking mode must be passed back to the API.",
                    );
                }
                Self::Marks if !known(&marked) => {
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
    pub(super) fn check_anthropic(self, messages: &Value, until: u64) -> Result<(), &'static str> {
        let says = |m: &Value| {
            let blocks = m["content"].as_array().map(Vec::as_slice).unwrap_or_default();
            m["role"] == "user" && blocks.iter().any(|block| block["type"] == "text")
        };
        let known = |blocks: &[Value]| {
            (1..until).any(|n| {
                let (thought, signed) = (thoughts(n), signature(n));
                let first = json!({ "type": "thinking", "thinking": thought, "signature": signed });
                blocks.first() == Some(&first) && blocks.get(1) == Some(&hidden(n))
            })
        };
        let asks = |blocks: &[Value]| blocks.iter().any(|block| block["type"] == "tool_use");
        for message in since_user(messages, says) {
            let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
            if self == Self::Thoughts && asks(blocks) && !known(blocks) {
                return Err(
                    "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a \
                     final `assistant` message must start with a thinking block.",
                );
            }
        }
        Ok(())
    }
}

fn since_user(messages: &Value, is_user: impl Fn(&Value) -> bool) -> impl Iterator<Item = &Value> {
    let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let from = messages.iter().rposition(is_user).unwrap_or_default();
    messages[from..].iter().filter(|message| message["role"] == "assistant")
}
