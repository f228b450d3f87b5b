//! Parts on their way: due, marked as being sent, in doubt where whoever sent them has died.

use chrono::{DateTime, Utc};

use super::rows::{load, millis, time};
use super::standing::parts_of;
use crate::delivery::{DuePart, QueuedOutbound};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::{Row, params};
use selkie_domain::ids::{Instance, OutboundId, PartId};

/// Parts that another instance was sending when it died are unclear, to be decided now.
pub fn doubt_dead(tx: &mut dyn Tx, instance: &Instance, now: DateTime<Utc>) -> Result<()> {
    tx.execute_later(
        "UPDATE part SET state = 'unclear', not_before = ?2, updated_at = ?2,
             reason = 'the process ended while it was being sent'
         WHERE id IN (SELECT part FROM rendered) AND open = 1 AND state = 'sending' AND instance <> ?1",
        params![&instance.0, millis(now)],
    )
}

/// Marks a part as being sent by this instance; whether it may be. An unclear one whose call sets a state is simply
/// sent again.
pub fn mark(tx: &mut dyn Tx, part: PartId, instance: &Instance, now: i64) -> Result<bool> {
    let marked = tx.execute(
        "UPDATE part SET state = 'sending', instance = ?2, attempts = attempts + 1, updated_at = ?3
         WHERE id = ?1 AND open = 1 AND state IN ('queued', 'unclear')",
        params![part.0, &instance.0, now],
    )?;
    Ok(marked == 1)
}

/// A due part whose call is not read yet.
pub struct RawPart {
    id: i64,
    outbound: i64,
    attempts: u32,
    not_before: Option<i64>,
    expires_at: Option<i64>,
    unclear: bool,
    answer: bool,
    part: String,
}

/// Returns the queued parts of one outbound.
pub fn queued_of(tx: &mut dyn Tx, outbound: OutboundId) -> Result<QueuedOutbound> {
    let [first, last] = parts_of(outbound.0);
    let rows = tx.all(
        "SELECT p.id, p.outbound, p.attempts, p.not_before, o.expires_at, p.state, o.answer, r.text
         FROM part p JOIN outbound o ON o.id = p.outbound JOIN rendered r ON r.part = p.id
         WHERE p.id BETWEEN ?1 AND ?2 AND p.state = 'queued' ORDER BY p.id",
        params![first, last],
        RawPart::from_row,
    )?;
    let parts = rows.into_iter().map(RawPart::read).collect::<Result<_>>()?;
    Ok(QueuedOutbound { outbound, parts })
}

/// Returns the parts of an account that are to be sent or decided. The joins cross because the planner would rather
/// walk all parts there ever were, for their order.
pub fn due(tx: &mut dyn Tx, account: &str) -> Result<Vec<RawPart>> {
    tx.all(
        "SELECT p.id, p.outbound, p.attempts, p.not_before, o.expires_at, p.state, o.answer, r.text
         FROM rendered r CROSS JOIN part p ON p.id = r.part JOIN outbound o ON o.id = p.outbound
         WHERE p.account = ?1 AND p.open = 1 AND p.state IN ('queued', 'unclear') ORDER BY p.id",
        params![account],
        RawPart::from_row,
    )
}

impl RawPart {
    fn from_row(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            outbound: row.get(1)?,
            attempts: row.get(2)?,
            not_before: row.get(3)?,
            expires_at: row.get(4)?,
            unclear: row.get::<&str>(5)? == "unclear",
            answer: row.get(6)?,
            part: row.get(7)?,
        })
    }

    /// Reads the stored text.
    pub fn read(self) -> Result<DuePart> {
        Ok(DuePart {
            id: PartId(self.id),
            outbound: OutboundId(self.outbound),
            part: load(self.id, &self.part)?,
            attempts: self.attempts,
            not_before: self.not_before.map(time),
            expires_at: self.expires_at.map(time),
            unclear: self.unclear,
            answer: self.answer,
            departs: false,
        })
    }
}
