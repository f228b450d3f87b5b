//! What is learned late about a message: that it means the bot now, that it was said before a task, other words.

use selkie_channel_core::Inbound;

use super::{conversations, texts};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::TaskId;

/// Whether a message that means the bot since it was edited had its task before.
pub fn is_answered(tx: &mut dyn Tx, inbound: &Inbound) -> Result<bool> {
    let Some(message) = &inbound.message else { return Ok(false) };
    let Some(conversation) = conversations::find(tx, &inbound.conversation)? else {
        return Ok(false);
    };
    tx.exists(
        "SELECT 1 FROM inbox WHERE message = ?1 AND conversation = ?2
             AND disposition IN ('task', 'command')",
        params![message.as_str(), conversation],
    )
}

/// Makes a known row the context of a task, when nothing came of it so far.
pub fn adopt(tx: &mut dyn Tx, inbound: &Inbound, task: TaskId) -> Result<()> {
    tx.execute_later(
        "UPDATE inbox SET disposition = 'context', task = ?3
         WHERE account = ?1 AND key = ?2 AND task IS NULL
             AND disposition IN ('context', 'ignored: untriggered')",
        params![inbound.conversation.account().as_str(), &inbound.key, task.0],
    )
}

/// Changes the stored text of a message that waits: of a task, or as context for one. Returns whether it
/// did.
pub fn edit(tx: &mut dyn Tx, conversation: i64, inbound: &Inbound) -> Result<bool> {
    let Some(message) = &inbound.message else { return Ok(false) };
    let waiting: Vec<(i64, String)> = tx.all(
        "SELECT id, inbound FROM inbox
         WHERE message = ?1 AND conversation = ?2 AND
             (disposition = 'gate' OR (disposition = 'context' AND task IS NULL) OR
              (disposition = 'task' AND (SELECT state FROM task WHERE id = inbox.task) = 'waiting'))",
        params![message.as_str(), conversation],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let mut applied = false;
    for (row, before) in waiting {
        let Some(text) = texts::with_words(&before, inbound) else {
            // Its task ends as failed when it is claimed: nobody answers the words before the edit.
            tracing::warn!(
                row,
                "a waiting message that was edited cannot be read: the edit is kept"
            );
            continue;
        };
        tx.execute_later("UPDATE inbox SET inbound = ?2 WHERE id = ?1", params![row, &text])?;
        applied = true;
    }
    Ok(applied)
}
