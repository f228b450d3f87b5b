//! What is said becomes Bot API calls: the form in which a part is stored.

use selkie_channel_core::{Body, Outbound, Part, PlaceId, split};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::Spot;
use crate::maker::Maker;
use crate::upload::Upload;

/// Stands before a text that may be there twice.
const MARK: &str = "(possibly repeated)";
/// Stands before a text that was meant for a topic; no longer than the mark.
const GONE: &str = "(topic deleted)";
/// Room that is kept for the mark and a line break.
pub const MARK_ROOM: usize = MARK.len() + 1;
const SHOWN: usize = 200;

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

    /// Puts the visible mark before the call's text.
    fn mark(&mut self) {
        self.preface(MARK);
    }

    /// Puts a word before the call's text; there is room for one.
    fn preface(&mut self, word: &str) {
        let key = if self.method == "sendMessage" { "text" } else { "caption" };
        let html = self.params.get("parse_mode").is_some();
        let Some(params) = self.params.as_object_mut() else { return };
        let word = if html { format!("<i>{word}</i>") } else { word.to_owned() };
        let old = params.get(key).and_then(Value::as_str).unwrap_or_default();
        let has_one = [MARK, GONE].iter().any(|known| {
            old.starts_with(known) || old.strip_prefix("<i>").is_some_and(|o| o.starts_with(known))
        });
        if has_one {
            return;
        }
        let new = if old.is_empty() { word } else { format!("{word}\n{old}") };
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
        Body::Question(question) => maker.question(question),
        Body::Status { markdown } => maker.status(markdown),
        Body::Revision { message, markdown, question } => {
            maker.revision(message, markdown, question.as_ref())
        }
        Body::Withdrawal { message } => maker.withdrawal(message),
        Body::TapAnswer { handle, text } => maker.tap_answer(handle, text),
        Body::Held(_) => Vec::new(),
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

/// Returns what a log shows of a text.
pub fn shown(text: &str) -> String {
    let line = text.trim();
    if split::utf16_len(line) <= SHOWN {
        return line.to_owned();
    }
    let cut: String = line.chars().take(SHOWN - 1).collect();
    cut + "…"
}

#[cfg(test)]
mod tests;
