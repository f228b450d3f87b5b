//! What a request says to the model: the user's words, for the default behaviour and the keyed scripts.

use serde_json::Value;

use super::conversation::{Conversation, text_of};

/// A request as the script sees it.
pub(crate) struct Prompt<'a> {
    /// The whole request.
    pub(crate) raw: &'a str,
    /// The user's texts since the model's last answer, oldest first.
    pub(crate) fresh: Vec<String>,
    /// The whole talk, read when it is asked for.
    pub(crate) talk: &'a (dyn Fn() -> Conversation + Sync),
}

/// The user's texts after the last assistant message; when there is none, the last one before it.
pub(crate) fn fresh(messages: &Value) -> Vec<String> {
    let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let after = messages.iter().rposition(|m| m["role"] == "assistant").map_or(0, |at| at + 1);
    let texts = |slice: &[Value]| -> Vec<String> {
        let users = slice.iter().filter(|m| m["role"] == "user");
        users.map(|m| text_of(&m["content"])).filter(|text| !text.is_empty()).collect()
    };
    let fresh = texts(&messages[after..]);
    if fresh.is_empty() { texts(messages).pop().into_iter().collect() } else { fresh }
}
