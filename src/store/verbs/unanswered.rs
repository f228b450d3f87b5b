//! What was heard in a conversation and no task has answered: commands, talk among people, and what strangers wrote.

use std::ops::ControlFlow;

use selkie_channel_core::{ConversationId, Inbound, What};

use super::conversations;
use super::rows::json;
use crate::store::error::Result;
use crate::store::read::Unanswered;
use crate::store::tx::Tx;
use crate::store::value::params;

/// Returns the newest of it, oldest first.
pub fn unanswered(tx: &mut dyn Tx, id: &ConversationId, most: i64) -> Result<Vec<Unanswered>> {
    let Some(conversation) = conversations::find(tx, id)? else { return Ok(Vec::new()) };
    // A stranger's line stands in no conversation: it says itself where it was written.
    let named = format!("%{}%", json(&id.key())?);
    let mut found = Vec::new();
    tx.query(
        "SELECT i.disposition, i.inbound, i.conversation FROM inbox i LEFT JOIN task t ON t.id = i.task
         WHERE (i.conversation = ?1 OR (i.conversation IS NULL AND i.inbound LIKE ?3)) AND t.finish IS NULL
         ORDER BY i.id DESC LIMIT ?2",
        params![conversation, most, &named],
        &mut |row| {
            // What cannot be read, and what was forgotten, has nothing to say.
            if let Ok(heard) = serde_json::from_str::<Inbound>(row.get(1)?)
                && heard.what == What::Message
                && (row.get::<Option<i64>>(2)?.is_some() || heard.conversation == *id)
                && says_something(&heard)
            {
                found.push(Unanswered { why: why(row.get(0)?), heard });
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

/// Says in words what became of a row.
fn why(disposition: &str) -> String {
    match disposition {
        "task" => "not answered yet",
        "command" => "a command",
        "answer" => "an answer to a question",
        "gate" => "not judged yet",
        "context" | "ignored: untriggered" => "not meant for the bot",
        "ignored: not_allowed" => "not on the allow list",
        other => return other.trim_start_matches("ignored: ").replace('_', " "),
    }
    .to_owned()
}
