//! What came of an attempt becomes the part's new state.
//!
//! A part that is not open any more (withdrawn, refused with its conversation, left unclear) keeps its
//! state; only a proof that it arrived is always taken.

use std::ops::ControlFlow;

use selkie_channel_core::PlaceId;

use super::rows::{json, lean, millis};
use super::standing::{self, OutboundParts, parts_beside};
use super::{approving, asking, closing, locks, moved, outbox};
use crate::delivery::{DeliveryState, Outcome};
use crate::error::{Result, StoreError};
use crate::tx::Tx;
use crate::value::params;

/// An outcome, written as text before it reaches the writer.
#[derive(Debug)]
pub enum Change {
    /// Arrived.
    Sent(ArrivedPart),
    /// To be sent at this moment.
    Queued(i64, String),
    /// Refused, and whether the conversation is closed by it.
    Refused(String, bool),
    /// To be decided at this moment.
    Unclear(i64, String),
    /// Left unclear.
    LeftUnclear,
    /// To be sent once more as this call.
    Repeat(String),
    /// To be sent as this call, which takes the place of the stored one.
    Instead(String, String),
    /// To be sent elsewhere as this call.
    Moved(PlaceId, String),
    /// Too late.
    Expired,
}

/// What is known of a part that arrived.
#[derive(Debug)]
pub struct ArrivedPart {
    receipt: String,
    /// The id of the message that it is, and those of further ones that its call made.
    message: Option<String>,
    also: Vec<String>,
}

impl Change {
    /// Writes an outcome's texts.
    pub fn new(outcome: Outcome) -> Result<Self> {
        Ok(match outcome {
            Outcome::Sent(receipt) => {
                let also = receipt.also.iter().map(|id| id.as_str().to_owned()).collect();
                let message = receipt.message.as_ref().map(|id| id.as_str().to_owned());
                Self::Sent(ArrivedPart { receipt: lean(&receipt)?, message, also })
            }
            Outcome::Retry { at, why } => Self::Queued(millis(at), why),
            Outcome::Refused { reason, close } => Self::Refused(reason, close),
            Outcome::Unclear { decide_at, why } => Self::Unclear(millis(decide_at), why),
            Outcome::LeftUnclear => Self::LeftUnclear,
            Outcome::Repeat(part) => Self::Repeat(json(&part)?),
            Outcome::Instead { part, why } => Self::Instead(json(&part)?, why),
            Outcome::Moved { to, part } => Self::Moved(to, json(&part)?),
            Outcome::Expired => Self::Expired,
        })
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Sent(arrived) => arrived.receipt.len(),
            Self::Repeat(text) | Self::Instead(text, _) | Self::Moved(_, text) => text.len(),
            _ => 0,
        }
    }
}

struct PartState {
    part: i64,
    /// Its place among those of its outbound.
    place: usize,
    outbound: i64,
    conversation: i64,
    open: bool,
    repeated: bool,
}

/// Stores the outcome and returns where the whole outbound stands.
pub fn settle(tx: &mut dyn Tx, part: i64, change: &Change, now: i64) -> Result<DeliveryState> {
    locks::of_part(tx, part)?;
    let mut standing = OutboundParts::default();
    let mut known = None;
    let [first, last] = parts_beside(part);
    tx.query(
        "SELECT state, open, reason, message, id, outbound, conversation, repeated FROM part
         WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
        params![first, last],
        &mut |row| {
            if row.get::<i64>(4)? == part {
                known = Some(PartState {
                    part,
                    place: standing.count(),
                    outbound: row.get(5)?,
                    conversation: row.get(6)?,
                    open: row.get(1)?,
                    repeated: row.get(7)?,
                });
            }
            standing.take(row).map(ControlFlow::Continue)
        },
    )?;
    let Some(known) = known else {
        return Err(StoreError::Corrupt(format!("there is no part {part}")));
    };
    if !known.open && !matches!(change, Change::Sent(_)) {
        return Ok(standing.derive());
    }
    known.apply(tx, change, now)?;
    if let Change::Sent(arrived) = change {
        // Its conversation is locked: the others are as they were read.
        standing.arrive(known.place, arrived.message.clone());
        return Ok(standing.derive());
    }
    standing::standing(tx, known.outbound)
}

/// For what a part waits.
#[derive(Clone, Copy)]
struct Waits<'a> {
    state: &'a str,
    at: Option<i64>,
    /// A new reason, when there is one.
    why: Option<&'a str>,
}

impl Waits<'_> {
    const AGAIN: Self = Self { state: "queued", at: None, why: None };
}

impl PartState {
    fn apply(&self, tx: &mut dyn Tx, change: &Change, now: i64) -> Result<()> {
        match change {
            Change::Sent(arrived) => self.arrive(tx, arrived, now),
            Change::Queued(at, why) => {
                self.wait(tx, Waits { state: "queued", at: Some(*at), why: Some(why) }, now)
            }
            Change::Unclear(at, why) => {
                self.wait(tx, Waits { state: "unclear", at: Some(*at), why: Some(why) }, now)
            }
            Change::Refused(reason, close) => {
                self.end(tx, "refused", Some(reason), now)?;
                asking::not_asked(tx, self.outbound, reason, now)?;
                approving::not_asked(tx, self.outbound, reason, now)?;
                match close {
                    true => closing::close(tx, self.conversation, reason, now),
                    false => Ok(()),
                }
            }
            // A part is repeated once, whoever asks: a second doubt stays a doubt.
            Change::Repeat(_) if self.repeated => self.end(tx, "unclear", None, now),
            Change::Repeat(text) => {
                tx.execute_later("UPDATE part SET repeated = 1 WHERE id = ?1", params![self.part])?;
                outbox::render(tx, self.part, text)?;
                self.wait(tx, Waits::AGAIN, now)
            }
            Change::Instead(text, why) => {
                outbox::render(tx, self.part, text)?;
                self.wait(tx, Waits { why: Some(why), ..Waits::AGAIN }, now)
            }
            Change::Moved(to, text) => {
                self.follow(tx, to)?;
                outbox::render(tx, self.part, text)?;
                self.wait(tx, Waits::AGAIN, now)
            }
            Change::LeftUnclear => self.end(tx, "unclear", None, now),
            Change::Expired => {
                let why = "its time had passed";
                self.end(tx, "expired", Some(why), now)?;
                asking::not_asked(tx, self.outbound, why, now)?;
                approving::not_asked(tx, self.outbound, why, now)
            }
        }
    }

    /// It arrived, as far as its receipt tells.
    fn arrive(&self, tx: &mut dyn Tx, arrived: &ArrivedPart, now: i64) -> Result<()> {
        let state = if self.repeated { "repeated" } else { "sent" };
        tx.execute_later(
            "UPDATE part SET state = ?2, open = 0, told = NULL, receipt = ?3, reason = NULL,
                 instance = NULL, updated_at = ?4 WHERE id = ?1",
            params![self.part, state, &arrived.receipt, now],
        )?;
        for message in &arrived.also {
            tx.execute_later(
                "INSERT INTO part_also (message, part) VALUES (?1, ?2)
                 ON CONFLICT (message, part) DO NOTHING",
                params![message, self.part],
            )?;
        }
        // Its words stand with what was said: the call is of no more use.
        tx.execute_later("DELETE FROM rendered WHERE part = ?1", params![self.part])
    }

    fn wait(&self, tx: &mut dyn Tx, waits: Waits<'_>, now: i64) -> Result<()> {
        tx.execute_later(
            "UPDATE part SET state = ?2, instance = NULL, not_before = ?3,
                 reason = COALESCE(?4, reason), updated_at = ?5 WHERE id = ?1",
            params![self.part, waits.state, waits.at, waits.why, now],
        )
    }

    /// It did not arrive, as far as anybody knows: the conversation's next task is told.
    fn end(&self, tx: &mut dyn Tx, state: &str, why: Option<&str>, now: i64) -> Result<()> {
        tx.execute_later(
            "UPDATE part SET state = ?2, open = 0, instance = NULL, reason = COALESCE(?3, reason),
                 updated_at = ?4,
                 told = (SELECT CASE WHEN answer = 1 THEN 0 END FROM outbound WHERE id = part.outbound)
             WHERE id = ?1",
            params![self.part, state, why, now],
        )?;
        outbox::tidy_one(tx, self.part)
    }

    fn follow(&self, tx: &mut dyn Tx, to: &PlaceId) -> Result<()> {
        let (account, place): (String, String) = tx.one(
            "SELECT account, place FROM conversation WHERE id = ?1",
            params![self.conversation],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        moved::move_place(tx, &account, &place, to.key())
    }
}
