//! What LINE checks of a list of messages before it does anything.

use serde_json::{Map, Value, json};

use super::world::World;

/// A refusal in LINE's shape.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) body: Value,
    /// The request that was accepted before under the same retry key.
    pub(super) accepted: Option<String>,
}

impl Refusal {
    pub(super) fn new(status: u16, message: &str) -> Self {
        Self { status, body: json!({ "message": message }), accepted: None }
    }

    fn property(message: &str, property: &str) -> Self {
        let details = json!([{ "message": message, "property": property }]);
        let body = json!({ "message": "The request body has 1 error(s)", "details": details });
        Self { status: 400, body, accepted: None }
    }
}

/// Checks the messages of a reply or push; gives them.
pub(super) fn messages(body: &Value) -> Result<Vec<Value>, Refusal> {
    let Some(messages) = body["messages"].as_array() else {
        return Err(Refusal::property("May not be empty", "messages"));
    };
    if !(1..=5).contains(&messages.len()) {
        return Err(Refusal::property("Size must be between 1 and 5", "messages"));
    }
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages[{at}]");
        match message["type"].as_str() {
            Some("text") => length(&message["text"], 5000, &format!("{place}.text"))?,
            Some("textV2") => substituted(message, &place)?,
            Some("template") => template(message, &place)?,
            _ => {
                let known = "Must be one of the following values: [text, textV2, template]";
                return Err(Refusal::property(known, &format!("{place}.type")));
            }
        }
        if let Some(quick) = message.get("quickReply") {
            quick_reply(quick, &format!("{place}.quickReply.items"))?;
        }
    }
    Ok(messages.clone())
}

/// A text of 1 to `most` UTF-16 units.
fn length(text: &Value, most: usize, place: &str) -> Result<(), Refusal> {
    let text = text.as_str().unwrap_or_default();
    if text.trim().is_empty() {
        return Err(Refusal::property("May not be empty", place));
    }
    if text.encode_utf16().count() > most {
        return Err(Refusal::property(&format!("Length must be between 0 and {most}"), place));
    }
    Ok(())
}

/// A text with keys in braces, each of which stands for a mention; braces that are meant are doubled.
fn substituted(message: &Value, place: &str) -> Result<(), Refusal> {
    length(&message["text"], 5000, &format!("{place}.text"))?;
    let none = Map::new();
    let substitution = message["substitution"].as_object().unwrap_or(&none);
    let place = format!("{place}.substitution");
    if substitution.len() > 20 {
        return Err(Refusal::property("Size must be between 0 and 20", &place));
    }
    for (key, one) in substitution {
        let is_key = (1..=20).contains(&key.len())
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let mentionee = &one["mentionee"];
        let is_whom = match mentionee["type"].as_str() {
            Some("user") => mentionee["userId"].is_string(),
            Some("all") => true,
            _ => false,
        };
        if !is_key || one["type"] != "mention" || !is_whom {
            return Err(Refusal::property("Invalid substitution", &format!("{place}.{key}")));
        }
    }
    let text = message["text"].as_str().unwrap_or_default();
    match keys(text) {
        Some(keys) if keys.iter().all(|key| substitution.contains_key(*key)) => Ok(()),
        _ => Err(Refusal::property("Invalid placeholder", &place)),
    }
}

/// The keys in a text; `None` for braces that are neither doubled nor around a key.
fn keys(text: &str) -> Option<Vec<&str>> {
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let here = &rest[at..];
        rest = if let Some(behind) = here.strip_prefix("{{").or(here.strip_prefix("}}")) {
            behind
        } else {
            let (key, behind) = here.strip_prefix('{')?.split_once('}')?;
            keys.push(key);
            behind
        };
    }
    Some(keys)
}

/// Checks that who is mentioned is in the chat, which is not one with a person alone.
pub(super) fn mentions(world: &World, chat: &str, messages: &[Value]) -> Result<(), Refusal> {
    let members = world.chats.get(chat).map(|chat| &chat.members);
    for (at, message) in messages.iter().enumerate() {
        let all = message["substitution"].as_object().into_iter().flatten();
        for (key, one) in all {
            let user = one["mentionee"]["userId"].as_str();
            let is_there = members.is_some_and(|m| user.is_none_or(|u| m.iter().any(|m| m == u)));
            if chat.starts_with('U') || !is_there {
                let place = format!("messages[{at}].substitution.{key}.mentionee.userId");
                return Err(Refusal::property("The user cannot be mentioned here", &place));
            }
        }
    }
    Ok(())
}

/// The one kind of template that is known here.
fn template(message: &Value, place: &str) -> Result<(), Refusal> {
    length(&message["altText"], 1500, &format!("{place}.altText"))?;
    let template = &message["template"];
    let place = format!("{place}.template");
    if template["type"] != "buttons" {
        let known = "Must be one of the following values: [buttons]";
        return Err(Refusal::property(known, &format!("{place}.type")));
    }
    length(&template["text"], 160, &format!("{place}.text"))?;
    let actions = template["actions"].as_array().map_or(&[][..], Vec::as_slice);
    if !(1..=4).contains(&actions.len()) {
        let size = "Size must be between 1 and 4";
        return Err(Refusal::property(size, &format!("{place}.actions")));
    }
    let mut places = actions.iter().enumerate();
    places.try_for_each(|(at, one)| action(one, &format!("{place}.actions[{at}]")))
}

fn quick_reply(quick: &Value, place: &str) -> Result<(), Refusal> {
    let items = quick["items"].as_array().map_or(&[][..], Vec::as_slice);
    if !(1..=13).contains(&items.len()) {
        return Err(Refusal::property("Size must be between 1 and 13", place));
    }
    let mut places = items.iter().enumerate();
    places.try_for_each(|(at, item)| action(&item["action"], &format!("{place}[{at}].action")))
}

fn action(action: &Value, place: &str) -> Result<(), Refusal> {
    if action["type"] != "postback" {
        let known = "Must be one of the following values: [postback]";
        return Err(Refusal::property(known, &format!("{place}.type")));
    }
    length(&action["label"], 20, &format!("{place}.label"))?;
    length(&action["data"], 300, &format!("{place}.data"))?;
    length(&action["displayText"], 300, &format!("{place}.displayText"))
}

/// Checks that what is quoted stands in the chat.
pub(super) fn quotes(world: &World, chat: &str, messages: &[Value]) -> Result<(), Refusal> {
    for (at, message) in messages.iter().enumerate() {
        let Some(token) = message["quoteToken"].as_str() else { continue };
        let quoted = token.strip_prefix("q-").unwrap_or_default();
        let here =
            world.chats.get(chat).is_some_and(|c| c.messages.iter().rev().any(|m| m.id == quoted));
        if !here {
            let place = format!("messages[{at}].quoteToken");
            return Err(Refusal::property("The quoteToken is invalid", &place));
        }
    }
    Ok(())
}

/// Checks the form of a retry key.
pub(super) fn retry_key(key: &str) -> Result<(), Refusal> {
    let lengths: Vec<usize> = key.split('-').map(str::len).collect();
    let hex = key.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    if lengths == [8, 4, 4, 4, 12] && hex {
        return Ok(());
    }
    Err(Refusal::new(400, "Invalid retry key"))
}
