//! Messages, files, reactions: the plain calls that say an outbound.

use selkie_channel_core::styled::{StyledText, mention};
use selkie_channel_core::{MessageRef, Outbound, Part, file};
use serde_json::{Value, json};
use teloxide::payloads::{
    SendChatAction, SendChatActionSetters, SendMessage, SendMessageSetters, SetMessageReaction,
    SetMessageReactionSetters,
};
use teloxide::types::{
    ChatAction, ChatId, LinkPreviewOptions, MessageId, ParseMode, ReactionType, ReplyParameters,
    ThreadId,
};

use crate::call::{Call, MARK_ROOM};
use crate::cut::{self, Piece};
use crate::ids::{Spot, message_id};
use crate::markdown;
use crate::rich_html::rich_html;
use crate::speaking;
use crate::upload::Upload;

/// Telegram's limit of a message, UTF-16 units after entities are parsed.
pub const MAX_TEXT: usize = 4096;
/// What a message may hold so that its mark still fits.
pub const ROOM: usize = MAX_TEXT - MARK_ROOM;
/// Telegram's limit of a caption, counted likewise.
const MAX_CAPTION: usize = 1024;
const HTML: &str = "HTML";
/// The id of a forum's General topic, which must not be named in a call.
const GENERAL: i32 = 1;

/// Makes the calls that say one outbound.
pub struct Maker<'a> {
    /// What is said.
    pub outbound: &'a Outbound,
    /// Where.
    pub spot: Spot,
}

impl Maker<'_> {
    /// A text, in as many messages as it needs.
    pub fn text(&self, markdown: &str) -> Vec<Part> {
        let styled = mention(styled(markdown), &self.outbound.mentions);
        let pieces = cut::pieces(&styled, ROOM, ROOM);
        let rich = rich_html(&styled).filter(|_| pieces.len() == 1);
        let mut parts = self.messages(pieces, true);
        if let (Some(html), Some(only)) = (rich, parts.first_mut()) {
            *only = only.enriched(|call: Call| call.made_rich(&html));
        }
        let over = self.outbound.over.as_ref().and_then(message_id);
        if let (Some(id), Some(first)) = (over, parts.first_mut()) {
            *first = first.changed(|call: &mut Call| into_edit(call, id)).repeatable();
        }
        parts
    }

    fn messages(&self, pieces: Vec<Piece>, quoting: bool) -> Vec<Part> {
        let parts = pieces.into_iter().enumerate().map(|(i, piece)| {
            let quote = quoting && i == 0;
            let rich = sending(self.message(&piece.html, Some(ParseMode::Html), quote));
            let plain = sending(self.message(&piece.plain, None, quote));
            self.part(rich, Some(plain), &piece.plain)
        });
        parts.collect()
    }

    /// One message.
    pub fn message(&self, text: &str, mode: Option<ParseMode>, quote: bool) -> SendMessage {
        let mut payload =
            SendMessage::new(ChatId(self.spot.chat), text).link_preview_options(no_preview());
        payload.parse_mode = mode;
        payload.message_thread_id = self.topic();
        if let Some(reply) = self.quote().filter(|_| quote) {
            payload = payload.reply_parameters(reply);
        }
        payload
    }

    /// A file with its caption; what of that does not fit goes on below.
    pub fn file(
        &self,
        method: &str,
        field: &str,
        path: &str,
        name: &str,
        caption: Option<&str>,
    ) -> Vec<Part> {
        let caption = caption.map_or_else(StyledText::default, markdown::render);
        let room = MAX_CAPTION - MARK_ROOM;
        let mut pieces = cut::pieces(&caption, room, ROOM).into_iter();
        let first = pieces.next();
        let name = file::name(name);
        let call = |text: Option<&String>, html: bool| Call {
            method: method.to_owned(),
            params: self.file_params(text, html),
            upload: Some(Upload {
                field: field.to_owned(),
                path: path.to_owned(),
                name: name.clone(),
            }),
            anew: None,
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

    /// A reaction.
    pub fn reaction(&self, message: &MessageRef, emoji: &str, big: bool) -> Vec<Part> {
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

    /// The sign that somebody types.
    pub fn typing(&self) -> Vec<Part> {
        let mut payload = SendChatAction::new(ChatId(self.spot.chat), ChatAction::Typing);
        if let Some(topic) = self.topic() {
            payload = payload.message_thread_id(topic);
        }
        self.state("sendChatAction", json!(payload), "[typing]")
    }

    /// A call that sets a state.
    pub fn state(&self, method: &str, params: Value, words: &str) -> Vec<Part> {
        let call = Call { method: method.to_owned(), params, upload: None, anew: None };
        vec![self.part(call, None, words).repeatable()]
    }

    /// A call as it is stored.
    pub fn part(&self, call: Call, fallback: Option<Call>, words: &str) -> Part {
        Part::new(self.outbound.conversation.clone(), &call, words).or(fallback.as_ref())
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

/// Returns the call that sends a message.
pub fn sending(message: SendMessage) -> Call {
    Call { method: "sendMessage".to_owned(), params: json!(message), upload: None, anew: None }
}

/// Makes an edit of message `id` of a call that sends one.
fn into_edit(call: &mut Call, id: i32) {
    let Some(params) = call.params.as_object_mut() else { return };
    let only_sent = ["message_thread_id", "reply_parameters"];
    let anew = only_sent.into_iter().filter_map(|key| params.remove_entry(key)).collect();
    params.insert("message_id".to_owned(), json!(id));
    *call = Call {
        method: "editMessageText".to_owned(),
        params: call.params.take(),
        upload: None,
        anew: Some(Value::Object(anew)),
    };
}

/// Renders Markdown; what is all markup (an empty code block, a link's definition) is shown as it stands.
pub fn styled(markdown: &str) -> StyledText {
    let mut styled = markdown::render(markdown);
    if styled.text().is_empty() {
        styled.push(markdown, &[]);
    }
    styled
}

/// No link of a message is unfolded.
pub fn no_preview() -> LinkPreviewOptions {
    LinkPreviewOptions {
        is_disabled: true,
        url: None,
        prefer_small_media: false,
        prefer_large_media: false,
        show_above_text: false,
    }
}
