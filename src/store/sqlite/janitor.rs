//! Forgets what is older than it is kept, a few rows at a time, so that no message waits for it.
//!
//! Tables grow at one end, so the oldest rows stand at the other: each step looks at the first ones alone.
//! What still has something to do is left, however old it is, and so is the newest row of every table: ids
//! are never given twice.

use rusqlite::{Connection, Params};

use super::outbox;
use super::rows::millis;
use crate::store::{Result, Since};

/// The most rows of one step.
const MOST: i64 = 200;
/// So many of the oldest rows are looked at.
const FRONT: i64 = 1_000;

/// Forgets at most [`MOST`] rows; 0 when there is nothing left to forget.
pub fn step(conn: &Connection, since: &Since) -> Result<u64> {
    let [transcripts, inbox, outbox, keys] =
        [since.transcripts, since.inbox, since.outbox, since.keys].map(millis);
    let kinds: [(Kind, i64); 7] = [
        (transcript, transcripts),
        (words, inbox),
        (said, outbox),
        (told, 0),
        (tasks, keys),
        (messages, keys),
        (small, keys),
    ];
    for (forget, since) in kinds {
        let rows = forget(conn, since)?;
        if rows > 0 {
            return Ok(rows as u64);
        }
    }
    Ok(0)
}

/// Forgets some rows of one kind that are older; returns how many.
type Kind = fn(&Connection, i64) -> Result<usize>;

fn change(conn: &Connection, sql: &str, by: impl Params) -> Result<usize> {
    Ok(conn.prepare_cached(sql)?.execute(by)?)
}

fn transcript(conn: &Connection, since: i64) -> Result<usize> {
    change(
        conn,
        "DELETE FROM transcript WHERE (task, seq) IN
             (SELECT i.task, i.seq FROM
                  (SELECT task, seq FROM transcript ORDER BY task, seq LIMIT ?2) i
              CROSS JOIN task t ON t.id = i.task WHERE t.ended_at < ?1 LIMIT ?3)",
        [since, FRONT, MOST],
    )
}

/// The words of messages go and their keys stay: a platform may bring them once more.
fn words(conn: &Connection, since: i64) -> Result<usize> {
    const OLD: &str = "SELECT id FROM
             (SELECT id, stored_at FROM inbox WHERE id > (SELECT blanked FROM meta) ORDER BY id LIMIT ?2)
         WHERE stored_at < ?1";
    let last: Option<i64> = conn
        .prepare_cached(&format!("SELECT MAX(id) FROM ({OLD})"))?
        .query_row([since, MOST], |row| row.get(0))?;
    let Some(last) = last else { return Ok(0) };
    // A task that has not ended needs them still; with its key the row goes as a whole.
    let sql = format!(
        "UPDATE inbox SET inbound = json_remove(
                 json_replace(inbound, '$.text', '', '$.what.raw', '', '$.what.handle', ''),
                 '$.quote', '$.command', '$.attachments', '$.title', '$.reply_window',
                 '$.speaker.name', '$.speaker.username'),
             disposition = CASE WHEN disposition IN ('context', 'gate') AND task IS NULL
                           THEN 'ignored: too old' ELSE disposition END
         WHERE id IN ({OLD}) AND json_valid(inbound)
             AND NOT EXISTS (SELECT 1 FROM task t WHERE t.id = inbox.task AND t.ended_at IS NULL)"
    );
    let changed = change(conn, &sql, [since, MOST])?;
    change(conn, "UPDATE meta SET blanked = ?1", [last])?;
    Ok(changed.max(1))
}

fn said(conn: &Connection, since: i64) -> Result<usize> {
    let old: Vec<i64> = conn
        .prepare_cached(
            "SELECT o.id FROM (SELECT id, created_at FROM outbound ORDER BY id LIMIT ?2) o
             WHERE o.created_at < ?1 AND o.id < (SELECT MAX(id) FROM outbound)
                 AND NOT EXISTS (SELECT 1 FROM part WHERE id BETWEEN o.id * 4096 AND o.id * 4096 + 4095
                                     AND open = 1)
             LIMIT ?3",
        )?
        .query_map([since, FRONT, MOST / 4], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut rows = 0;
    for outbound in old {
        let [first, last] = outbox::parts_of(outbound);
        let left = MOST - rows as i64;
        change(conn, "DELETE FROM rendered WHERE part BETWEEN ?1 AND ?2", [first, last])?;
        rows += change(
            conn,
            "DELETE FROM part WHERE id IN (SELECT id FROM part WHERE id BETWEEN ?1 AND ?2 LIMIT ?3)",
            [first, last, left],
        )?;
        if rows as i64 >= MOST {
            break;
        }
        rows += change(conn, "DELETE FROM outbound WHERE id = ?1", [outbound])?;
    }
    Ok(rows)
}

/// What did not arrive was told to a task that has ended: nobody asks for its words again.
fn told(conn: &Connection, _: i64) -> Result<usize> {
    let told: Vec<i64> = conn
        .prepare_cached(
            "SELECT p.id FROM part p JOIN task t ON t.id = p.told
             WHERE p.told IS NOT NULL AND p.told > 0 AND p.open = 0 AND t.ended_at NOT NULL LIMIT ?1",
        )?
        .query_map([MOST / 2], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for part in &told {
        change(conn, "UPDATE part SET told = NULL WHERE id = ?1", [part])?;
        change(conn, "DELETE FROM rendered WHERE part = ?1", [part])?;
    }
    Ok(told.len())
}

/// Tasks of which nothing else is left, with their questions.
fn tasks(conn: &Connection, since: i64) -> Result<usize> {
    let old: Vec<i64> = conn
        .prepare_cached(
            "SELECT t.id FROM (SELECT id, ended_at FROM task ORDER BY id LIMIT ?2) t
             WHERE t.ended_at < ?1 AND t.id < (SELECT MAX(id) FROM task)
                 AND NOT EXISTS (SELECT 1 FROM transcript WHERE task = t.id)
                 AND NOT EXISTS (SELECT 1 FROM outbound WHERE task = t.id)
                 AND NOT EXISTS (SELECT 1 FROM question WHERE task = t.id AND state = 'open') LIMIT ?3",
        )?
        .query_map([since, FRONT, MOST / 4], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut rows = 0;
    for task in old {
        for sql in [
            "DELETE FROM question WHERE task = ?1",
            "DELETE FROM hold WHERE task = ?1",
            "DELETE FROM status_message WHERE task = ?1",
            "DELETE FROM task WHERE id = ?1",
        ] {
            rows += change(conn, sql, [task])?;
        }
    }
    Ok(rows)
}

/// Messages as a whole: nobody brings them once more.
fn messages(conn: &Connection, since: i64) -> Result<usize> {
    change(
        conn,
        "DELETE FROM inbox WHERE id IN
             (SELECT i.id FROM (SELECT id, task, stored_at FROM inbox ORDER BY id LIMIT ?2) i
              WHERE i.stored_at < ?1 AND i.id < (SELECT MAX(id) FROM inbox)
                  AND NOT EXISTS (SELECT 1 FROM task t WHERE t.id = i.task AND t.ended_at IS NULL)
              LIMIT ?3)",
        [since, FRONT, MOST],
    )
}

/// Notices that were said once a day, and pauses that are over.
fn small(conn: &Connection, since: i64) -> Result<usize> {
    let notices = change(
        conn,
        "DELETE FROM notice WHERE key IN
             (SELECT key FROM notice WHERE key GLOB 'notice:*'
                  AND outbound < (SELECT MIN(id) FROM outbound) LIMIT ?1)",
        [MOST],
    )?;
    Ok(notices + change(conn, "DELETE FROM penalty WHERE until < ?1", [since])?)
}
