//! What was said in a thread before the bot was asked there.

use selkie_channel_core::Inbound;
use serde_json::Value;

use crate::api::Api;
use crate::fault::Fault;
use crate::hear::{self, Frame};
use crate::ids::{Spot, order};

/// Pages that are read at most, and messages on each: Slack tells the oldest first.
const PAGES: usize = 5;
const PAGE: &str = "200";

/// Reads a thread's first message and the newest of what was said before `before`, oldest first.
///
/// # Errors
/// In words; a missing scope is named.
pub async fn thread(
    api: &Api,
    spot: &Spot,
    (before, limit): (i64, usize),
    frame: Frame<'_>,
) -> Result<Vec<Inbound>, String> {
    let root = match spot.thread.as_deref() {
        // A thread's first message has nothing before it.
        Some(root) if order(root).is_some_and(|root| root < before) => root,
        _ => return Ok(Vec::new()),
    };
    let messages = pages(api, &spot.channel, root, before).await.map_err(|fault| fault.words())?;
    let read = |message: &Value| hear::earlier(message, spot, frame);
    let mut earlier: Vec<Inbound> =
        messages.iter().filter_map(read).filter(|inbound| inbound.order < before).collect();
    let over = earlier.len().saturating_sub(limit);
    if over > 0 {
        // The first message says what it is all about: it stays, and the oldest behind it go.
        earlier.drain(1..=over);
    }
    Ok(earlier)
}

async fn pages(api: &Api, channel: &str, root: &str, before: i64) -> Result<Vec<Value>, Fault> {
    let latest = format!("{}.{:06}", before / 1_000_000, before % 1_000_000);
    let mut messages = Vec::new();
    let mut cursor = String::new();
    for _ in 0..PAGES {
        let mut ask =
            vec![("channel", channel), ("ts", root), ("limit", PAGE), ("latest", latest.as_str())];
        if !cursor.is_empty() {
            ask.push(("cursor", cursor.as_str()));
        }
        let mut page = api.ask("conversations.replies", &ask).await?;
        let next = page.pointer("/response_metadata/next_cursor").and_then(Value::as_str);
        let next = next.unwrap_or_default().to_owned();
        if let Some(Value::Array(found)) = page.get_mut("messages").map(Value::take) {
            messages.extend(found);
        }
        if next.is_empty() {
            break;
        }
        cursor = next;
    }
    Ok(messages)
}
