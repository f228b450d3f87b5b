//! How people, conversations and what the config itself names are named in it.

use selkie_channel_core::{ChannelKit, Ids};
use serde_json::Value;

use crate::problem::one_of;

/// Whether a name has at most so many letters (a to z), digits and such signs, and begins with a letter.
pub fn is_name(name: &str, most: usize, signs: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || signs.contains(c);
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= most
        && name.chars().all(is_plain)
}

/// Says what an id has to look like, by the channels that are built in.
pub fn id(
    text: &str,
    kits: &[ChannelKit],
    what: &str,
    ids: fn(&ChannelKit) -> Ids,
) -> Option<String> {
    let all: Vec<Ids> = kits.iter().map(ids).collect();
    if all.is_empty() || all.iter().any(|ids| (ids.fit)(text)) {
        return None;
    }
    let forms: Vec<String> =
        all.iter().map(|ids| ids.such_as.to_owned()).filter(|form| !form.is_empty()).collect();
    let hint = with_prefix(text, kits, ids).map(|id| format!(" (did you mean {id:?}?)"));
    Some(format!(
        "takes the id of {what} ({}), not {text:?}{}: /id in a chat shows it",
        one_of(&forms),
        hint.unwrap_or_default()
    ))
}

/// Says what is wrong with a text that names where to speak: a person's private chat, or another conversation.
pub fn conversation(text: &str, kits: &[ChannelKit]) -> Option<String> {
    let is_person = kits.iter().any(|kit| (kit.people.fit)(text));
    if is_person { None } else { id(text, kits, "a conversation", |kit| kit.places) }
}

/// Returns the id that is meant by a text which lacks what ids of its channel begin with.
fn with_prefix(text: &str, kits: &[ChannelKit], ids: fn(&ChannelKit) -> Ids) -> Option<String> {
    if text.contains(':') {
        return None;
    }
    let candidate = |kit: &ChannelKit| {
        let id = format!("{}:{text}", kit.prefix);
        (ids(kit).fit)(&id).then_some(id)
    };
    kits.iter().find_map(candidate)
}

/// Says how an owner's id is written, of a value that is no text or no list of texts.
pub fn owners_hint(path: &[String], value: Option<&Value>, kits: &[ChannelKit]) -> Option<String> {
    if path.first().is_none_or(|key| key != "owners") {
        return None;
    }
    let text = match value? {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    let people = |kit: &ChannelKit| kit.people;
    let fits = kits.iter().any(|kit| (kit.people.fit)(&text));
    let id = if fits { text } else { with_prefix(&text, kits, people)? };
    Some(if path.len() == 1 { format!("[{id:?}]") } else { format!("{id:?}") })
}
