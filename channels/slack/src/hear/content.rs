//! What a message says: its own words, which may stand in blocks alone, and what it shares of others.

use selkie_channel_core::field;
use selkie_channel_core::{MessageRef, Quote};
use serde_json::Value;

use super::{rich, text};

/// Shared messages and cards that are read of one message.
const MAX: usize = 10;
/// What is shared is not read further, bytes.
const MAX_BYTES: usize = 16 * 1024;
/// What Slack writes as the text of a message that has blocks alone.
const STANDS_IN: &str = "This content can't be displayed.";

/// Words of others that came with a message.
pub struct SharedContent {
    /// Whose they are, as far as it is told.
    pub speaker: String,
    /// As Markdown.
    pub text: String,
    /// The message they are from, when it is one.
    pub message: Option<MessageRef>,
}

impl SharedContent {
    /// Returns them as what the message `ts` quotes.
    pub fn quoted(self, ts: &str) -> Quote {
        let message = self.message.unwrap_or_else(|| MessageRef::new(ts));
        Quote {
            message,
            speaker: self.speaker,
            text: self.text,
            ours: false,
            attachments: Vec::new(),
        }
    }
}

/// Returns a message's own words in mrkdwn.
pub fn own(message: &Value) -> String {
    let text = field::text(message, "text").unwrap_or_default();
    let stands_in = text.trim().is_empty() || text.trim() == STANDS_IN;
    match stands_in.then(|| rich::read(field::list(message, "blocks"))) {
        Some(read) if !read.trim().is_empty() => read,
        _ => text.to_owned(),
    }
}

/// Returns what a message shares: a forwarded message, the card of another program.
pub fn shared(message: &Value) -> Option<SharedContent> {
    let cards = field::list(message, "attachments");
    let read: Vec<String> = cards.iter().take(MAX).map(card).filter(|c| !c.is_empty()).collect();
    let mut text = read.join("\n");
    text.truncate(text.floor_char_boundary(MAX_BYTES));
    let first = cards.first()?;
    let speaker = ["author_name", "author_subname", "service_name"]
        .iter()
        .find_map(|key| field::text(first, key));
    let ts = field::text(first, "ts").filter(|ts| crate::ids::order(ts).is_some());
    (!text.is_empty()).then(|| SharedContent {
        speaker: speaker.unwrap_or("somebody else").to_owned(),
        text,
        message: ts.map(MessageRef::new),
    })
}

/// Reads one attachment; its fallback only where it says nothing else.
fn card(card: &Value) -> String {
    let text = |key: &str| field::text(card, key).map(str::to_owned);
    let title = match (text("title"), text("title_link")) {
        (Some(title), Some(link)) => Some(format!("<{link}|{title}>")),
        (title, _) => title,
    };
    let fields = field::list(card, "fields").iter().take(MAX).map(|field| {
        let part = |key| field::text(field, key).unwrap_or_default();
        format!("{}: {}", part("title"), part("value"))
    });
    let mut lines: Vec<String> =
        [text("pretext"), title, text("text")].into_iter().flatten().collect();
    lines.extend(fields);
    let whole = field::list(card, "message_blocks").iter().take(MAX);
    let whole = whole.filter_map(|part| field::object(part, "message"));
    let blocks = whole.map(|part| rich::read(field::list(part, "blocks")));
    let blocks: Vec<String> =
        std::iter::once(rich::read(field::list(card, "blocks"))).chain(blocks).collect();
    if text("text").is_none() {
        lines.extend(blocks.into_iter().filter(|read| !read.trim().is_empty()));
    }
    if lines.is_empty() {
        lines.extend(text("fallback"));
    }
    text::as_read(&lines.join("\n"))
}
