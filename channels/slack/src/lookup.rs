//! Whether an unclear part arrived: messages are found again by the key in their metadata, files by
//! where they are shared.

use selkie_channel_core::{Lookup, MessageRef, Receipt};
use serde_json::Value;

use crate::api::Api;
use crate::call::{Call, EVENT_TYPE, key_of};
use crate::fault::Fault;

/// Pages that are read at most: the answer stands near the message it answers.
const PAGES: usize = 5;
const PAGE: &str = "100";

/// Looks for a posted message. Whoever cannot read the history cannot tell.
pub async fn message(api: &Api, call: &Call) -> Lookup {
    let (Call::Post { params, .. }, Some(key)) = (call, key_of(call)) else {
        return Lookup::Unknown;
    };
    let field = |name: &str| params.get(name).and_then(Value::as_str);
    let Some(channel) = field("channel") else { return Lookup::Unknown };
    let thread = field("thread_ts");
    let method = if thread.is_some() { "conversations.replies" } else { "conversations.history" };
    let mut cursor = String::new();
    for _ in 0..PAGES {
        let mut ask = vec![("channel", channel), ("limit", PAGE), ("include_all_metadata", "true")];
        ask.extend(thread.map(|thread| ("ts", thread)));
        // The key begins with the message that is answered: what stands before it is not looked at.
        ask.extend(answered(key).map(|ts| ("oldest", ts)));
        if !cursor.is_empty() {
            ask.push(("cursor", cursor.as_str()));
        }
        let page = match api.ask(method, &ask).await {
            Ok(page) => page,
            Err(fault) => return unknown(&fault),
        };
        if let Some(ts) = found(&page, key) {
            let message = Some(MessageRef::new(ts));
            let note = Some("found again in the channel's history".to_owned());
            return Lookup::Sent(Receipt { message, note });
        }
        let next = page.pointer("/response_metadata/next_cursor").and_then(Value::as_str);
        match next.filter(|next| !next.is_empty()) {
            Some(next) => cursor = next.to_owned(),
            None => return Lookup::NotSent,
        }
    }
    Lookup::Unknown
}

/// Asks where a file is shared.
pub async fn file(api: &Api, file: &str, channel: &str) -> Lookup {
    match api.ask("files.info", &[("file", file)]).await {
        Ok(answer) => {
            let file = answer.get("file").cloned().unwrap_or_default();
            match share(&file, channel) {
                Some(ts) => {
                    let message = Some(MessageRef::new(ts));
                    Lookup::Sent(Receipt { message, note: None })
                }
                None => Lookup::NotSent,
            }
        }
        Err(fault) => unknown(&fault),
    }
}

/// Returns the `ts` of the message that shares a file in a channel.
pub fn share(file: &Value, channel: &str) -> Option<String> {
    let shares = file.get("shares")?.as_object()?;
    let here = shares.values().find_map(|kind| kind.get(channel)?.get(0)?.get("ts")?.as_str());
    here.map(str::to_owned)
}

fn found(page: &Value, key: &str) -> Option<String> {
    let messages = page.get("messages")?.as_array()?;
    let ours = messages.iter().find(|message| {
        let metadata = message.get("metadata");
        let field = |pointer: &str| metadata?.pointer(pointer)?.as_str();
        field("/event_type") == Some(EVENT_TYPE) && field("/event_payload/key") == Some(key)
    });
    ours?.get("ts")?.as_str().map(str::to_owned)
}

fn answered(key: &str) -> Option<&str> {
    key.split(':').next().filter(|ts| crate::ids::order(ts).is_some())
}

fn unknown(fault: &Fault) -> Lookup {
    tracing::warn!(
        why = fault.words(),
        "the history cannot be read: whether a message arrived stays unknown"
    );
    Lookup::Unknown
}
