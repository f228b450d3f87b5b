//! The chain of one message: event, task, what was said, receipts.

use rusqlite::{Connection, Row, params};

use super::outbox;
use super::read::detail;
use super::rows::{load, read_json, time};
use crate::domain::ids::{InboxId, OutboundId, PartId};
use crate::store::Result;
use crate::store::read::{Chain, OutboundChain, PartChain};

/// How many events one name may stand for.
const MOST: i64 = 20;

/// Returns the chains of every event that `message` names, newest first: the id of its task, its key, or the
/// platform's id of its message or of one that was said about it.
pub fn trace(conn: &Connection, message: &str) -> Result<Vec<Chain>> {
    let task: Option<i64> = message.parse().ok();
    let events: Vec<Event> = conn
        .prepare_cached(
            "SELECT id, disposition, inbound, stored_at, task FROM inbox
             WHERE id IN (SELECT id FROM inbox WHERE message = ?1
                          UNION SELECT id FROM inbox WHERE task = ?2
                          UNION SELECT id FROM inbox WHERE key = ?1
                          UNION SELECT i.id FROM part p JOIN outbound o ON o.id = p.outbound
                                JOIN inbox i ON i.id = o.inbox OR i.task = o.task
                                WHERE p.receipt NOT NULL AND p.receipt ->> '$.message' = ?1)
             ORDER BY id DESC LIMIT ?3",
        )?
        .query_map(params![message, task, MOST], Event::from_row)?
        .collect::<rusqlite::Result<_>>()?;
    events.into_iter().map(|event| event.chain(conn)).collect()
}

struct Event {
    row: i64,
    disposition: String,
    inbound: String,
    stored_at: i64,
    task: Option<i64>,
}

impl Event {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            row: row.get(0)?,
            disposition: row.get(1)?,
            inbound: row.get(2)?,
            stored_at: row.get(3)?,
            task: row.get(4)?,
        })
    }

    fn chain(self, conn: &Connection) -> Result<Chain> {
        let task = self.task.map(|id| detail(conn, id)).transpose()?.flatten();
        Ok(Chain {
            inbox: InboxId(self.row),
            inbound: load(self.row, &self.inbound)?,
            stored_at: time(self.stored_at),
            task,
            outbounds: outbounds(conn, self.task, self.row)?,
            disposition: self.disposition,
        })
    }
}

fn outbounds(conn: &Connection, task: Option<i64>, inbox: i64) -> Result<Vec<OutboundChain>> {
    let sql = format!(
        "SELECT {} FROM outbound o WHERE o.task = ?1 OR o.inbox = ?2 ORDER BY o.id",
        outbox::BODY
    );
    let rows: Vec<outbox::RawBody> = conn
        .prepare_cached(&sql)?
        .query_map(params![task, inbox], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    rows.iter()
        .map(|raw| {
            Ok(OutboundChain {
                id: OutboundId(raw.0),
                outbound: outbox::read_body(raw)?,
                standing: outbox::standing(conn, raw.0)?,
                parts: parts(conn, raw.0)?,
            })
        })
        .collect()
}

fn parts(conn: &Connection, outbound: i64) -> Result<Vec<PartChain>> {
    let mut statement = conn.prepare_cached(
        "SELECT p.id, p.state, r.text, p.attempts, p.receipt, p.reason, p.updated_at
         FROM part p LEFT JOIN rendered r ON r.part = p.id
         WHERE p.id BETWEEN ?1 AND ?2 ORDER BY p.id",
    )?;
    let mut rows = statement.query(outbox::parts_of(outbound))?;
    let mut parts = Vec::new();
    while let Some(row) = rows.next()? {
        parts.push(part(row)?);
    }
    Ok(parts)
}

fn part(row: &Row<'_>) -> Result<PartChain> {
    let id: i64 = row.get(0)?;
    let (text, receipt): (Option<String>, Option<String>) = (row.get(2)?, row.get(4)?);
    Ok(PartChain {
        id: PartId(id),
        state: row.get(1)?,
        part: text.map(|text| load(id, &text)).transpose()?,
        attempts: row.get(3)?,
        receipt: receipt.map(|text| read_json("receipt", id, &text)).transpose()?,
        reason: row.get(5)?,
        updated_at: time(row.get(6)?),
    })
}
