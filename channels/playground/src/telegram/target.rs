//! Where a call wants to write: chat, topic, and the message it replies to.

use serde_json::Value;

use super::params::Params;
use super::refusal::Refusal;
use super::world::{Chat, ChatKind, Message, World};

/// A place a message goes to.
#[derive(Debug, PartialEq)]
pub(crate) struct Target {
    pub(crate) chat: i64,
    pub(crate) thread: Option<i64>,
    pub(crate) reply_to: Option<i64>,
}

impl Target {
    /// Reads and checks `chat_id`, `message_thread_id` and the reply.
    pub(crate) fn read(world: &World, params: &Params) -> Result<Self, Refusal> {
        let chat = chat(world, params)?;
        let thread = match params.int("message_thread_id") {
            None | Some(0) => None,
            Some(thread) if chat.kind == ChatKind::Forum && chat.has_thread(thread) => Some(thread),
            Some(_) => return Err(Refusal::bad("message thread not found")),
        };
        let reply_to = reply(chat, params)?;
        Ok(Self { chat: chat.id, thread, reply_to })
    }
}

/// The chat of `chat_id`, if the bot may write there.
pub(crate) fn chat<'a>(world: &'a World, params: &Params) -> Result<&'a Chat, Refusal> {
    let Some(text) = params.text("chat_id").filter(|text| !text.is_empty()) else {
        return Err(Refusal::bad("chat_id is empty"));
    };
    let id: i64 = text.trim().parse().map_err(|_| Refusal::bad("chat not found"))?;
    world.open_chat(id)
}

/// The message of `message_id`; `otherwise` is the refusal's words when it is not there.
pub(crate) fn message<'a>(
    chat: &'a Chat,
    params: &Params,
    otherwise: &str,
) -> Result<&'a Message, Refusal> {
    let id = params
        .int("message_id")
        .ok_or_else(|| Refusal::bad("message identifier is not specified"))?;
    chat.message(id).ok_or_else(|| Refusal::bad(otherwise))
}

fn reply(chat: &Chat, params: &Params) -> Result<Option<i64>, Refusal> {
    let (id, lenient) = match params.json("reply_parameters")? {
        Some(reply) => {
            let lenient = reply["allow_sending_without_reply"].as_bool().unwrap_or(false);
            (reply["message_id"].as_i64(), lenient)
        }
        None => (params.int("reply_to_message_id"), params.flag("allow_sending_without_reply")),
    };
    let Some(id) = id.filter(|id| *id != 0) else { return Ok(None) };
    match chat.message(id) {
        Some(_) => Ok(Some(id)),
        None if lenient => Ok(None),
        None => Err(Refusal::bad("message to be replied not found")),
    }
}

/// Whether two values are the same, a missing one being null.
pub(crate) fn same(left: Option<&Value>, right: Option<&Value>) -> bool {
    left.unwrap_or(&Value::Null) == right.unwrap_or(&Value::Null)
}
