//! A conversation is closed: the platform takes nothing more for it.

use super::{held_answers, outbox};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;

/// Closes a conversation: what is queued or held for it is refused.
pub fn close(tx: &mut dyn Tx, row: i64, reason: &str, now: i64) -> Result<()> {
    tx.execute_later("UPDATE conversation SET closed = ?2 WHERE id = ?1", params![row, reason])?;
    tx.execute_later(
        "UPDATE part SET state = 'refused', open = 0, reason = ?2, updated_at = ?3,
             told = (SELECT CASE WHEN answer = 1 THEN 0 END FROM outbound WHERE id = part.outbound)
         WHERE id IN (SELECT part FROM rendered)
             AND conversation = ?1 AND open = 1 AND state = 'queued'",
        params![row, reason, now],
    )?;
    held_answers::drop_held(tx, row, "refused", reason, now)?;
    outbox::tidy(tx)
}
