//! `conversations.history` and `conversations.replies`: pages of messages.

use serde_json::{Value, json};

use super::Server;
use super::params::text;
use super::refusal::{MethodResult, Refusal};
use super::world::SlackMessage;

/// Messages on a page when the call names no number.
const PAGE: usize = 100;
/// More are not taken.
const MAX: usize = 999;
/// Nor more than these by a distributed app outside of the Marketplace.
const LITTLE: usize = 15;

/// Replies are listed oldest first with their root before them, a channel's messages newest first.
pub(super) fn page(server: &Server, method: &str, params: &Value) -> MethodResult {
    let channel = text(params, "channel");
    let root = text(params, "ts");
    let mut world = server.world();
    world.open_room(channel)?;
    let room = world.rooms.get(channel).ok_or("channel_not_found")?;
    let replies = method == "conversations.replies";
    if replies && !room.messages.iter().any(|message| message.ts == root) {
        return Err("thread_not_found".into());
    }
    let span = Span::of(params);
    let with_metadata = text(params, "include_all_metadata") == "true";
    let mut messages: Vec<&SlackMessage> = room
        .messages
        .iter()
        .filter(|message| match replies {
            true => message.ts == root || message.thread.as_deref() == Some(root),
            false => message.thread.as_ref().is_none_or(|thread| *thread == message.ts),
        })
        .filter(|message| (replies && message.ts == root) || span.holds(&message.ts))
        .collect();
    if !replies {
        messages.reverse();
    }
    let page = cut(&messages, params, if server.hands_out_little() { LITTLE } else { MAX })?;
    let shown = |message: &&SlackMessage| {
        let mut out = world.render(message, &server.base);
        if let Some(metadata) = message.metadata.as_ref().filter(|_| with_metadata) {
            out["metadata"] = metadata.clone();
        }
        out
    };
    Ok(json!({
        "messages": page.messages.iter().map(shown).collect::<Vec<_>>(),
        "has_more": page.next.is_some(),
        "response_metadata": { "next_cursor": page.next.unwrap_or_default() },
    }))
}

/// One page, and where the next begins.
struct Page<'a> {
    messages: &'a [&'a SlackMessage],
    next: Option<String>,
}

fn cut<'a>(
    messages: &'a [&'a SlackMessage],
    params: &Value,
    most: usize,
) -> Result<Page<'a>, Refusal> {
    let limit = text(params, "limit").parse().unwrap_or(PAGE).clamp(1, most);
    let start = match text(params, "cursor") {
        "" => 0,
        cursor => {
            cursor.strip_prefix("page-").and_then(|n| n.parse().ok()).ok_or("invalid_cursor")?
        }
    };
    let end = messages.len().min(start + limit);
    let more = end < messages.len();
    let next = more.then(|| format!("page-{end}"));
    Ok(Page { messages: messages.get(start..end).unwrap_or_default(), next })
}

/// Which times a call asks for.
struct Span<'a> {
    oldest: &'a str,
    latest: &'a str,
    inclusive: bool,
}

impl<'a> Span<'a> {
    fn of(params: &'a Value) -> Self {
        Self {
            oldest: text(params, "oldest"),
            latest: text(params, "latest"),
            inclusive: text(params, "inclusive") == "true",
        }
    }

    /// A `ts` has the same number of digits for centuries: the texts compare like the times.
    fn holds(&self, ts: &str) -> bool {
        let edge = self.inclusive && (ts == self.oldest || ts == self.latest);
        edge || (ts > self.oldest && (self.latest.is_empty() || ts < self.latest))
    }
}
