//! One update of any kind as an inbound. Nothing is dropped: what nobody knows is kept raw.

use chrono::{DateTime, Utc};
use selkie_channel_core::hash::fnv;
use selkie_channel_core::{Inbound, Redactor, What, json};
use serde::Deserialize;
use serde_json::Value;

use super::field;
use super::message::{self, Frame};
use crate::keyboard;

/// Kinds that are known and ask nothing of the bot.
const PASSED: &str = "\
    channel_post edited_channel_post business_connection business_message edited_business_message \
    deleted_business_messages message_reaction message_reaction_count inline_query chosen_inline_result \
    shipping_query pre_checkout_query purchased_paid_media poll poll_answer chat_member \
    chat_join_request chat_boost removed_chat_boost";

/// Returns an update's number, whatever else is in it.
pub fn update_id(raw: &str) -> Option<i64> {
    #[derive(Deserialize)]
    struct NumberedUpdate {
        update_id: i64,
    }
    json::read::<NumberedUpdate>(raw).ok().map(|numbered| numbered.update_id)
}

/// Reads an update from its text.
pub fn read(raw: &str, redactor: &Redactor, frame: Frame<'_>) -> Inbound {
    let value = json::read::<Value>(raw);
    let known = value.as_ref().ok().and_then(|update| known(update, frame));
    known.unwrap_or_else(|| unparsed(raw, value.ok().as_ref(), redactor, frame))
}

fn known(update: &Value, frame: Frame<'_>) -> Option<Inbound> {
    let (kind, event) = kind(update)?;
    match kind {
        "message" => message::read(event, false, frame),
        "edited_message" => message::read(event, true, frame),
        "my_chat_member" => member(update, event, frame),
        "callback_query" => tap(event, frame),
        kind if field::has(PASSED, kind) => Some(passed(update, kind, event, frame)),
        _ => None,
    }
}

/// Returns the update's kind, the one object beside its number.
fn kind(update: &Value) -> Option<(&str, &Value)> {
    let mut fields = update.as_object()?.iter().filter(|(_, value)| value.is_object());
    fields.next().map(|(key, value)| (key.as_str(), value))
}

fn passed(update: &Value, kind: &str, event: &Value, frame: Frame<'_>) -> Inbound {
    let what = What::Other { name: kind.to_owned() };
    let mut inbound = frame.blank(numbered(update, event), chat(event), what);
    inbound.at = field::time(event, "date").unwrap_or(frame.received);
    inbound.speaker = message::speaker(Some(event));
    inbound
}

/// The bot's own membership changed: it may speak in the chat, or no longer.
fn member(update: &Value, event: &Value, frame: Frame<'_>) -> Option<Inbound> {
    let new = field::object(event, "new_chat_member")?;
    let status = field::text(new, "status")?;
    let muted = status == "restricted"
        && (!field::is_true(new, "can_send_messages") || !field::is_true(new, "is_member"));
    let direct =
        field::object(event, "chat").and_then(|c| field::text(c, "type")) == Some("private");
    let closed = match status {
        "kicked" if direct => Some("blocked by the user"),
        "kicked" => Some("kicked from the group"),
        "left" => Some("left the group"),
        "restricted" if muted => Some("may not write in the group"),
        _ => None,
    };
    let what = match closed {
        Some(reason) => What::Closed { reason: reason.to_owned() },
        None => What::Opened,
    };
    let mut inbound = passed(update, "my_chat_member", event, frame);
    inbound.what = what;
    Some(inbound)
}

/// A button was tapped. The message under it places the tap; one that is too old for Telegram to show
/// still names its chat. A query without any message is taken as said in private.
fn tap(event: &Value, frame: Frame<'_>) -> Option<Inbound> {
    let id = field::text(event, "id")?;
    let under = field::object(event, "message");
    // Every button of ours stands under a message of ours: one of an inline message is another's.
    let data = under
        .filter(|under| may_be_ours(under, event, frame))
        .and_then(|_| field::text(event, "data"));
    let ours = data.and_then(keyboard::read).unwrap_or_default();
    let what =
        What::Tap { question: ours.0.to_owned(), choice: ours.1.to_owned(), handle: id.to_owned() };
    let placed = under.and_then(|under| message::read(under, false, frame));
    let private = field::object(event, "from");
    let mut inbound = frame.blank(format!("q:{id}"), under.and_then(chat).or(private), what);
    inbound.speaker = message::speaker(Some(event));
    if let Some(placed) = placed {
        // Its conversation may be a topic.
        inbound.conversation = placed.conversation;
        inbound.message = placed.message;
        inbound.order = placed.order;
    }
    Some(inbound)
}

/// Whether a message may be one of ours to who has tapped: nobody else wrote it, and a private chat is their own.
fn may_be_ours(under: &Value, event: &Value, frame: Frame<'_>) -> bool {
    let id = |of: &Value, field| field::object(of, field).and_then(|it| field::number(it, "id"));
    let is_written_by_us = id(under, "from").is_none_or(|author| author == frame.me.id);
    let chat = id(under, "chat").filter(|chat| *chat > 0);
    is_written_by_us && (chat.is_none() || chat == id(event, "from"))
}

fn unparsed(raw: &str, update: Option<&Value>, redactor: &Redactor, frame: Frame<'_>) -> Inbound {
    let event = update.and_then(kind).map(|(_, event)| event);
    let kept = redactor.kept(raw);
    let key = match (update_id(raw), event.and_then(date)) {
        (Some(id), Some(date)) => format!("u:{id}:{}", day(date)),
        (Some(id), None) => format!("u:{id}:{:016x}", fnv(raw.as_bytes())),
        (None, _) => format!("u:{:016x}", fnv(raw.as_bytes())),
    };
    let mut inbound = frame.blank(key, event.and_then(chat), What::Unparsed { raw: kept });
    inbound.speaker = message::speaker(event);
    inbound
}

/// Update numbers start anew after a quiet week: a key holds the event's day beside the number, or a
/// hash of an event without a date. Either is the same when Telegram sends the update again.
fn numbered(update: &Value, event: &Value) -> String {
    let id = field::number(update, "update_id").unwrap_or_default();
    match date(event) {
        Some(date) => format!("u:{id}:{}", day(date)),
        None => format!("u:{id}:{:016x}", fnv(event.to_string().as_bytes())),
    }
}

fn date(event: &Value) -> Option<DateTime<Utc>> {
    field::time(event, "date")
}

fn day(date: DateTime<Utc>) -> String {
    date.format("%Y-%m-%d").to_string()
}

fn chat(event: &Value) -> Option<&Value> {
    let inner = field::object(event, "message").and_then(|m| field::object(m, "chat"));
    field::object(event, "chat").or(inner)
}
