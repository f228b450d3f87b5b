//! What came in while a task runs: read under its claim, and marked when its model has seen it.

use chrono::{DateTime, Utc};
use selkie_channel_core::Inbound;

use super::facts::{self, RawFacts};
use super::rows::{load, millis};
use super::{fence, gathering, history, lanes, unsend, words};
use crate::error::Result;
use crate::inflow::{Inflow, SeenMarks, SeenTask, WaitingTask};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::{InboxId, TaskId};
use selkie_domain::task::Claim;
use selkie_domain::words::Words;

/// How many waiting tasks are looked at.
const MAX: i64 = 16;

/// A stored text with its row.
type Row = (i64, String);

/// What came in, as it is stored.
#[derive(Debug, Default)]
pub struct RawInflow {
    waiting: Vec<RawWaiting>,
    edits: Vec<Row>,
}

/// A waiting task, as it is stored.
#[derive(Debug)]
struct RawWaiting {
    task: i64,
    facts: RawFacts,
    joins: bool,
    heard: Vec<Row>,
    words: Option<Words>,
}

impl RawInflow {
    /// Reads the stored texts. What cannot be read is left to a claim of its own.
    pub fn read(self) -> Inflow {
        let line = |(row, text): &(i64, String)| Ok((InboxId(*row), load::<Inbound>(*row, text)?));
        let waiting = self.waiting.iter().map(|waiting| {
            let RawWaiting { task, facts, joins, heard, words } = waiting;
            let heard = heard.iter().map(line).collect::<Result<_>>()?;
            let facts = facts::read(*task, facts)?;
            let words = words.clone();
            Ok(WaitingTask { task: TaskId(*task), facts, heard, words, joins: *joins })
        });
        Inflow {
            waiting: history::readable(waiting),
            edits: history::readable(self.edits.iter().map(line)),
        }
    }
}

/// Reads what waits behind a claim; nothing when it is lost.
pub fn read(tx: &mut dyn Tx, claim: &Claim, now: DateTime<Utc>) -> Result<RawInflow> {
    let Some(held) = fence::held(tx, claim)? else { return Ok(RawInflow::default()) };
    let joining = gathering::word(claim.task.0);
    let mut waiting: Vec<RawWaiting> = tx.all(
        "SELECT id, facts, (SELECT place FROM whereabouts w WHERE w.id = task.whereabouts), album FROM task
         WHERE lane = ?1 AND start_at IS NOT NULL AND start_at <= ?2
           AND state = 'waiting' AND attempts = 0 AND header IS NULL ORDER BY ord, id LIMIT ?3",
        params![held.lane, millis(now), MAX],
        |row| {
            let word: Option<String> = row.get(3)?;
            Ok(RawWaiting {
                task: row.get(0)?,
                facts: (row.get(1)?, row.get(2)?),
                joins: word.as_ref() == Some(&joining),
                heard: Vec::new(),
                words: None,
            })
        },
    )?;
    for waiting in &mut waiting {
        waiting.heard = lines(
            tx,
            "SELECT id, inbound FROM inbox WHERE task = ?1 AND disposition = 'task' ORDER BY ord, id",
            waiting.task,
        )?;
        if waiting.heard.is_empty() {
            let words = words::of_task(tx, waiting.task)?;
            waiting.words = words.filter(|words| words.agent.is_some());
        }
    }
    let edits = lines(
        tx,
        "SELECT e.id, e.inbound FROM inbox m
         JOIN inbox e ON e.message = m.message AND e.conversation = m.conversation
         WHERE m.task = ?1 AND m.message IS NOT NULL AND e.disposition = 'edit' AND e.task IS NULL
           AND (m.disposition = 'task' OR m.disposition LIKE 'absorbed%') ORDER BY e.id",
        claim.task.0,
    )?;
    Ok(RawInflow { waiting, edits })
}

fn lines(tx: &mut dyn Tx, sql: &'static str, task: i64) -> Result<Vec<Row>> {
    tx.all(sql, params![task], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Gives the running task what its model has seen: messages of tasks that still wait in its lane, and
/// edits; also such as were taken back meanwhile. Returns whether there are any.
pub fn absorb(
    tx: &mut dyn Tx,
    task: i64,
    lane: i64,
    seen: &SeenMarks,
    now: DateTime<Utc>,
) -> Result<bool> {
    let why = format!("absorbed by task {task}");
    let step = format!("absorbed: step {}", seen.step);
    for other in &seen.tasks {
        take(tx, other, [task, lane], &step)?;
        tx.execute_later(
            "UPDATE task SET state = 'done', why = ?3, start_at = NULL, ended_at = ?4, album = NULL
             WHERE id = ?1 AND lane = ?2 AND state = 'waiting' AND attempts = 0 AND header IS NULL
               AND NOT EXISTS (SELECT 1 FROM inbox WHERE task = ?1 AND disposition = 'task')",
            params![other.task.0, lane, &why, millis(now)],
        )?;
        // Its words stand in the running task's transcript from now on.
        tx.execute_later(
            "UPDATE task_words SET text = NULL, name = '' WHERE task = ?1
                 AND EXISTS (SELECT 1 FROM task WHERE id = ?1 AND why = ?2 AND ended_at IS NOT NULL)",
            params![other.task.0, &why],
        )?;
    }
    for edit in &seen.edits {
        tx.execute_later(
            "UPDATE inbox SET task = ?2 WHERE id = ?1 AND disposition IN ('edit', 'unsent')",
            params![edit.0, task],
        )?;
    }
    if !seen.tasks.is_empty() {
        lanes::refresh(tx, lane)?;
    }
    unsend::is_any(tx, task)
}

/// Gives the messages of a waiting task that were seen to the running `task` of the `lane`.
fn take(
    tx: &mut dyn Tx,
    other: &SeenTask,
    [task, lane]: [i64; 2],
    disposition: &str,
) -> Result<()> {
    for row in &other.rows {
        tx.execute_later(
            "UPDATE inbox SET task = ?3, disposition = ?4
             WHERE id = ?1 AND task = ?2 AND disposition = 'task'
               AND EXISTS (SELECT 1 FROM task WHERE id = ?2 AND lane = ?5 AND state = 'waiting'
                           AND attempts = 0 AND header IS NULL)",
            params![row.0, other.task.0, task, disposition, lane],
        )?;
        // Its words are on their way into the transcript still.
        tx.execute_later(
            "UPDATE inbox SET task = ?3 WHERE id = ?1 AND task = ?2 AND disposition = 'unsent'",
            params![row.0, other.task.0, task],
        )?;
    }
    Ok(())
}
