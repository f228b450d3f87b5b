//! What a verb keeps others off before it decides anything: the conversations that it touches, ascending.
//!
//! All that belongs to a conversation (its lane's tasks, what is said there, its questions) is written under its lock,
//! so two verbs of one conversation never interleave. Where one thread writes, nothing is looked for.

use selkie_channel_core::ConversationId;

use super::conversations;
use crate::error::Result;
use crate::tx::{Lock, Tx};
use crate::value::{Value, params};

/// Locks conversations by their rows.
pub fn rows(tx: &mut dyn Tx, mut rows: Vec<i64>) -> Result<()> {
    if tx.is_alone() {
        return Ok(());
    }
    rows.sort_unstable();
    rows.dedup();
    rows.into_iter().try_for_each(|row| tx.lock(Lock::Conversation(row)))
}

/// Locks what there is of these conversations.
pub fn named<'i>(tx: &mut dyn Tx, ids: impl IntoIterator<Item = &'i ConversationId>) -> Result<()> {
    let mut ids: Vec<&ConversationId> = ids.into_iter().collect();
    ids.dedup();
    match ids[..] {
        [one] => tx.lock(Lock::Named(one)),
        _ => and(tx, Vec::new(), ids),
    }
}

/// Locks the conversation of a task, and what there is of others.
pub fn of_task<'i>(
    tx: &mut dyn Tx,
    task: i64,
    also: impl IntoIterator<Item = &'i ConversationId>,
) -> Result<()> {
    let mut also: Vec<&ConversationId> = also.into_iter().collect();
    also.dedup();
    match also[..] {
        [] => tx.lock(Lock::OfTask(task, None)),
        [one] => tx.lock(Lock::OfTask(task, Some(one))),
        _ => {
            let found = found(tx, "SELECT conversation FROM task WHERE id = ?1", params![task])?;
            and(tx, found, also)
        }
    }
}

/// Locks the conversation of a row of the inbox, and what there is of others.
pub fn of_row<'i>(
    tx: &mut dyn Tx,
    row: i64,
    also: impl IntoIterator<Item = &'i ConversationId>,
) -> Result<()> {
    let sql = "SELECT conversation FROM inbox WHERE id = ?1 AND conversation IS NOT NULL";
    let found = found(tx, sql, params![row])?;
    and(tx, found, also)
}

/// Locks the conversation of a part, and that of the task which said it.
pub fn of_part(tx: &mut dyn Tx, part: i64) -> Result<()> {
    tx.lock(Lock::OfPart(part))
}

/// Locks the conversation of a lane's oldest task, then the lane.
pub fn of_lane(tx: &mut dyn Tx, lane: i64) -> Result<()> {
    let sql = "SELECT t.conversation FROM lane l JOIN task t ON t.id = l.oldest WHERE l.id = ?1";
    let found = found(tx, sql, params![lane])?;
    rows(tx, found)?;
    tx.lock(Lock::Lane(lane))
}

fn and<'i>(
    tx: &mut dyn Tx,
    mut found: Vec<i64>,
    also: impl IntoIterator<Item = &'i ConversationId>,
) -> Result<()> {
    if tx.is_alone() {
        return Ok(());
    }
    for id in also {
        found.extend(conversations::find(tx, id)?);
    }
    rows(tx, found)
}

fn found(tx: &mut dyn Tx, sql: &'static str, by: &[Value<'_>]) -> Result<Vec<i64>> {
    if tx.is_alone() { Ok(Vec::new()) } else { tx.column(sql, by) }
}
