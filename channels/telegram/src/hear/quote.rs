//! The message that somebody replied to. Its text and its files are never the speaker's.

use selkie_channel_core::{MessageRef, Quote};
use serde_json::Value;

use super::{Me, attachment, field, things};

/// Returns what `message` replies to; the root of a forum topic is not replied to by anyone.
pub fn of(message: &Value, topic: Option<i32>, me: &Me) -> Option<Quote> {
    let part = field::object(message, "quote").and_then(|quote| field::text(quote, "text"));
    if let Some(original) = field::object(message, "reply_to_message") {
        return inside(original, part, topic, me);
    }
    outside(field::object(message, "external_reply")?, part)
}

fn inside(original: &Value, part: Option<&str>, topic: Option<i32>, me: &Me) -> Option<Quote> {
    let id = field::number(original, "message_id")?;
    let is_root = topic.is_some_and(|topic| i64::from(topic) == id)
        || original.get("forum_topic_created").is_some_and(|created| !created.is_null());
    if is_root {
        return None;
    }
    let speaker = field::object(original, "sender_chat").or(field::object(original, "from"));
    let author = field::object(original, "from").and_then(|from| field::number(from, "id"));
    let whole = || field::text(original, "text").or(field::text(original, "caption"));
    let words = part.or_else(whole).map(str::to_owned);
    let attachments = attachment::of(original);
    // What has no words is told in words; a file alone stays without.
    let words = words.or_else(|| things::known(original).filter(|_| attachments.is_empty()));
    Some(Quote {
        message: MessageRef::new(id.to_string()),
        speaker: speaker.map(field::name).unwrap_or_default(),
        text: words.unwrap_or_default(),
        ours: author == Some(me.id),
        attachments,
    })
}

/// A reply to a message of another chat: it can be read, not answered. Its files come with the reply itself.
fn outside(reply: &Value, part: Option<&str>) -> Option<Quote> {
    let chat = field::object(reply, "chat");
    let chat_id = chat.and_then(|chat| field::number(chat, "id")).unwrap_or_default();
    let id = field::number(reply, "message_id").unwrap_or_default();
    let origin = field::object(reply, "origin");
    let speaker = origin.and_then(|origin| {
        let known = ["sender_user", "sender_chat", "chat"];
        let known = known.iter().find_map(|key| field::object(origin, key)).map(field::name);
        known.or_else(|| field::text(origin, "sender_user_name").map(str::to_owned))
    });
    Some(Quote {
        message: MessageRef::new(format!("ext:{chat_id}:{id}")),
        speaker: speaker.or_else(|| chat.map(field::name)).unwrap_or_default(),
        text: part.unwrap_or_default().to_owned(),
        ours: false,
        attachments: attachment::of(reply),
    })
}
