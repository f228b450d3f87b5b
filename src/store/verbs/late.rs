//! What is learned late about a message: that it means the bot now, or that it was said before a task.

use selkie_channel_core::Inbound;

use super::conversations;
use crate::domain::ids::TaskId;
use crate::store::error::Result;
use crate::store::tx::Tx;
use crate::store::value::params;

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
