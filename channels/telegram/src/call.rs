//! What is said becomes Bot API calls: the form in which a part is stored.

use std::rc::Rc;

use selkie_channel_core::{Body, MessageRef, Outbound, Part, PlaceId, split};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use teloxide::payloads::{
    SendChatAction, SendChatActionSetters, SendMessage, SendMessageSetters, SetMessageReaction,
    SetMessageReactionSetters,
};
use teloxide::types::{
    ChatAction, ChatId, LinkPreviewOptions, MessageId, ParseMode, ReactionType, ReplyParameters,
    ThreadId,
};

use crate::cut::{self, Piece};
use crate::ids::{Spot, message_id};
use crate::markdown;
use crate::speaking;
use crate::styled::Styled;
use crate::upload::Upload;

/// Telegram's limit of a message, UTF-16 units after entities are parsed.
const MAX_TEXT: usize = 4096;
/// Telegram's limit of a caption, counted likewise.
const MAX_CAPTION: usize = 1024;
/// Stands before a text that may be there twice.
const MARK: &str = "(possibly repeated)";
/// Room that is kept for the mark and a line break.
const MARK_ROOM: usize = MARK.len() + 1;
const SHOWN: usize = 200;
const HTML: &str = "HTML";
/// The id of a forum's General topic, which must not be named in a call.
const GENERAL: i32 = 1;

/// One Bot API call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// As the documentation spells it: `sendMessage`.
    pub method: String,
    /// Its parameters.
    pub params: Value,
    /// The file that goes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<Upload>,
}

impl Call {
    /// Takes the quote away; whether there was one.
    pub fn drop_quote(&mut self) -> bool {
        let params = self.params.as_object_mut();
        params.is_some_and(|params| params.remove("reply_parameters").is_some())
    }

    /// Sends the call to this chat: a part follows its conversation when a group's id changes.
    pub fn aim(&mut self, chat: i64) {
        if let Some(params) = self.params.as_object_mut() {
            params.insert("chat_id".to_owned(), chat.into());
        }
    }

    /// Puts the visible mark before the call's text.
    fn mark(&mut self) {
        let key = if self.method == "sendMessage" { "text" } else { "caption" };
        let html = self.params.get("parse_mode").is_some();
        let Some(params) = self.params.as_object_mut() else { return };
        let mark = if html { format!("<i>{MARK}</i>") } else { MARK.to_owned() };
        let old = params.get(key).and_then(Value::as_str).unwrap_or_default();
        if old.starts_with(&mark) {
            return;
        }
        let new = if old.is_empty() { mark } else { format!("{mark}\n{old}") };
        params.insert(key.to_owned(), new.into());
    }
}

/// Turns what is said into calls, in order. Empty when there is nothing to show.
pub fn render(outbound: &Outbound) -> Vec<Part> {
    let Some(spot) = Spot::parse(outbound.conversation.key()) else {
        tracing::error!(conversation = %outbound.conversation, "not a conversation of Telegram");
        return Vec::new();
    };
    let maker = Maker { outbound, spot };
    match &outbound.body {
        Body::Text { markdown } => maker.text(markdown),
        Body::File { path, name, caption } => {
            maker.file("sendDocument", "document", path, name, caption.as_deref())
        }
        Body::Photo { path, caption } => {
            maker.file("sendPhoto", "photo", path, path, caption.as_deref())
        }
        Body::Voice { path, name } => maker.file("sendVoice", "voice", path, name, None),
        Body::Reaction { message, emoji, big } => maker.reaction(message, emoji, *big),
        Body::Question(question) => maker.text(&question.in_words()),
        Body::Held(_)
        | Body::Status { .. }
        | Body::Revision { .. }
        | Body::Withdrawal { .. }
        | Body::TapAnswer { .. } => Vec::new(),
        Body::Typing => maker.typing(),
    }
}

/// Returns the part with a visible mark; parts that set a state need none.
pub fn marked(part: &Part) -> Part {
    if part.repeatable {
        return part.clone();
    }
    let mut part = changed(part, Call::mark);
    if !part.shown.starts_with(MARK) {
        part.shown = shown(&format!("{MARK} {}", part.shown));
    }
    part
}

/// Returns the part for its chat's new id; a topic stays a topic.
pub fn readdressed(part: &Part, to: &PlaceId) -> Part {
    let Some(new) = Spot::parse(to.key()) else { return part.clone() };
    let topic = Spot::parse(part.conversation.key()).and_then(|old| old.topic);
    let conversation = Spot { topic, ..new }.conversation(to.account());
    Part { conversation, ..changed(part, |call| call.aim(new.chat)) }
}

/// Changes a part's call and its plain form alike; what this version cannot read stays as it is.
fn changed(part: &Part, change: impl Fn(&mut Call)) -> Part {
    let apply = |value: &Value| {
        let mut call: Call = serde_json::from_value(value.clone()).ok()?;
        change(&mut call);
        serde_json::to_value(call).ok()
    };
    let call = apply(&part.call).unwrap_or_else(|| part.call.clone());
    let fallback = part.fallback.as_ref().and_then(apply);
    Part { call, fallback, ..part.clone() }
}

struct Maker<'a> {
    outbound: &'a Outbound,
    spot: Spot,
}

impl Maker<'_> {
    fn text(&self, markdown: &str) -> Vec<Part> {
        let room = MAX_TEXT - MARK_ROOM;
        let mut styled = markdown::render(markdown);
        // Markdown that is all markup (an empty code block, a link's definition) is shown as it stands.
        if styled.text().is_empty() {
            styled.push(markdown, &Rc::from([]));
        }
        self.messages(cut::pieces(&styled, room, room), true)
    }

    fn messages(&self, pieces: Vec<Piece>, quoting: bool) -> Vec<Part> {
        let parts = pieces.into_iter().enumerate().map(|(i, piece)| {
            let quote = quoting && i == 0;
            let rich = self.message(&piece.html, Some(ParseMode::Html), quote);
            let plain = self.message(&piece.plain, None, quote);
            self.part(rich, Some(plain), &piece.plain)
        });
        parts.collect()
    }

    fn message(&self, text: &str, mode: Option<ParseMode>, quote: bool) -> Call {
        let mut payload =
            SendMessage::new(ChatId(self.spot.chat), text).link_preview_options(no_preview());
        payload.parse_mode = mode;
        payload.message_thread_id = self.topic();
        if let Some(reply) = self.quote().filter(|_| quote) {
            payload = payload.reply_parameters(reply);
        }
        Call { method: "sendMessage".to_owned(), params: json!(payload), upload: None }
    }

    fn file(
        &self,
        method: &str,
        field: &str,
        path: &str,
        name: &str,
        caption: Option<&str>,
    ) -> Vec<Part> {
        let caption = caption.map_or_else(Styled::default, markdown::render);
        let room = MAX_CAPTION - MARK_ROOM;
        let mut pieces = cut::pieces(&caption, room, MAX_TEXT - MARK_ROOM).into_iter();
        let first = pieces.next();
        let name = file_name(name);
        let call = |text: Option<&String>, html: bool| Call {
            method: method.to_owned(),
            params: self.file_params(text, html),
            upload: Some(Upload {
                field: field.to_owned(),
                path: path.to_owned(),
                name: name.clone(),
            }),
        };
        let rich = call(first.as_ref().map(|p| &p.html), true);
        let plain = first.as_ref().map(|p| call(Some(&p.plain), false));
        let words = first.as_ref().map_or("", |p| p.plain.as_str());
        let mut parts = vec![self.part(rich, plain, &format!("[{field} {name}] {words}"))];
        parts.extend(self.messages(pieces.collect(), false));
        parts
    }

    fn file_params(&self, caption: Option<&String>, html: bool) -> Value {
        let mut params = json!({ "chat_id": self.spot.chat });
        if let Some(caption) = caption {
            params["caption"] = json!(caption);
        }
        if html && caption.is_some() {
            params["parse_mode"] = json!(HTML);
        }
        if let Some(topic) = self.topic() {
            params["message_thread_id"] = json!(topic);
        }
        if let Some(quote) = self.quote() {
            params["reply_parameters"] = json!(quote);
        }
        params
    }

    fn reaction(&self, message: &MessageRef, emoji: &str, big: bool) -> Vec<Part> {
        let Some(id) = message_id(message) else {
            tracing::warn!(%message, "a reaction to something that is no message of Telegram");
            return Vec::new();
        };
        let emoji = speaking::reaction(emoji);
        let words = format!("[reaction {emoji}]");
        let set = (!emoji.is_empty()).then_some(ReactionType::Emoji { emoji });
        let payload = SetMessageReaction::new(ChatId(self.spot.chat), MessageId(id))
            .reaction(set)
            .is_big(big);
        self.state("setMessageReaction", json!(payload), &words)
    }

    fn typing(&self) -> Vec<Part> {
        let mut payload = SendChatAction::new(ChatId(self.spot.chat), ChatAction::Typing);
        if let Some(topic) = self.topic() {
            payload = payload.message_thread_id(topic);
        }
        self.state("sendChatAction", json!(payload), "[typing]")
    }

    fn state(&self, method: &str, params: Value, words: &str) -> Vec<Part> {
        let call = Call { method: method.to_owned(), params, upload: None };
        vec![Part { repeatable: true, ..self.part(call, None, words) }]
    }

    fn part(&self, call: Call, fallback: Option<Call>, words: &str) -> Part {
        Part {
            v: Part::VERSION,
            conversation: self.outbound.conversation.clone(),
            call: json!(call),
            fallback: fallback.map(|call| json!(call)),
            shown: shown(words),
            repeatable: false,
        }
    }

    fn topic(&self) -> Option<ThreadId> {
        let topic = self.spot.topic.filter(|topic| *topic != GENERAL)?;
        Some(ThreadId(MessageId(topic)))
    }

    fn quote(&self) -> Option<ReplyParameters> {
        let id = message_id(self.outbound.quote.as_ref()?)?;
        Some(ReplyParameters::new(MessageId(id)).allow_sending_without_reply())
    }
}

fn no_preview() -> LinkPreviewOptions {
    LinkPreviewOptions {
        is_disabled: true,
        url: None,
        prefer_small_media: false,
        prefer_large_media: false,
        show_above_text: false,
    }
}

/// A name that is a name on every system: no folders, no control characters, never empty.
fn file_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|c| !c.is_control()).collect();
    let clean = clean.trim().trim_matches('.');
    if clean.is_empty() { "file".to_owned() } else { clean.chars().take(120).collect() }
}

fn shown(text: &str) -> String {
    let line = text.trim();
    if split::utf16_len(line) <= SHOWN {
        return line.to_owned();
    }
    let cut: String = line.chars().take(SHOWN - 1).collect();
    cut + "…"
}

#[cfg(test)]
mod tests;
