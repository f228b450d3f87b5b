//! The chain of one message: event, task, what was said, receipts.

use super::rows::{load, read_json, time};
use super::said::{RawBody, body, raw_body, read_body};
use super::shown::detail;
use super::standing;
use crate::domain::ids::{InboxId, OutboundId, PartId};
use crate::store::error::Result;
use crate::store::read::{Chain, OutboundChain, PartChain};
use crate::store::tx::Tx;
use crate::store::value::{Row, params};

/// How many events one name may stand for.
const MOST: i64 = 20;

/// Returns the chains of every event that `message` names, newest first: the id of its task, its key, or the
/// platform's id of its message or of one that was said about it.
pub fn trace(tx: &mut dyn Tx, message: &str) -> Result<Vec<Chain>> {
    let task: Option<i64> = message.parse().ok();
    let events = tx.all(
        "SELECT id, disposition, inbound, stored_at, task FROM inbox
         WHERE id IN (SELECT id FROM inbox WHERE message = ?1
                      UNION SELECT id FROM inbox WHERE task = ?2
                      UNION SELECT id FROM inbox WHERE key = ?1
                      UNION SELECT i.id FROM part p JOIN outbound o ON o.id = p.outbound
                            JOIN inbox i ON i.id = o.inbox OR i.task = o.task
                            WHERE p.message = ?1)
         ORDER BY id DESC LIMIT ?3",
        params![message, task, MOST],
        Event::from_row,
    )?;
    events.into_iter().map(|event| event.chain(tx)).collect()
}

struct Event {
    row: i64,
    disposition: String,
    inbound: String,
    stored_at: i64,
    task: Option<i64>,
}

impl Event {
    fn from_row(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            row: row.get(0)?,
            disposition: row.get(1)?,
            inbound: row.get(2)?,
            stored_at: row.get(3)?,
            task: row.get(4)?,
        })
    }

    fn chain(self, tx: &mut dyn Tx) -> Result<Chain> {
        let task = match self.task {
            Some(id) => detail(tx, id)?,
            None => None,
        };
        Ok(Chain {
            inbox: InboxId(self.row),
            inbound: load(self.row, &self.inbound)?,
            stored_at: time(self.stored_at),
            task,
            outbounds: outbounds(tx, self.task, self.row)?,
            disposition: self.disposition,
        })
    }
}

fn outbounds(tx: &mut dyn Tx, task: Option<i64>, inbox: i64) -> Result<Vec<OutboundChain>> {
    let rows: Vec<RawBody> = tx.all(
        body!("FROM outbound o WHERE o.task = ?1 OR o.inbox = ?2 ORDER BY o.id"),
        params![task, inbox],
        raw_body,
    )?;
    rows.iter()
        .map(|raw| {
            Ok(OutboundChain {
                id: OutboundId(raw.0),
                outbound: read_body(raw)?,
                standing: standing::standing(tx, raw.0)?,
                parts: parts(tx, raw.0)?,
            })
        })
        .collect()
}

fn parts(tx: &mut dyn Tx, outbound: i64) -> Result<Vec<PartChain>> {
    let [first, last] = standing::parts_of(outbound);
    tx.all(
        "SELECT p.id, p.state, r.text, p.attempts, p.receipt, p.reason, p.updated_at
         FROM part p LEFT JOIN rendered r ON r.part = p.id
         WHERE p.id BETWEEN ?1 AND ?2 ORDER BY p.id",
        params![first, last],
        part,
    )
}

fn part(row: &dyn Row) -> Result<PartChain> {
    let id: i64 = row.get(0)?;
    let (text, receipt): (Option<&str>, Option<&str>) = (row.get(2)?, row.get(4)?);
    Ok(PartChain {
        id: PartId(id),
        state: row.get(1)?,
        part: text.map(|text| load(id, text)).transpose()?,
        attempts: row.get(3)?,
        receipt: receipt.map(|text| read_json("receipt", id, text)).transpose()?,
        reason: row.get(5)?,
        updated_at: time(row.get(6)?),
    })
}
