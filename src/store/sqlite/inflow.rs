//! What came in while a task runs: read under its claim, and marked when its model has seen it.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, params};
use selkie_channel_core::Inbound;

use super::claimed;
use super::facts::{self, RawFacts};
use super::rows::{load, millis};
use super::{lanes, run};
use crate::domain::ids::{InboxId, TaskId};
use crate::domain::task::Claim;
use crate::store::{Inflow, Result, Seen, Waiting};

/// How many waiting tasks are looked at.
const MOST: i64 = 16;

/// A stored text with its row.
type Row = (i64, String);

/// What came in, as it is stored.
#[derive(Debug, Default)]
pub struct RawInflow {
    /// Task, facts and what it hears.
    waiting: Vec<(i64, RawFacts, Vec<Row>)>,
    edits: Vec<Row>,
}

impl RawInflow {
    /// Reads the stored texts. What cannot be read is left to a claim of its own.
    pub fn read(self) -> Inflow {
        let line = |(row, text): &(i64, String)| Ok((InboxId(*row), load::<Inbound>(*row, text)?));
        let waiting = self.waiting.iter().map(|(task, facts, heard)| {
            let heard = heard.iter().map(line).collect::<Result<_>>()?;
            Ok(Waiting { task: TaskId(*task), facts: facts::read(*task, facts)?, heard })
        });
        Inflow {
            waiting: claimed::readable(waiting),
            edits: claimed::readable(self.edits.iter().map(line)),
        }
    }
}

/// Reads what waits behind a claim; nothing when it is lost.
pub fn read(conn: &Connection, claim: &Claim, now: DateTime<Utc>) -> Result<RawInflow> {
    let Some(held) = run::held(conn, claim)? else { return Ok(RawInflow::default()) };
    let tasks: Vec<(i64, RawFacts)> = conn
        .prepare_cached(
            "SELECT id, facts, (SELECT place FROM whereabouts w WHERE w.id = task.whereabouts) FROM task
             WHERE lane = ?1 AND start_at IS NOT NULL AND start_at <= ?2
               AND state = 'waiting' AND attempts = 0 AND header IS NULL ORDER BY ord, id LIMIT ?3",
        )?
        .query_map([held.lane(), millis(now), MOST], |row| {
            Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut waiting = Vec::with_capacity(tasks.len());
    for (task, facts) in tasks {
        let heard = lines(
            conn,
            "SELECT id, inbound FROM inbox WHERE task = ?1 AND disposition = 'task' ORDER BY ord, id",
            task,
        )?;
        waiting.push((task, facts, heard));
    }
    let edits = lines(
        conn,
        "SELECT e.id, e.inbound FROM inbox m
         JOIN inbox e ON e.message = m.message AND e.conversation = m.conversation
         WHERE m.task = ?1 AND m.message NOT NULL AND e.disposition = 'edit' AND e.task IS NULL
           AND (m.disposition = 'task' OR m.disposition GLOB 'absorbed*') ORDER BY e.id",
        claim.task.0,
    )?;
    Ok(RawInflow { waiting, edits })
}

fn lines(conn: &Connection, sql: &str, task: i64) -> Result<Vec<(i64, String)>> {
    Ok(conn
        .prepare_cached(sql)?
        .query_map([task], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?)
}

/// Gives the running task what its model has seen: messages of tasks that still wait in its lane, and
/// edits.
pub fn absorb(
    conn: &Connection,
    (task, lane): (i64, i64),
    seen: &Seen,
    now: DateTime<Utc>,
) -> Result<()> {
    for other in &seen.tasks {
        let why = format!("absorbed by task {task}");
        let taken = conn
            .prepare_cached(
                "UPDATE task SET state = 'done', why = ?3, start_at = NULL, ended_at = ?4
                 WHERE id = ?1 AND lane = ?2 AND state = 'waiting' AND attempts = 0 AND header IS NULL",
            )?
            .execute(params![other.0, lane, why, millis(now)])?;
        if taken == 0 {
            continue;
        }
        conn.prepare_cached(
            "UPDATE inbox SET task = ?2, disposition = 'absorbed: step ' || ?3
             WHERE task = ?1 AND disposition = 'task'",
        )?
        .execute(params![other.0, task, seen.step])?;
    }
    for edit in &seen.edits {
        conn.prepare_cached("UPDATE inbox SET task = ?2 WHERE id = ?1 AND disposition = 'edit'")?
            .execute([edit.0, task])?;
    }
    if !seen.tasks.is_empty() {
        lanes::refresh(conn, lane)?;
    }
    Ok(())
}
