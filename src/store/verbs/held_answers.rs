//! Held answers as rows: a button offered for them, their parts held.

use chrono::{DateTime, Utc};

use super::outbox::{self, DraftText, LastWords, SaidFor};
use super::standing::parts_of;
use super::stored_words::{RawBody, body, raw_body};
use crate::delivery::QueuedOutbound;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;

/// Says a task's button, the first and only time.
pub fn button(
    tx: &mut dyn Tx,
    task: i64,
    key: &str,
    draft: &DraftText,
    now: DateTime<Utc>,
) -> Result<Option<QueuedOutbound>> {
    if tx.exists("SELECT 1 FROM hold WHERE task = ?1", params![task])? {
        return Ok(None);
    }
    let queued = outbox::say(tx, draft, SaidFor::Task(task), now)?;
    tx.execute_later(
        "INSERT INTO hold (account, key, task, button, token, open)
         SELECT c.account, CAST(?2 AS TEXT), t.id, CAST(?3 AS BIGINT), CAST(?4 AS TEXT), 1
         FROM task t JOIN conversation c ON c.id = t.conversation WHERE t.id = ?1",
        params![task, key, queued.outbound.0, draft.token().unwrap_or_default()],
    )?;
    Ok(Some(queued))
}

/// Says a task's last words: held when a button was offered for them, unless they come with a right to
/// answer of their own.
pub fn say(
    tx: &mut dyn Tx,
    words: LastWords<'_>,
    draft: &DraftText,
    now: DateTime<Utc>,
) -> Result<QueuedOutbound> {
    let task = words.task;
    let own = draft.token();
    match words.spent {
        None => outbox::say(tx, draft, SaidFor::Finish(words), now),
        Some(spent) if own.is_some_and(|own| own != spent) => {
            close(tx, task)?;
            outbox::say(tx, draft, SaidFor::Finish(words), now)
        }
        Some(_) => {
            let words = LastWords { sender: None, ..words };
            let mut queued = outbox::say(tx, draft, SaidFor::Finish(words), now)?;
            turn(tx, queued.outbound.0, Turn::HOLD)?;
            queued.parts.clear();
            Ok(queued)
        }
    }
}

/// From which state parts move to which.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    from: &'static str,
    to: &'static str,
}

impl Turn {
    /// What is queued is held.
    pub const HOLD: Self = Self { from: "queued", to: "held" };
    /// What is held is queued.
    pub const LET_GO: Self = Self { from: "held", to: "queued" };
}

/// Moves the parts of an outbound from one state to another.
pub fn turn(tx: &mut dyn Tx, outbound: i64, turn: Turn) -> Result<()> {
    let [first, last] = parts_of(outbound);
    tx.execute_later(
        "UPDATE part SET state = ?4 WHERE id BETWEEN ?1 AND ?2 AND state = ?3",
        params![first, last, turn.from, turn.to],
    )
}

/// The answer of a task went out, or never will.
pub fn close(tx: &mut dyn Tx, task: i64) -> Result<()> {
    tx.execute_later("UPDATE hold SET open = 0 WHERE task = ?1", params![task])
}

/// What a task has said and is held, oldest first.
pub fn held_of(tx: &mut dyn Tx, task: i64) -> Result<Vec<RawBody>> {
    tx.all(
        body!(
            "FROM outbound o WHERE o.task = ?1 AND EXISTS
                 (SELECT 1 FROM part WHERE id BETWEEN o.id * 4096 AND o.id * 4096 + 4095 AND state = 'held')
             ORDER BY o.id"
        ),
        params![task],
        raw_body,
    )
}

/// Ends what is held in a conversation, as a state and for a reason; returns how much.
pub fn drop_held(
    tx: &mut dyn Tx,
    conversation: i64,
    state: &str,
    reason: &str,
    now: i64,
) -> Result<u64> {
    let dropped = tx.execute(
        "UPDATE part SET state = ?2, open = 0, reason = ?3, updated_at = ?4,
             told = (SELECT CASE WHEN answer = 1 AND ?2 <> 'cancelled' THEN 0 END
                     FROM outbound WHERE id = part.outbound)
         WHERE id IN (SELECT part FROM rendered)
             AND conversation = ?1 AND open = 1 AND state = 'held'",
        params![conversation, state, reason, now],
    )?;
    if dropped > 0 {
        outbox::tidy(tx)?;
    }
    Ok(dropped)
}
