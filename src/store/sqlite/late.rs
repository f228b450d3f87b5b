//! What is learned late about a message: that it means the bot now, or that it was said before a task.

use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::Inbound;

use super::conversations;
use crate::domain::ids::TaskId;
use crate::store::{Disposition, Result};

/// Decides an edit after which a message means the bot: a task, unless it had one before.
pub fn decide(conn: &Connection, found: Disposition, inbound: &Inbound) -> Result<Disposition> {
    let Disposition::MeantNow(task) = found else { return Ok(found) };
    let answered = match (conversations::find(conn, &inbound.conversation)?, &inbound.message) {
        (Some(conversation), Some(message)) => conn
            .prepare_cached(
                "SELECT 1 FROM inbox WHERE message = ?1 AND conversation = ?2
                     AND disposition IN ('task', 'command')",
            )?
            .exists(params![message.as_str(), conversation])?,
        _ => false,
    };
    Ok(if answered { Disposition::Edit } else { Disposition::Task(task) })
}

/// Makes a known row the context of a task, when nothing came of it so far.
pub fn adopt(conn: &Connection, inbound: &Inbound, task: TaskId) -> Result<()> {
    conn.prepare_cached(
        "UPDATE inbox SET disposition = 'context', task = ?3
         WHERE account = ?1 AND key = ?2 AND task IS NULL
             AND disposition IN ('context', 'ignored: untriggered')
         RETURNING id",
    )?
    .query_row(params![inbound.conversation.account().as_str(), inbound.key, task.0], |row| {
        row.get::<_, i64>(0)
    })
    .optional()?;
    Ok(())
}
