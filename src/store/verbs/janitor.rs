//! Forgets what is older than it is kept, a few rows at a time, so that no message waits for it.
//!
//! Tables grow at one end, so the oldest rows stand at the other: each step looks at the first ones alone.
//! What still has something to do is left, however old it is, and so is the newest row of every table: ids
//! are never given twice.

use super::rows::millis;
use super::{forgetting, met, standing, texts};
use crate::error::Result;
use crate::settings::Since;
use crate::tx::Tx;
use crate::value::params;

/// The most rows of one step.
const MAX: i64 = 200;
/// So many of the oldest rows are looked at.
const FRONT: i64 = 1_000;

/// Forgets at most [`MAX`] rows; 0 when there is nothing left to forget.
pub fn step(tx: &mut dyn Tx, since: &Since) -> Result<u64> {
    let [transcripts, inbox, outbox, keys] =
        [since.transcripts, since.inbox, since.outbox, since.keys].map(millis);
    let kinds: [(Kind, i64); 11] = [
        (transcript, transcripts),
        (words, inbox),
        (own_words, inbox),
        (said, outbox),
        (told, 0),
        (occurrences, transcripts),
        (schedules, transcripts),
        (tasks, keys),
        (messages, keys),
        (acquaintances, inbox),
        (small, keys),
    ];
    let forgotten = forgetting::step(tx)?;
    if forgotten > 0 {
        return Ok(forgotten);
    }
    for (forget, since) in kinds {
        let rows = forget(tx, since)?;
        if rows > 0 {
            return Ok(rows);
        }
    }
    Ok(0)
}

/// Forgets some rows of one kind that are older; returns how many.
type Kind = fn(&mut dyn Tx, i64) -> Result<u64>;

fn transcript(tx: &mut dyn Tx, since: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM transcript WHERE (task, seq) IN
             (SELECT i.task, i.seq FROM
                  (SELECT task, seq FROM transcript ORDER BY task, seq LIMIT ?2) i
              CROSS JOIN task t ON t.id = i.task WHERE t.ended_at < ?1 LIMIT ?3)",
        params![since, FRONT, MAX],
    )
}

/// The words of messages go and their keys stay: a platform may bring them once more.
fn words(tx: &mut dyn Tx, since: i64) -> Result<u64> {
    let old: Vec<OldMessage> = tx.all(
        "SELECT i.id, i.stored_at, i.inbound, i.disposition, i.task,
                CASE WHEN EXISTS (SELECT 1 FROM task t WHERE t.id = i.task AND t.ended_at IS NULL)
                THEN 1 ELSE 0 END
         FROM inbox i WHERE i.id > (SELECT blanked FROM meta) ORDER BY i.id LIMIT ?1",
        params![MAX],
        |row| {
            let task: Option<i64> = row.get(4)?;
            let is_open: bool = row.get(5)?;
            let is_old = row.get::<i64>(1)? < since;
            let goes = is_old && !is_open;
            let left = if goes { Some(texts::forgotten(row.get(2)?)) } else { None };
            let waits = task.is_none() && matches!(row.get(3)?, "context" | "gate");
            Ok(OldMessage { id: row.get(0)?, is_old, left, waits })
        },
    )?;
    let old = || old.iter().filter(|message| message.is_old);
    let Some(last) = old().map(|message| message.id).max() else { return Ok(0) };
    let mut changed = 0;
    // A task that has not ended needs them still; with its key the row goes as a whole.
    for message in old() {
        let Some(left) = &message.left else { continue };
        let sql = match message.waits {
            true => {
                "UPDATE inbox SET inbound = ?2, spoken = NULL, disposition = 'ignored: too old' WHERE id = ?1"
            }
            false => "UPDATE inbox SET inbound = ?2, spoken = NULL WHERE id = ?1",
        };
        tx.execute_later(sql, params![message.id, left])?;
        changed += 1;
    }
    tx.execute_later("UPDATE meta SET blanked = ?1", params![last])?;
    Ok(changed.max(1))
}

/// The same of words that came as no message.
fn own_words(tx: &mut dyn Tx, since: i64) -> Result<u64> {
    tx.execute(
        "UPDATE task_words SET text = NULL, name = '' WHERE task IN
             (SELECT w.task FROM (SELECT task FROM task_words INDEXED BY task_words_kept
                                  WHERE text IS NOT NULL ORDER BY task LIMIT ?2) w
              CROSS JOIN task t ON t.id = w.task
              WHERE t.ended_at IS NOT NULL AND t.created_at < ?1 LIMIT ?3)",
        params![since, FRONT, MAX],
    )
}

/// A message that may be old.
struct OldMessage {
    id: i64,
    is_old: bool,
    /// What is to be left of it; nothing is changed where it is still needed.
    left: Option<String>,
    /// Nothing has become of it.
    waits: bool,
}

fn said(tx: &mut dyn Tx, since: i64) -> Result<u64> {
    let old: Vec<i64> = tx.column(
        "SELECT o.id FROM (SELECT id, created_at FROM outbound ORDER BY id LIMIT ?2) o
         WHERE o.created_at < ?1 AND o.id < (SELECT MAX(id) FROM outbound)
             AND NOT EXISTS (SELECT 1 FROM part WHERE id BETWEEN o.id * 4096 AND o.id * 4096 + 4095
                                 AND open = 1)
         LIMIT ?3",
        params![since, FRONT, MAX / 4],
    )?;
    let mut rows = 0;
    for outbound in old {
        let [first, last] = standing::parts_of(outbound);
        let left = MAX - i64::try_from(rows).unwrap_or(MAX);
        tx.execute_later(
            "DELETE FROM rendered WHERE part BETWEEN ?1 AND ?2",
            params![first, last],
        )?;
        tx.execute_later(
            "DELETE FROM part_also WHERE part BETWEEN ?1 AND ?2",
            params![first, last],
        )?;
        rows += tx.execute(
            "DELETE FROM part WHERE id IN (SELECT id FROM part WHERE id BETWEEN ?1 AND ?2 LIMIT ?3)",
            params![first, last, left],
        )?;
        if rows >= MAX.unsigned_abs() {
            break;
        }
        tx.execute_later("DELETE FROM post WHERE outbound = ?1", params![outbound])?;
        rows += tx.execute("DELETE FROM outbound WHERE id = ?1", params![outbound])?;
    }
    Ok(rows)
}

/// What did not arrive was told to a task that has ended: nobody asks for its words again.
fn told(tx: &mut dyn Tx, _: i64) -> Result<u64> {
    let told: Vec<i64> = tx.column(
        "SELECT p.id FROM part p JOIN task t ON t.id = p.told
         WHERE p.told IS NOT NULL AND p.told > 0 AND p.open = 0 AND t.ended_at IS NOT NULL LIMIT ?1",
        params![MAX / 2],
    )?;
    for part in &told {
        tx.execute_later("UPDATE part SET told = NULL WHERE id = ?1", params![*part])?;
        tx.execute_later("DELETE FROM rendered WHERE part = ?1", params![*part])?;
    }
    Ok(told.len() as u64)
}

/// Tasks of which nothing else is left, with their questions.
fn tasks(tx: &mut dyn Tx, since: i64) -> Result<u64> {
    let old: Vec<i64> = tx.column(
        "SELECT t.id FROM (SELECT id, ended_at FROM task ORDER BY id LIMIT ?2) t
         WHERE t.ended_at < ?1 AND t.id < (SELECT MAX(id) FROM task)
             AND NOT EXISTS (SELECT 1 FROM transcript WHERE task = t.id)
             AND NOT EXISTS (SELECT 1 FROM outbound WHERE task = t.id)
             AND NOT EXISTS (SELECT 1 FROM question WHERE task = t.id AND state = 'open') LIMIT ?3",
        params![since, FRONT, MAX / 4],
    )?;
    let mut rows = 0;
    for task in old {
        for sql in [
            "DELETE FROM question WHERE task = ?1",
            "DELETE FROM approval_asked WHERE approval IN (SELECT id FROM approval WHERE task = ?1)",
            "DELETE FROM approval WHERE task = ?1",
            "DELETE FROM hold WHERE task = ?1",
            "DELETE FROM status_message WHERE task = ?1",
            "DELETE FROM streamed_message WHERE task = ?1",
            "DELETE FROM task_words WHERE task = ?1",
            "DELETE FROM copied WHERE task = ?1",
            "DELETE FROM task WHERE id = ?1",
        ] {
            rows += tx.execute(sql, params![task])?;
        }
    }
    Ok(rows)
}

/// Times of schedules that have passed.
fn occurrences(tx: &mut dyn Tx, since: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM occurrence WHERE (schedule, at) IN
             (SELECT schedule, at FROM occurrence WHERE fired_at < ?1 ORDER BY fired_at LIMIT ?2)",
        params![since, MAX],
    )
}

/// Schedules that are over, with their words.
fn schedules(tx: &mut dyn Tx, since: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM schedule WHERE id IN
             (SELECT s.id FROM schedule s WHERE s.state IN ('ended', 'removed') AND s.created_at < ?1
                  AND s.id < (SELECT MAX(id) FROM schedule)
                  AND NOT EXISTS (SELECT 1 FROM occurrence o WHERE o.schedule = s.id)
              ORDER BY s.created_at LIMIT ?2)",
        params![since, MAX],
    )
}

/// Messages as a whole: nobody brings them once more.
fn messages(tx: &mut dyn Tx, since: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM inbox WHERE id IN
             (SELECT i.id FROM (SELECT id, task, stored_at FROM inbox ORDER BY id LIMIT ?2) i
              WHERE i.stored_at < ?1 AND i.id < (SELECT MAX(id) FROM inbox)
                  AND NOT EXISTS (SELECT 1 FROM task t WHERE t.id = i.task AND t.ended_at IS NULL)
              LIMIT ?3)",
        params![since, FRONT, MAX],
    )
}

/// Whom nobody has heard for long.
fn acquaintances(tx: &mut dyn Tx, since: i64) -> Result<u64> {
    met::forget(tx, since, MAX)
}

/// Notices that were said once a day, and pauses that are over.
fn small(tx: &mut dyn Tx, since: i64) -> Result<u64> {
    let notices = tx.execute(
        "DELETE FROM notice WHERE key IN
             (SELECT key FROM notice WHERE key >= 'notice:' AND key < 'notice;'
                  AND outbound < (SELECT MIN(id) FROM outbound) LIMIT ?1)",
        params![MAX],
    )?;
    Ok(notices + tx.execute("DELETE FROM penalty WHERE until < ?1", params![since])?)
}
