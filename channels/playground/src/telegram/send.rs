//! `sendMessage` and the edits: text with its markup, limits and replies.

use std::sync::Arc;

use serde_json::Value;

use super::chat::{Content, Draft};
use super::params::Params;
use super::refusal::Refusal;
use super::target::{self, Target, same};
use super::view::EventKind;
use super::{Server, entities, html, keyboard, render, rich};

/// The most UTF-16 units of a text.
const MAX_TEXT: usize = 4096;

/// `sendMessage`.
pub(crate) fn message(server: &Server, params: &Params) -> Result<String, Refusal> {
    let target = Target::read(&server.world(), params)?;
    let (text, entities) = read_text(params, MAX_TEXT, "message is too long")?;
    let markup = keyboard::read(params)?;
    server.count_pace(target.chat)?;
    let bare = Draft::text(0, target.thread, "");
    let draft = Draft { text, entities, reply_to: target.reply_to, markup, ..bare };
    post(server, target.chat, draft)
}

/// `sendRichMessage`.
pub(crate) fn rich(server: &Server, params: &Params) -> Result<String, Refusal> {
    let target = Target::read(&server.world(), params)?;
    let SaidText { text, entities, content } =
        read_rich(params)?.ok_or_else(|| Refusal::bad("parameter \"rich_message\" is required"))?;
    let markup = keyboard::read(params)?;
    server.count_pace(target.chat)?;
    let bare = Draft::text(0, target.thread, "");
    let draft = Draft { content, text, entities, reply_to: target.reply_to, markup, ..bare };
    post(server, target.chat, draft)
}

/// The rich message of a call, if it has one.
fn read_rich(params: &Params) -> Result<Option<SaidText>, Refusal> {
    let Some(message) = params.json("rich_message")? else { return Ok(None) };
    let html = message.get("html").and_then(Value::as_str);
    let html = html.ok_or_else(|| Refusal::bad("only rich messages in HTML are emulated"))?;
    let read =
        rich::read(html).map_err(|why| Refusal::bad(format!("can't parse rich message: {why}")))?;
    let content = Content::Rich(Value::Array(read.blocks));
    Ok(Some(SaidText { text: read.text.into(), entities: read.entities, content }))
}

/// Posts as the bot and answers with the message.
pub(crate) fn post(server: &Server, chat: i64, draft: Draft) -> Result<String, Refusal> {
    let now = server.now();
    let mut world = server.world();
    let draft = Draft { from: world.bot.id, ..draft };
    let id = world.post(chat, draft, now).ok_or_else(|| Refusal::bad("chat not found"))?;
    Ok(render::message(&world, chat, id).to_string())
}

/// `editMessageText`.
pub(crate) fn edit(server: &Server, params: &Params) -> Result<String, Refusal> {
    let message = editable(server, params)?;
    if !message.is_text {
        return Err(Refusal::bad("there is no text in the message to edit"));
    }
    let words = match read_rich(params)? {
        Some(rich) => rich,
        None => {
            let (text, entities) = read_text(params, MAX_TEXT, "MESSAGE_TOO_LONG")?;
            SaidText { text, entities, content: Content::Text }
        }
    };
    let markup = keyboard::read(params)?;
    server.count_pace(message.chat)?;
    change(server, &message, Some(words), markup)
}

/// `editMessageReplyMarkup`.
pub(crate) fn edit_markup(server: &Server, params: &Params) -> Result<String, Refusal> {
    let message = editable(server, params)?;
    let markup = keyboard::read(params)?;
    server.count_pace(message.chat)?;
    change(server, &message, None, markup)
}

/// A text and its entities.
type Words = (Arc<str>, Vec<Value>);

/// What a message says from now on.
struct SaidText {
    text: Arc<str>,
    entities: Vec<Value>,
    content: Content,
}

/// Changes the bot's message, unless nothing changes.
fn change(
    server: &Server,
    edited: &Editable,
    words: Option<SaidText>,
    markup: Option<Value>,
) -> Result<String, Refusal> {
    let &Editable { chat, id, .. } = edited;
    let now = server.now();
    let mut world = server.world();
    let Some(message) = world.chats.get_mut(&chat).and_then(|chat| chat.message_mut(id)) else {
        return Err(Refusal::bad("message to edit not found"));
    };
    let draft = &mut message.draft;
    let SaidText { text, entities, content } = words.unwrap_or_else(|| SaidText {
        text: Arc::clone(&draft.text),
        entities: draft.entities.clone(),
        content: draft.content.clone(),
    });
    let unchanged = draft.text == text
        && draft.entities == entities
        && draft.content == content
        && same(draft.markup.as_ref(), markup.as_ref());
    if unchanged {
        return Err(Refusal::bad(
            "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
        ));
    }
    (draft.text, draft.entities, draft.markup) = (text, entities, markup);
    draft.content = content;
    let thread = draft.thread;
    message.edited = Some(now);
    world.tell_watchers(chat, id);
    world.emit(EventKind::Edited, chat, thread, Some(id));
    Ok(render::message(&world, chat, id).to_string())
}

/// A message of the bot's own that can be edited.
struct Editable {
    chat: i64,
    id: i64,
    is_text: bool,
}

/// Checks that the message is there and the bot's own.
fn editable(server: &Server, params: &Params) -> Result<Editable, Refusal> {
    let world = server.world();
    let chat = target::chat(&world, params)?;
    let message = target::message(chat, params, "message to edit not found")?;
    // A message that came with a keyboard of another kind than inline stays as it was sent.
    let fixed = message.draft.markup.as_ref().is_some_and(|m| m.get("inline_keyboard").is_none());
    if message.draft.from != world.bot.id || fixed {
        return Err(Refusal::bad("message can't be edited"));
    }
    let is_text = matches!(message.draft.content, Content::Text | Content::Rich(_));
    Ok(Editable { chat: chat.id, id: message.id, is_text })
}

fn read_text(params: &Params, most: usize, too_long: &str) -> Result<Words, Refusal> {
    let (text, entities) = parsed(params, "text", "entities")?;
    if text.is_empty() {
        return Err(Refusal::bad("message text is empty"));
    }
    check_length(&text, most, too_long)?;
    Ok((text, entities))
}

/// Refuses a text of more than `most` UTF-16 units.
pub(crate) fn check_length(text: &str, most: usize, too_long: &str) -> Result<(), Refusal> {
    // A byte is at least one unit of UTF-16, so most texts need no counting.
    if text.len() > most && text.encode_utf16().count() > most {
        return Err(Refusal::bad(too_long));
    }
    Ok(())
}

/// A text parameter after its markup was parsed, with its entities.
pub(crate) fn parsed(params: &Params, name: &str, entities_name: &str) -> Result<Words, Refusal> {
    let source = params.text(name).unwrap_or_default();
    let mode = params.text("parse_mode").unwrap_or_default();
    if mode.eq_ignore_ascii_case("html") {
        let parsed = html::parse(&source)
            .map_err(|words| Refusal::bad(format!("can't parse entities: {words}")))?;
        return Ok(trimmed(&parsed.text, parsed.entities));
    }
    if !mode.is_empty() {
        return Err(Refusal::bad("unsupported parse_mode"));
    }
    match params.json(entities_name)? {
        Some(Value::Array(given)) => Ok(trimmed(&source, given)),
        Some(_) => Err(Refusal::bad("can't parse entities: expected an Array")),
        None => {
            let text = source.trim();
            Ok((text.into(), entities::detect(text)))
        }
    }
}

/// Drops white space around the text, as the platform does, and moves the entities along.
fn trimmed(text: &str, entities: Vec<Value>) -> Words {
    let kept = text.trim_end();
    let start = kept.len() - kept.trim_start().len();
    let skipped = kept[..start].encode_utf16().count() as u64;
    let kept = &kept[start..];
    let units = kept.encode_utf16().count() as u64;
    let moved = entities.into_iter().filter_map(|mut entity| {
        let offset = entity["offset"].as_u64()?;
        let end = (offset + entity["length"].as_u64()?).saturating_sub(skipped).min(units);
        let offset = offset.saturating_sub(skipped);
        entity["offset"] = offset.into();
        entity["length"] = end.checked_sub(offset).filter(|length| *length > 0)?.into();
        Some(entity)
    });
    (kept.into(), moved.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn white_space_goes_and_entities_move_along() {
        let params = Params::of(json!({"text": "  <b> x</b> \n", "parse_mode": "HTML"}));
        let (text, entities) = parsed(&params, "text", "entities").unwrap();
        assert_eq!(&*text, "x");
        assert_eq!(json!(entities), json!([{"type": "bold", "offset": 0, "length": 1}]));
    }
}
