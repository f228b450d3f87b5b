//! What was heard in a conversation and stands in no transcript: commands, answers to questions, talk among people, what
//! strangers wrote, and what was stopped before it was read.

use std::ops::ControlFlow;

use selkie_channel_core::{ConversationId, Inbound, What};

use super::rows::{json, time};
use super::{conversations, voice};
use crate::error::Result;
use crate::read::UnansweredMessage;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::InboxId;

/// Returns the newest of it, oldest first.
pub fn unanswered(
    tx: &mut dyn Tx,
    id: &ConversationId,
    most: usize,
) -> Result<Vec<UnansweredMessage>> {
    let Some(conversation) = conversations::find(tx, id)? else { return Ok(Vec::new()) };
    // A stranger's line stands in no conversation: it says itself where it was written.
    let named = format!("%{}%", json(&id.key())?);
    let mut found = Vec::new();
    tx.query(
        "SELECT i.disposition, i.inbound, i.conversation, i.id, i.stored_at, t.state, t.finish, i.spoken
         FROM inbox i LEFT JOIN task t ON t.id = i.task
         WHERE (i.conversation = ?1 OR (i.conversation IS NULL AND i.inbound LIKE ?3))
             AND (t.finish IS NULL OR i.disposition = 'answer'
                 OR (i.disposition = 'task' AND t.state <> 'done'
                     AND NOT EXISTS (SELECT 1 FROM transcript r WHERE r.task = t.id)))
         ORDER BY i.id DESC LIMIT ?2",
        params![conversation, most, &named],
        &mut |row| {
            // What cannot be read, and what was forgotten, has nothing to say.
            if let Ok(heard) = serde_json::from_str::<Inbound>(row.get(1)?)
                && heard.what == What::Message
                && (row.get::<Option<i64>>(2)?.is_some() || heard.conversation == *id)
                && says_something(&heard)
            {
                let ended = row.get::<Option<i64>>(6)?.is_some();
                let state = row.get::<Option<&str>>(5)?.filter(|_| ended);
                let why = why(row.get(0)?, state);
                let stored_at = time(row.get(4)?);
                // Some platforms tell no time.
                let at = if heard.at.timestamp() == 0 { stored_at } else { heard.at };
                found.push(UnansweredMessage {
                    inbox: InboxId(row.get(3)?),
                    at,
                    stored_at,
                    why,
                    heard,
                    spoken: voice::words(row.get(7)?),
                });
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    found.reverse();
    Ok(found)
}

/// Whether anything of it is left: what was forgotten keeps who wrote it, and nothing else.
pub fn says_something(heard: &Inbound) -> bool {
    !heard.text.is_empty() || !heard.attachments.is_empty() || heard.command.is_some()
}

/// Says in words why no task has answered a row; `state`: how its task has ended.
fn why(disposition: &str, state: Option<&str>) -> Option<String> {
    let why = match (disposition, state) {
        ("answer", _) => return None,
        ("task", Some("stopped")) => "stopped before it was read",
        ("task", Some(_)) => "failed before it was read",
        ("task", None) => "not answered yet",
        ("command", _) => "a command without an answer",
        ("gate", _) => "not judged yet",
        ("context" | "ignored: untriggered", _) => "not meant for the bot",
        ("ignored: not_allowed", _) => "not on the allow list",
        (other, _) => return Some(other.trim_start_matches("ignored: ").replace('_', " ")),
    };
    Some(why.to_owned())
}
