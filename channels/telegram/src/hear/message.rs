//! A message, new or edited, as an inbound.

use chrono::{DateTime, Utc};
use selkie_channel_core::{
    AccountId, AddressReason, Aside, Audience, ForwardOrigin, Inbound, MessageRef, Speaker, What,
};
use serde_json::Value;

use super::text::{self, Words};
use super::{Me, attachment, field, quote, things};
use crate::ids::{Spot, person, place};

/// Fields that every message may have; what stands beside them is what the message is about.
const ENVELOPE: &str = "\
    message_id message_thread_id from sender_chat sender_boost_count sender_business_bot date \
    business_connection_id chat forward_origin is_topic_message is_automatic_forward reply_to_message \
    external_reply quote reply_to_story via_bot edit_date has_protected_content is_from_offline \
    media_group_id author_signature paid_star_count link_preview_options effect_id direct_messages_topic \
    reply_markup";

/// What surrounds an update.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// Which bot heard it.
    pub account: &'a AccountId,
    /// Who that bot is.
    pub me: &'a Me,
    /// The server's time, for events without one.
    pub received: DateTime<Utc>,
}

impl Frame<'_> {
    /// Returns an inbound about a chat with nothing said yet.
    pub fn blank(&self, key: String, chat: Option<&Value>, what: What) -> Inbound {
        let id = chat.and_then(|chat| field::number(chat, "id")).unwrap_or_default();
        let private =
            chat.and_then(|chat| field::text(chat, "type")).map_or(id > 0, |t| t == "private");
        let spot = Spot { chat: id, topic: None };
        let conversation = spot.conversation(self.account);
        let place = spot.place(self.account);
        Inbound {
            title: chat.map(field::name).unwrap_or_default(),
            at: self.received,
            speaker: speaker(None),
            audience: if private { Audience::Direct } else { Audience::Group },
            ..Inbound::blank(key, conversation, place, what)
        }
    }
}

/// Reads a `message`, or an `edited_message` when `edited`; `None` when it lacks a chat or an id.
pub fn read(message: &Value, edited: bool, frame: Frame<'_>) -> Option<Inbound> {
    let chat = field::object(message, "chat")?;
    let chat_id = field::number(chat, "id")?;
    let id = field::number(message, "message_id")?;
    let topic = topic(message);
    let mut inbound = frame.blank(key(message, chat_id, id, edited), Some(chat), What::Message);
    inbound.conversation = Spot { chat: chat_id, topic }.conversation(frame.account);
    inbound.order = id;
    inbound.at = field::time(message, "date").unwrap_or(frame.received);
    inbound.speaker = speaker(Some(message));
    inbound.message = Some(MessageRef::new(id.to_string()));
    if let Some(moved) = moved(message, chat_id, &inbound, frame) {
        return Some(moved);
    }
    say(&mut inbound, message, topic, frame.me);
    inbound.what = what(message, edited, &mut inbound);
    if let What::Other { .. } = inbound.what {
        inbound.addressed = AddressReason::No;
    }
    Some(inbound)
}

/// Fills in what was said.
fn say(inbound: &mut Inbound, message: &Value, topic: Option<i32>, me: &Me) {
    let (text, entities) = match field::text(message, "text") {
        Some(text) => (text, field::list(message, "entities")),
        None => {
            let caption = field::text(message, "caption").unwrap_or_default();
            (caption, field::list(message, "caption_entities"))
        }
    };
    inbound.forwarded = forwarded(message) || text::is_quoted(text, entities);
    inbound.origin = origin(message);
    let words = text::read(text, entities, me);
    inbound.quote = quote::of(message, topic, me);
    inbound.addressed = addressed(inbound, &words);
    inbound.text = words.text;
    inbound.command = words.command;
    inbound.aside = words.aside;
    inbound.attachments = attachment::of(message);
    inbound.album = field::text(message, "media_group_id").map(str::to_owned);
}

fn addressed(inbound: &Inbound, words: &Words) -> AddressReason {
    if inbound.audience == Audience::Direct {
        return AddressReason::Direct;
    }
    let reply = inbound.quote.as_ref().is_some_and(|quote| quote.ours);
    match words {
        Words { for_another: true, .. } => AddressReason::No,
        // Whoever wrote what is passed on named us to others.
        Words { mentioned: true, .. } if !inbound.forwarded => AddressReason::Mention,
        Words { command: Some(_), .. } => AddressReason::Command,
        _ if reply => AddressReason::Reply,
        _ => AddressReason::No,
    }
}

/// A thing without words is put into words. Where it is edited it moves (a live location, a poll that is
/// voted on), which is nothing said.
fn what(message: &Value, edited: bool, inbound: &mut Inbound) -> What {
    let written = ["text", "caption"].iter().any(|key| field::text(message, key).is_some());
    if !written && inbound.attachments.is_empty() {
        let name = about(message);
        match thing(message, &name, inbound).filter(|_| !edited) {
            Some(words) => {
                inbound.text = words;
                inbound.forwarded |= things::speaks_for_others(message);
                // What of it is quoted or hidden cannot be told apart in words.
                if field::object(message, "rich_message").is_some() {
                    inbound.aside = Aside::Words;
                }
            }
            None => return What::Other { name },
        }
    }
    if edited { What::Edit } else { What::Message }
}

/// In private nothing stays without an answer; among others only what says something, or is said to us.
fn thing(message: &Value, name: &str, inbound: &Inbound) -> Option<String> {
    if inbound.audience == Audience::Direct {
        return things::known(message).or_else(|| things::unknown(message, name));
    }
    let to_us = inbound.addressed != AddressReason::No;
    things::known(message).filter(|_| to_us || things::chatter(message).is_none())
}

/// Telegram's name for what a message without words is about: `new_chat_members`, `sticker` …
fn about(message: &Value) -> String {
    let keys = message.as_object().into_iter().flatten();
    let mut keys = keys.filter(|(_, value)| !value.is_null()).map(|(key, _)| key.as_str());
    keys.find(|key| !field::has(ENVELOPE, key)).unwrap_or("empty message").to_owned()
}

/// Both service messages of a move make the same inbound with the same key: stored once.
fn moved(message: &Value, chat: i64, blank: &Inbound, frame: Frame<'_>) -> Option<Inbound> {
    let to = field::number(message, "migrate_to_chat_id").map(|to| (chat, to));
    let from = field::number(message, "migrate_from_chat_id").map(|from| (from, chat));
    let (old, new) = to.or(from)?;
    let old_spot = Spot { chat: old, topic: None };
    Some(Inbound {
        key: format!("moved:{old}:{new}"),
        conversation: old_spot.conversation(frame.account),
        place: old_spot.place(frame.account),
        what: What::Moved { to: place(frame.account, new) },
        message: None,
        ..blank.clone()
    })
}

fn key(message: &Value, chat: i64, id: i64, edited: bool) -> String {
    let key = format!("m:{chat}:{id}");
    let edit = field::number(message, "edit_date").unwrap_or_default();
    if edited { format!("{key}:e{edit}") } else { key }
}

/// A thread is a topic only where Telegram says so: reply threads of ordinary groups have ids too.
fn topic(message: &Value) -> Option<i32> {
    let thread = field::number(message, "message_thread_id")?;
    let thread = i32::try_from(thread).ok().filter(|thread| *thread > 0)?;
    field::is_true(message, "is_topic_message").then_some(thread)
}

fn forwarded(message: &Value) -> bool {
    let keys = ["forward_origin", "forward_date", "forward_from", "forward_from_chat"];
    let there = |key: &&str| message.get(*key).is_some_and(|value| !value.is_null());
    // What an inline bot wrote is sent by the person, and is the bot's.
    keys.iter().chain(&["via_bot"]).any(there) || field::is_true(message, "is_automatic_forward")
}

/// Returns where a forwarded message comes from (core.telegram.org/bots/api#messageorigin).
fn origin(message: &Value) -> Option<ForwardOrigin> {
    let origin = field::object(message, "forward_origin")?;
    let chat = field::object(origin, "sender_chat").or_else(|| field::object(origin, "chat"));
    let who = field::object(origin, "sender_user").or(chat).map(field::name);
    let hidden = || field::text(origin, "sender_user_name").unwrap_or_default().to_owned();
    let name = who.unwrap_or_else(hidden);
    let signed = field::text(origin, "author_signature").map(|name| format!(", by {name}"));
    let from = format!("{name}{}", signed.unwrap_or_default());
    let at = field::number(origin, "date").and_then(|at| DateTime::from_timestamp(at, 0));
    (!from.is_empty()).then_some(ForwardOrigin { from, at })
}

/// Returns who did it: the chat itself where somebody speaks in its name. The ids of such chats are negative; whatever
/// else is named as one takes nobody's place.
pub fn speaker(event: Option<&Value>) -> Speaker {
    let is_chat = |chat: &&Value| field::number(chat, "id").is_some_and(|id| id < 0);
    let chat = event.and_then(|event| field::object(event, "sender_chat")).filter(is_chat);
    let user = event.and_then(|event| field::object(event, "from"));
    let who = chat.or(user);
    let id = who.and_then(|who| field::number(who, "id")).unwrap_or_default();
    Speaker {
        id: person(id),
        name: who.map(field::name).unwrap_or_default(),
        username: who.and_then(|who| field::text(who, "username")).map(str::to_owned),
        is_bot: chat.is_none() && user.is_some_and(|user| field::is_true(user, "is_bot")),
    }
}
