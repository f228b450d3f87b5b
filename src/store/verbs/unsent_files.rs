//! Whose files have still to go because their messages were taken back.

use crate::error::Result;
use crate::tx::Tx;
use crate::unsent::{UnsentFiles, UnsentMessage};
use crate::value::params;
use selkie_domain::ids::InboxId;

/// So many are looked at in one go.
const MAX: i64 = 200;

/// Whether there are any.
pub fn is_any(tx: &mut dyn Tx) -> Result<bool> {
    let sql = "SELECT 1 FROM inbox WHERE disposition = 'unsend' AND done_at IS NULL LIMIT 1";
    tx.exists(sql, params![])
}

/// Lists them, the oldest first.
pub fn read(tx: &mut dyn Tx) -> Result<UnsentFiles> {
    let events: Vec<i64> = tx.column(
        "SELECT id FROM inbox WHERE disposition = 'unsend' AND done_at IS NULL ORDER BY id LIMIT ?1",
        params![MAX],
    )?;
    let mut unsent = UnsentFiles::default();
    for event in events {
        let messages: Vec<(UnsentMessage, bool)> = tx.all(
            "SELECT m.id, (SELECT MIN(p.id) FROM conversation p WHERE p.account = c.account AND p.place = c.place),
                 EXISTS (SELECT 1 FROM task t WHERE t.id = m.task AND t.state = 'running')
                     OR EXISTS (SELECT 1 FROM inbox q JOIN task t ON t.id = q.task
                         WHERE q.quotes = e.message AND q.account = e.account AND t.state = 'running')
             FROM inbox e JOIN inbox m ON m.message = e.message AND m.account = e.account
             JOIN conversation c ON c.id = m.conversation
             WHERE e.id = ?1 AND m.disposition = 'unsent' ORDER BY m.id",
            params![event],
            |row| {
                let message = UnsentMessage { row: InboxId(row.get(0)?), place_row: row.get(1)? };
                Ok((message, row.get(2)?))
            },
        )?;
        // A task that runs may fetch them still, also one that only replies to them.
        if !messages.iter().any(|(_, runs)| *runs) {
            unsent.over.push(InboxId(event));
        }
        unsent.messages.extend(messages.into_iter().map(|(message, _)| message));
    }
    Ok(unsent)
}

/// Notes that nothing is left of those that were over.
pub fn gone(tx: &mut dyn Tx, unsent: &UnsentFiles, now: i64) -> Result<()> {
    for event in &unsent.over {
        tx.execute_later("UPDATE inbox SET done_at = ?2 WHERE id = ?1", params![event.0, now])?;
    }
    Ok(())
}
