//! What is said becomes Web API calls: the form in which a part is stored.

use selkie_channel_core::{Body, MessageRef, Outbound, Part, split};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cut::{self, Piece};
use crate::ids::{Spot, fnv};
use crate::markdown;
use crate::styled::Styled;

/// Slack advises 4,000 characters a message; it would take ten times that.
const MAX_TEXT: usize = 4000;
/// Stands before a text that may be there twice.
const MARK: &str = "(possibly repeated)";
/// Room that is kept for the mark, its markers and a line break.
const MARK_ROOM: usize = MARK.len() + 3;
const SHOWN: usize = 200;
/// The type of the metadata by which a part is found again.
pub const EVENT_TYPE: &str = "selkie_part";

/// One call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Call {
    /// `chat.postMessage`.
    Post {
        /// Its parameters.
        params: Value,
    },
    /// `reactions.add`.
    React {
        /// The channel.
        channel: String,
        /// The message.
        ts: String,
        /// The emoji as the model wrote it.
        name: String,
    },
    /// The three steps that send a file.
    Upload {
        /// The channel.
        channel: String,
        /// The thread's root.
        thread: Option<String>,
        /// Absolute path on this machine.
        path: String,
        /// Shown name.
        name: String,
        /// Text beside it, in mrkdwn.
        comment: Option<String>,
    },
}

impl Call {
    /// Puts the visible mark before the call's text.
    fn mark(&mut self) {
        match self {
            Self::Post { params } => {
                let styled = params.get("mrkdwn") != Some(&Value::Bool(false));
                let old = params.get("text").and_then(Value::as_str).unwrap_or_default();
                params["text"] = marked_text(old, styled).into();
            }
            Self::Upload { comment, .. } => {
                *comment = Some(marked_text(comment.as_deref().unwrap_or_default(), true));
            }
            Self::React { .. } => {}
        }
    }
}

fn marked_text(old: &str, styled: bool) -> String {
    let mark = if styled { format!("_{MARK}_") } else { MARK.to_owned() };
    if old.starts_with(&mark) {
        return old.to_owned();
    }
    if old.is_empty() { mark } else { format!("{mark}\n{old}") }
}

/// Turns what is said into calls, in order. Empty when there is nothing to show: Slack has no sign that a
/// bot is typing.
pub fn render(outbound: &Outbound) -> Vec<Part> {
    let Some(spot) = Spot::parse(outbound.conversation.key(), None) else {
        tracing::error!(conversation = %outbound.conversation, "not a conversation of Slack");
        return Vec::new();
    };
    let maker = Maker { outbound, spot };
    match &outbound.body {
        Body::Text { markdown } => maker.text(markdown),
        Body::File { path, name, caption } => maker.file(path, name, caption.as_deref()),
        Body::Photo { path, caption } => maker.file(path, path, caption.as_deref()),
        Body::Voice { path, name } => maker.file(path, name, None),
        Body::Reaction { message, emoji, .. } => maker.reaction(message, emoji),
        Body::Question(question) => maker.text(&question.in_words()),
        Body::Status { .. }
        | Body::Revision { .. }
        | Body::Withdrawal { .. }
        | Body::TapAnswer { .. }
        | Body::Typing => Vec::new(),
    }
}

/// Returns the part with a visible mark; parts that set a state need none.
pub fn marked(part: &Part) -> Part {
    let mut part = part.clone();
    if part.repeatable {
        return part;
    }
    let mark = |value: &Value| {
        let mut call: Call = serde_json::from_value(value.clone()).ok()?;
        call.mark();
        serde_json::to_value(call).ok()
    };
    if let Some(call) = mark(&part.call) {
        part.call = call;
    }
    part.fallback = part.fallback.as_ref().and_then(mark);
    if !part.shown.starts_with(MARK) {
        part.shown = shown(&format!("{MARK} {}", part.shown));
    }
    part
}

/// Returns the key by which a posted message is found again; `None` for calls that have none.
pub fn key_of(call: &Call) -> Option<&str> {
    match call {
        Call::Post { params } => params.pointer("/metadata/event_payload/key")?.as_str(),
        Call::React { .. } | Call::Upload { .. } => None,
    }
}

struct Maker<'a> {
    outbound: &'a Outbound,
    spot: Spot,
}

impl Maker<'_> {
    fn text(&self, markdown: &str) -> Vec<Part> {
        let mut styled = markdown::render(markdown);
        // Markdown that is all markup (an empty code block, a link's definition) is shown as it stands.
        if styled.text().trim().is_empty() {
            styled = Styled::default();
            styled.push(markdown, &crate::styled::Style::default());
        }
        self.messages(cut::pieces(&styled, MAX_TEXT - MARK_ROOM))
    }

    fn messages(&self, pieces: Vec<Piece>) -> Vec<Part> {
        let parts = pieces.into_iter().enumerate().map(|(i, piece)| {
            let mut rich = self.post(&piece.mrkdwn, true);
            rich["metadata"] = json!({
                "event_type": EVENT_TYPE, "event_payload": { "key": self.key(i, &piece.shown) },
            });
            let plain = Call::Post { params: self.post(&piece.plain, false) };
            self.part(&Call::Post { params: rich }, Some(&plain), &piece.shown)
        });
        parts.collect()
    }

    fn post(&self, text: &str, mrkdwn: bool) -> Value {
        let mut params = json!({
            "channel": self.spot.channel,
            "text": text,
            "mrkdwn": mrkdwn,
            "unfurl_links": false,
            "unfurl_media": false,
        });
        if let Some(thread) = &self.spot.thread {
            params["thread_ts"] = json!(thread);
        }
        params
    }

    /// The same part has the same key in every life of the daemon: it is made of what is said, where, and
    /// to which message it answers.
    fn key(&self, number: usize, text: &str) -> String {
        let quote = self.outbound.quote.as_ref().map_or("", MessageRef::as_str);
        let whole = format!("{}\n{quote}\n{number}\n{text}", self.outbound.conversation.full());
        let quote = if quote.is_empty() { "-" } else { quote };
        format!("{quote}:{number}:{:016x}", fnv(whole.as_bytes()))
    }

    fn file(&self, path: &str, name: &str, caption: Option<&str>) -> Vec<Part> {
        let caption = caption.map_or_else(Styled::default, markdown::render);
        let mut pieces = cut::pieces(&caption, MAX_TEXT - MARK_ROOM).into_iter();
        let first = pieces.next();
        let name = file_name(name);
        let call = Call::Upload {
            channel: self.spot.channel.clone(),
            thread: self.spot.thread.clone(),
            path: path.to_owned(),
            name: name.clone(),
            comment: first.as_ref().map(|piece| piece.mrkdwn.clone()),
        };
        let words = first.map(|piece| piece.shown).unwrap_or_default();
        let mut parts = vec![self.part(&call, None, &format!("[file {name}] {words}"))];
        parts.extend(self.messages(pieces.collect()));
        parts
    }

    fn reaction(&self, message: &MessageRef, emoji: &str) -> Vec<Part> {
        let call = Call::React {
            channel: self.spot.channel.clone(),
            ts: message.as_str().to_owned(),
            name: emoji.to_owned(),
        };
        let words = format!("[reaction {emoji}]");
        vec![Part { repeatable: true, ..self.part(&call, None, &words) }]
    }

    fn part(&self, call: &Call, fallback: Option<&Call>, words: &str) -> Part {
        Part {
            v: Part::VERSION,
            conversation: self.outbound.conversation.clone(),
            call: json!(call),
            fallback: fallback.map(|call| json!(call)),
            shown: shown(words),
            repeatable: false,
            follows: false,
        }
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
