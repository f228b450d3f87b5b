//! What came of an attempt becomes the part's new state.
//!
//! A part that is not open any more (withdrawn, refused with its conversation, left unclear) keeps its
//! state; only a proof that it arrived is always taken.

use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::PlaceId;

use super::rows::{json, lean, millis};
use super::{conversations, moved, outbox, questions};
use crate::store::{Outcome, Result, Standing, StoreError};

/// An outcome, written as text before it reaches the writer.
#[derive(Debug)]
pub enum Change {
    /// Arrived, with the receipt.
    Sent(String),
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

impl Change {
    /// Writes an outcome's texts.
    pub fn new(outcome: Outcome) -> Result<Self> {
        Ok(match outcome {
            Outcome::Sent(receipt) => Self::Sent(lean(&receipt)?),
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
            Self::Sent(text)
            | Self::Repeat(text)
            | Self::Instead(text, _)
            | Self::Moved(_, text) => text.len(),
            _ => 0,
        }
    }
}

struct Known {
    part: i64,
    outbound: i64,
    conversation: i64,
    open: bool,
    repeated: bool,
}

/// Stores the outcome and returns where the whole outbound stands.
pub fn settle(conn: &Connection, part: i64, change: Change, now: i64) -> Result<Standing> {
    let known = conn
        .prepare_cached(
            "SELECT id, outbound, conversation, open, repeated FROM part WHERE id = ?1",
        )?
        .query_row([part], |row| {
            Ok(Known {
                part: row.get(0)?,
                outbound: row.get(1)?,
                conversation: row.get(2)?,
                open: row.get(3)?,
                repeated: row.get(4)?,
            })
        })
        .optional()?;
    let Some(known) = known else {
        return Err(StoreError::Corrupt(format!("there is no part {part}")));
    };
    if known.open || matches!(change, Change::Sent(_)) {
        known.apply(conn, change, now)?;
    }
    outbox::standing(conn, known.outbound)
}

impl Known {
    fn apply(&self, conn: &Connection, change: Change, now: i64) -> Result<()> {
        match change {
            Change::Sent(receipt) => {
                let state = if self.repeated { "repeated" } else { "sent" };
                conn.prepare_cached(
                    "UPDATE part SET state = ?2, open = 0, told = NULL, receipt = ?3, reason = NULL,
                         boot = NULL, updated_at = ?4 WHERE id = ?1",
                )?
                .execute(params![self.part, state, receipt, now])?;
                // Its words stand with what was said: the call is of no more use.
                conn.prepare_cached("DELETE FROM rendered WHERE part = ?1")?
                    .execute([self.part])?;
                Ok(())
            }
            Change::Queued(at, why) => self.wait(conn, "queued", (Some(at), Some(&why)), now),
            Change::Unclear(at, why) => self.wait(conn, "unclear", (Some(at), Some(&why)), now),
            Change::Refused(reason, close) => {
                self.end(conn, "refused", Some(&reason), now)?;
                questions::not_asked(conn, self.outbound, &reason, now)?;
                match close {
                    true => conversations::close(conn, self.conversation, &reason, now),
                    false => Ok(()),
                }
            }
            // A part is repeated once, whoever asks: a second doubt stays a doubt.
            Change::Repeat(_) if self.repeated => self.end(conn, "unclear", None, now),
            Change::Repeat(text) => {
                self.replace(conn, &text, true)?;
                self.wait(conn, "queued", (None, None), now)
            }
            Change::Instead(text, why) => {
                self.replace(conn, &text, false)?;
                self.wait(conn, "queued", (None, Some(&why)), now)
            }
            Change::Moved(to, text) => {
                self.follow(conn, &to)?;
                self.replace(conn, &text, false)?;
                self.wait(conn, "queued", (None, None), now)
            }
            Change::LeftUnclear => self.end(conn, "unclear", None, now),
            Change::Expired => {
                let why = "its time had passed";
                self.end(conn, "expired", Some(why), now)?;
                questions::not_asked(conn, self.outbound, why, now)
            }
        }
    }

    /// It waits for a moment, with a new reason when there is one.
    fn wait(
        &self,
        conn: &Connection,
        state: &str,
        (at, why): (Option<i64>, Option<&str>),
        now: i64,
    ) -> Result<()> {
        conn.prepare_cached(
            "UPDATE part SET state = ?2, boot = NULL, not_before = ?3,
                 reason = COALESCE(?4, reason), updated_at = ?5 WHERE id = ?1",
        )?
        .execute(params![self.part, state, at, why, now])?;
        Ok(())
    }

    /// It did not arrive, as far as anybody knows: the conversation's next task is told.
    fn end(&self, conn: &Connection, state: &str, why: Option<&str>, now: i64) -> Result<()> {
        conn.prepare_cached(
            "UPDATE part SET state = ?2, open = 0, boot = NULL, reason = COALESCE(?3, reason),
                 updated_at = ?4,
                 told = (SELECT CASE WHEN answer THEN 0 END FROM outbound WHERE id = part.outbound)
             WHERE id = ?1",
        )?
        .execute(params![self.part, state, why, now])?;
        outbox::tidy_one(conn, self.part)
    }

    fn replace(&self, conn: &Connection, text: &str, repeated: bool) -> Result<()> {
        conn.prepare_cached("UPDATE part SET repeated = repeated OR ?2 WHERE id = ?1")?
            .execute(params![self.part, repeated])?;
        outbox::render(conn, self.part, text)
    }

    fn follow(&self, conn: &Connection, to: &PlaceId) -> Result<()> {
        let (account, place): (String, String) = conn
            .prepare_cached("SELECT account, place FROM conversation WHERE id = ?1")?
            .query_row([self.conversation], |row| Ok((row.get(0)?, row.get(1)?)))?;
        moved::move_place(conn, &account, &place, to.key())
    }
}
