//! Where something said stands, derived from its parts.

use std::ops::ControlFlow;

use selkie_channel_core::MessageRef;

use crate::delivery::DeliveryState;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::{Row, params};

/// The most parts of an outbound: their ids lie side by side, which spares an index.
pub const PARTS: i64 = 4096;

/// Returns the ids that an outbound's parts have: the first possible and the last.
pub fn parts_of(outbound: i64) -> [i64; 2] {
    let first = outbound * PARTS;
    [first, first + PARTS - 1]
}

/// Returns the ids that the parts beside this one have, itself among them.
pub fn parts_beside(part: i64) -> [i64; 2] {
    parts_of(part.div_euclid(PARTS))
}

/// Returns where an outbound stands.
pub fn standing(tx: &mut dyn Tx, outbound: i64) -> Result<DeliveryState> {
    let [first, last] = parts_of(outbound);
    let mut parts = OutboundParts::default();
    tx.query(
        "SELECT state, open, reason, message FROM part WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
        params![first, last],
        &mut |row| parts.take(row).map(ControlFlow::Continue),
    )?;
    Ok(parts.derive())
}

/// Whether a message may be the one in which an outbound ends. What went out twice stands in two, and what has no
/// receipt in any.
pub fn ends_in(tx: &mut dyn Tx, outbound: i64, message: &MessageRef) -> Result<bool> {
    let [first, last] = parts_of(outbound);
    let receipt: Option<Option<String>> = tx.first(
        "SELECT CASE WHEN repeated = 0 THEN message END FROM part
         WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
        params![first, last],
    )?;
    Ok(receipt.flatten().is_none_or(|receipt| receipt == message.as_str()))
}

/// The parts of an outbound.
#[derive(Default)]
pub struct OutboundParts(Vec<PartState>);

impl OutboundParts {
    /// Takes the next part: the first four columns of a row.
    pub fn take(&mut self, row: &dyn Row) -> Result<()> {
        self.0.push(PartState::from_row(row)?);
        Ok(())
    }

    /// How many were taken.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The part of this place has arrived as this message.
    pub fn arrive(&mut self, place: usize, message: Option<String>) {
        if let Some(part) = self.0.get_mut(place) {
            *part = PartState { state: "sent".to_owned(), open: false, reason: None, message };
        }
    }

    /// Returns where the outbound stands.
    pub fn derive(&self) -> DeliveryState {
        derive(&self.0)
    }
}

/// Returns where the part before this one of its outbound stands.
pub fn before(tx: &mut dyn Tx, part: i64) -> Result<Option<DeliveryState>> {
    if part % PARTS == 0 {
        return Ok(None);
    }
    let sql = "SELECT state, open, reason, message FROM part WHERE id = ?1";
    let state = tx.optional(sql, params![part - 1], PartState::from_row)?;
    Ok(state.map(|state| derive(&[state])))
}

struct PartState {
    state: String,
    /// It has still to be sent, or to be decided.
    open: bool,
    reason: Option<String>,
    message: Option<String>,
}

impl PartState {
    fn from_row(row: &dyn Row) -> Result<Self> {
        let state = row.get(0)?;
        let open = row.get(1)?;
        Ok(Self { state, open, reason: row.get(2)?, message: row.get(3)? })
    }

    fn arrived(&self) -> bool {
        self.state == "sent" || self.state == "repeated"
    }
}

/// Derives where an outbound stands from its parts: open before unclear before refused before
/// expired before withdrawn, and "partly" as soon as one arrived.
fn derive(parts: &[PartState]) -> DeliveryState {
    if parts.iter().any(|p| p.open) {
        return DeliveryState::Open;
    }
    if parts.iter().all(PartState::arrived) {
        let message = parts.iter().find_map(|p| p.message.clone()).map(MessageRef::new);
        return DeliveryState::Delivered { message };
    }
    if parts.iter().any(|p| p.state == "unclear") {
        return DeliveryState::Unclear;
    }
    let some = parts.iter().any(PartState::arrived);
    let of = |state: &str| parts.iter().find(|p| p.state == state);
    if let Some(part) = of("refused") {
        let reason = part.reason.clone().unwrap_or_else(|| "refused".to_owned());
        return if some {
            DeliveryState::Partly { reason }
        } else {
            DeliveryState::Refused { reason }
        };
    }
    let (end, reason) = match of("expired") {
        Some(_) => (DeliveryState::Expired, "its time had passed"),
        None => (DeliveryState::Cancelled, "withdrawn before it was sent"),
    };
    if some { DeliveryState::Partly { reason: reason.to_owned() } } else { end }
}
