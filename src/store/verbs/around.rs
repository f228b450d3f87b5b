//! What a claim is told besides its own messages: untriggered lines, answers that did not arrive, open questions.

use serde::Deserialize;

use super::questions::{self, RawQuestion};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::{Row, params};

/// How many untriggered lines a claim is handed.
const CONTEXT: i64 = 30;
/// How many undelivered answers a claim is told of.
const UNDELIVERED: i64 = 16;

/// What there is to be told. Most claims have nothing, and to look costs less than to read or to update nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untold {
    /// Untriggered lines that nobody was told of.
    pub context: bool,
    /// Lines that wait for the gate.
    pub gate: bool,
    /// Lines that the task itself was told of before.
    pub lines: bool,
    /// Answers that did not arrive.
    pub undelivered: bool,
    /// Open questions.
    pub asked: bool,
}

/// What a claim is told.
#[derive(Debug, Default)]
pub struct ClaimContext {
    /// Untriggered lines, oldest first.
    pub context: Vec<(i64, String)>,
    /// What answers said that did not arrive.
    pub undelivered: Vec<String>,
    /// What other tasks wait to be answered.
    pub open: Vec<RawQuestion>,
}

/// Who is told.
#[derive(Clone, Copy, Debug)]
pub struct Claimer {
    /// A task.
    pub task: i64,
    /// Its conversation.
    pub conversation: i64,
}

/// Reads what there is to be told, and marks it as told.
pub fn tell(tx: &mut dyn Tx, who: Claimer, untold: Untold) -> Result<ClaimContext> {
    let mut told = ClaimContext { context: context(tx, who, untold)?, ..ClaimContext::default() };
    if untold.undelivered {
        told.undelivered = undelivered(tx, who)?;
    }
    if untold.asked {
        told.open = questions::open(tx, Some(who.conversation))?;
        told.open.retain(|question| question.task != who.task);
    }
    Ok(told)
}

/// Untriggered lines nobody was told of yet become this task's; it gets the newest of its own. Lines that still
/// wait for the gate are shown, too: what a person says next may mean them.
fn context(tx: &mut dyn Tx, who: Claimer, untold: Untold) -> Result<Vec<(i64, String)>> {
    let Claimer { task, conversation } = who;
    if untold.context {
        tx.execute_later(
            "UPDATE inbox SET task = ?2 WHERE conversation = ?1 AND disposition = 'context' AND task IS NULL",
            params![conversation, task],
        )?;
    }
    if untold.gate {
        tx.execute_later(
            "UPDATE inbox SET task = ?2 WHERE conversation = ?1 AND disposition = 'gate' AND task IS NULL",
            params![conversation, task],
        )?;
    }
    if !(untold.context || untold.gate || untold.lines) {
        return Ok(Vec::new());
    }
    let mut lines = tx.all(
        "SELECT id, inbound FROM inbox WHERE task = ?1 AND disposition IN ('context', 'gate')
         ORDER BY ord DESC, id DESC LIMIT ?2",
        params![task, CONTEXT],
        line,
    )?;
    lines.reverse();
    Ok(lines)
}

fn line(row: &dyn Row) -> Result<(i64, String)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Marks undelivered answers as told, and reads them.
fn undelivered(tx: &mut dyn Tx, who: Claimer) -> Result<Vec<String>> {
    let by = params![who.conversation, who.task];
    tx.execute_later("UPDATE part SET told = ?2 WHERE conversation = ?1 AND told = 0", by)?;
    let mut calls: Vec<String> = tx.column(
        "SELECT r.text FROM part p JOIN rendered r ON r.part = p.id
         WHERE p.conversation = ?1 AND p.told = ?2 ORDER BY p.id DESC LIMIT ?3",
        params![who.conversation, who.task, UNDELIVERED],
    )?;
    calls.reverse();
    Ok(calls
        .iter()
        .filter_map(|call| serde_json::from_str::<ShownPart>(call).ok())
        .map(|c| c.shown)
        .collect())
}

/// What a part's call shows a person.
#[derive(Deserialize)]
struct ShownPart {
    shown: String,
}
