//! A Bot API call: the form in which a part is stored.

use selkie_channel_core::{Part, PlaceId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ids::Spot;
use crate::upload::Upload;

/// Stands before a text that was meant for a topic; no longer than the mark.
const GONE: &str = "(topic deleted)";
/// Room that is kept for the mark and a line break.
pub const MARK_ROOM: usize = Part::MARK.len() + 1;

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
    /// Of an edit that may become a message: what that message has besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anew: Option<Value>,
}

impl Call {
    /// Whether it makes a message, and is answered by it; the others set a state, or are gone in a moment.
    pub fn makes_a_message(&self) -> bool {
        self.method.starts_with("send") && self.method != "sendChatAction"
    }

    /// Says the same as a rich message.
    pub fn made_rich(mut self, html: &str) -> Self {
        if let Some(params) = self.params.as_object_mut() {
            for key in ["text", "parse_mode", "link_preview_options"] {
                params.remove(key);
            }
            params.insert("rich_message".to_owned(), json!({ "html": html }));
        }
        self.method = "sendRichMessage".to_owned();
        self
    }

    /// Whether it says something as a rich message, which servers before 10.1 do not know.
    pub fn is_rich(&self) -> bool {
        self.params.get("rich_message").is_some()
    }

    /// Takes the quote away; whether there was one.
    pub fn drop_quote(&mut self) -> bool {
        let params = self.params.as_object_mut();
        params.is_some_and(|params| params.remove("reply_parameters").is_some())
    }

    /// Aims a call that says something at the chat itself, with a word that its topic is gone. Whether it
    /// was aimed at a topic: signs of typing are nobody's in the chat.
    pub fn leave_topic(&mut self) -> bool {
        if self.method == "sendChatAction" {
            return false;
        }
        let params = self.params.as_object_mut();
        let had = params.is_some_and(|params| params.remove("message_thread_id").is_some());
        if had {
            self.preface(GONE);
        }
        had
    }

    /// Sends the call to this chat: a part follows its conversation when a group's id changes.
    pub fn aim(&mut self, chat: i64) {
        // The answer to a tap names no chat.
        if let Some(id) = self.params.get_mut("chat_id") {
            *id = chat.into();
        }
    }

    /// The message that takes the place of an edit whose message is gone.
    pub fn made_anew(&self) -> Option<Self> {
        let mut params = self.params.clone();
        let fields = params.as_object_mut()?;
        fields.remove("message_id");
        fields.extend(self.anew.as_ref()?.as_object()?.clone());
        let method = if self.is_rich() { "sendRichMessage" } else { "sendMessage" };
        Some(Self { method: method.to_owned(), params, upload: None, anew: None })
    }

    /// Puts the visible mark before the call's text.
    fn mark(&mut self) {
        self.preface(Part::MARK);
    }

    /// Puts a word before the call's text; there is room for one.
    fn preface(&mut self, word: &str) {
        if let Some(Value::String(html)) = self.params.pointer_mut("/rich_message/html") {
            let paragraph = |word: &str| format!("<p><i>{word}</i></p>");
            if ![Part::MARK, GONE].iter().any(|known| html.starts_with(&paragraph(known))) {
                html.insert_str(0, &paragraph(word));
            }
            return;
        }
        let key = if self.method == "sendMessage" { "text" } else { "caption" };
        let html = self.params.get("parse_mode").is_some();
        let Some(params) = self.params.as_object_mut() else { return };
        let word = if html { format!("<i>{word}</i>") } else { word.to_owned() };
        let old = params.get(key).and_then(Value::as_str).unwrap_or_default();
        let has_one = [Part::MARK, GONE].iter().any(|known| {
            old.starts_with(known) || old.strip_prefix("<i>").is_some_and(|o| o.starts_with(known))
        });
        if has_one {
            return;
        }
        let new = if old.is_empty() { word } else { format!("{word}\n{old}") };
        params.insert(key.to_owned(), new.into());
    }
}

/// Returns the part with a visible mark; parts that set a state need none.
pub fn marked(part: &Part) -> Part {
    if part.repeatable {
        return part.clone();
    }
    part.changed(Call::mark).shown_marked()
}

/// Returns the part for its chat's new id; a topic stays a topic.
pub fn readdressed(part: &Part, to: &PlaceId) -> Part {
    let Some(new) = Spot::parse(to.key()) else { return part.clone() };
    let topic = Spot::parse(part.conversation.key()).and_then(|old| old.topic);
    let conversation = Spot { topic, ..new }.conversation(to.account());
    Part { conversation, ..part.changed(|call: &mut Call| call.aim(new.chat)) }
}

#[cfg(test)]
mod tests;
