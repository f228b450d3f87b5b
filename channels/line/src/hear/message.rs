//! A message as an inbound: its text, its files, whom it quotes, whether the bot is meant.

use selkie_channel_core::{
    AddressReason, Attachment, AttachmentKind, Audience, Inbound, MessageRef, What,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::frame::Frame;
use super::{field, text};
use crate::known::RecentMessage;

/// What an attachment's handle holds.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The message's id.
    pub id: String,
    /// LINE prepares it before it hands it out.
    pub prepared: bool,
    /// It lies on somebody else's server, which is not asked.
    pub elsewhere: bool,
}

/// Reads a handle back; `None` for one that LINE's channel did not make.
pub fn content(handle: &str) -> Option<Content> {
    serde_json::from_str(handle).ok()
}

/// Fills in what was said; `None` when the message lacks an id or a kind.
pub fn read(event: &Value, mut inbound: Inbound, frame: Frame<'_>) -> Option<Inbound> {
    let message = field::object(event, "message")?;
    let id = field::text(message, "id")?;
    let kind = field::text(message, "type")?;
    inbound.message = Some(MessageRef::new(id));
    inbound.quote = field::text(message, "quotedMessageId").map(|id| frame.known.quote(id));
    inbound.album = field::object(message, "imageSet")
        .and_then(|set| field::text(set, "id"))
        .map(str::to_owned);
    let mention = field::object(message, "mention");
    let mentionees = mention.map_or(&[][..], |m| field::list(m, "mentionees"));
    let (text, attachment) = said(message, id, kind);
    let Some(text) = text else {
        inbound.what = What::Other { name: format!("message of type {kind}") };
        return Some(inbound);
    };
    inbound.attachments = attachment.into_iter().collect();
    let words = match kind {
        "text" => text::read(&text, mentionees),
        _ => text::Words { text, ..text::Words::default() },
    };
    inbound.addressed = addressed(&inbound, &words);
    inbound.text = words.text;
    inbound.command = words.command;
    remember(message, id, &inbound, frame);
    Some(inbound)
}

/// Returns the text that stands for a message and the file that came with it; no text for a kind that
/// nobody knows.
fn said(message: &Value, id: &str, kind: &str) -> (Option<String>, Option<Attachment>) {
    let file = |kind, name: &str, mime: Option<&str>| {
        (Some(String::new()), Some(attachment(message, id, File { kind, name, mime })))
    };
    match kind {
        // LINE's own emoji stand in the text by their names, "(moon)".
        "text" => (Some(field::text(message, "text").unwrap_or_default().to_owned()), None),
        "image" => file(AttachmentKind::Photo, &format!("{id}.jpg"), Some("image/jpeg")),
        "video" => file(AttachmentKind::Video, &format!("{id}.mp4"), Some("video/mp4")),
        "audio" => file(voice(message), &format!("{id}.m4a"), Some("audio/mp4")),
        "file" => {
            let name = field::text(message, "fileName").unwrap_or(id);
            file(AttachmentKind::Document, name, None)
        }
        "sticker" => (Some(sticker(message)), None),
        "location" => (Some(location(message)), None),
        _ => (None, None),
    }
}

/// What the type of a message tells of its file.
struct File<'a> {
    kind: AttachmentKind,
    name: &'a str,
    mime: Option<&'a str>,
}

fn attachment(message: &Value, id: &str, file: File<'_>) -> Attachment {
    let provider = field::object(message, "contentProvider").and_then(|p| field::text(p, "type"));
    let prepared =
        matches!(file.kind, AttachmentKind::Video | AttachmentKind::Audio | AttachmentKind::Voice);
    let content = Content { id: id.to_owned(), prepared, elsewhere: provider == Some("external") };
    Attachment {
        // A struct of plain fields always becomes JSON.
        handle: serde_json::to_string(&content).unwrap_or_default(),
        kind: file.kind,
        name: file.name.to_owned(),
        mime: file.mime.map(str::to_owned),
        size: field::number(message, "fileSize").and_then(|size| u64::try_from(size).ok()),
        duration: duration(message),
    }
}

/// What is recorded in LINE; an audio file is a file there, and what lies on another server an app has sent.
fn voice(message: &Value) -> AttachmentKind {
    let provider = field::object(message, "contentProvider").and_then(|p| field::text(p, "type"));
    match provider == Some("external") {
        true => AttachmentKind::Audio,
        false => AttachmentKind::Voice,
    }
}

/// LINE tells milliseconds; a begun second counts as a whole.
fn duration(message: &Value) -> Option<u32> {
    let millis = field::number(message, "duration").and_then(|all| u64::try_from(all).ok())?;
    u32::try_from(millis.div_ceil(1000)).ok()
}

fn sticker(message: &Value) -> String {
    let words: Vec<&str> =
        field::list(message, "keywords").iter().filter_map(Value::as_str).take(5).collect();
    match (field::text(message, "text"), words.is_empty()) {
        (Some(text), _) => format!("[sticker: {text}]"),
        (None, false) => format!("[sticker: {}]", words.join(", ")),
        (None, true) => "[sticker]".to_owned(),
    }
}

fn location(message: &Value) -> String {
    let place = ["title", "address"].into_iter().filter_map(|key| field::text(message, key));
    let mut words: Vec<String> = place.map(str::to_owned).collect();
    let degrees = |key: &str| message.get(key).and_then(Value::as_f64);
    if let (Some(north), Some(east)) = (degrees("latitude"), degrees("longitude")) {
        words.push(format!("{north}, {east}"));
    }
    format!("[location: {}]", words.join("; "))
}

fn addressed(inbound: &Inbound, words: &text::Words) -> AddressReason {
    let named = words.mentioned && inbound.audience == Audience::Group;
    if words.command.is_some() && !named {
        return AddressReason::Command;
    }
    if inbound.audience == Audience::Direct {
        return AddressReason::Direct;
    }
    if words.mentioned {
        return AddressReason::Mention;
    }
    match inbound.quote.as_ref().is_some_and(|quote| quote.ours) {
        true => AddressReason::Reply,
        false => AddressReason::No,
    }
}

/// Remembers the message: a quote of it will bring its id alone.
fn remember(message: &Value, id: &str, inbound: &Inbound, frame: Frame<'_>) {
    let speaker = match inbound.speaker.name.is_empty() {
        true => inbound.speaker.id.to_string(),
        false => inbound.speaker.name.clone(),
    };
    let quote_token = field::text(message, "quoteToken").map(str::to_owned);
    let text = inbound.text.clone();
    let attachments = inbound.attachments.clone();
    frame.known.put(id, RecentMessage { speaker, text, ours: false, quote_token, attachments });
}
