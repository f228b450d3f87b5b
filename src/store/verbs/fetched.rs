//! How held answers end: a tap lets one go, a button that never arrived does too, and nobody's tap lets it
//! expire.

use chrono::{DateTime, Utc};
use selkie_channel_core::Part;

use super::held_answers::{self, Turn};
use super::outbox::{self, DraftText, SaidFor};
use super::rows::{json, millis, time};
use super::{locks, marks, standing};
use crate::delivery::{DeliveryState, QueuedOutbound};
use crate::error::Result;
use crate::hold::{FetchEffect, FetchResult, Swept};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::OutboundId;

const UNFETCHED: &str = "nobody fetched it in time";

/// An effect with its texts written.
#[derive(Debug)]
pub enum Effect {
    Say(Option<DraftText>),
    Release { key: String, parts: Vec<(i64, Vec<String>)> },
}

impl Effect {
    /// Writes the texts.
    pub fn new(effect: FetchEffect) -> Result<Self> {
        Ok(match effect {
            FetchEffect::Say(draft) => Self::Say(draft.map(|d| DraftText::new(*d)).transpose()?),
            FetchEffect::Release { key, parts } => {
                let texts = |parts: Vec<Part>| parts.iter().map(json).collect::<Result<Vec<_>>>();
                let written = parts.into_iter().map(|(id, parts)| Ok((id.0, texts(parts)?)));
                Self::Release { key, parts: written.collect::<Result<_>>()? }
            }
        })
    }

    fn said(&self) -> Option<&DraftText> {
        match self {
            Self::Say(draft) => draft.as_ref(),
            Self::Release { .. } => None,
        }
    }

    /// Returns about how many bytes it will write.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Say(draft) => draft.as_ref().map_or(0, DraftText::bytes),
            Self::Release { parts, .. } => {
                parts.iter().flat_map(|(_, texts)| texts).map(String::len).sum()
            }
        }
    }
}

/// Carries out the tap of a row; `None` when it was carried out before.
pub fn fetch(
    tx: &mut dyn Tx,
    row: i64,
    effect: &Effect,
    now: DateTime<Utc>,
) -> Result<Option<FetchResult>> {
    locks::of_row(tx, row, effect.said().map(DraftText::conversation))?;
    let fresh: Option<String> = tx.first(
        "UPDATE inbox SET done_at = ?2 WHERE id = ?1 AND done_at IS NULL RETURNING account",
        params![row, millis(now)],
    )?;
    let Some(account) = fresh else { return Ok(None) };
    match effect {
        Effect::Say(draft) => {
            let draft = draft.as_ref();
            let said = draft.map(|d| outbox::say(tx, d, SaidFor::Command(row), now)).transpose()?;
            Ok(Some(FetchResult { done: true, queued: said.into_iter().collect() }))
        }
        Effect::Release { key, parts } => {
            let opened = tx.execute(
                "UPDATE hold SET open = 0 WHERE key = ?1 AND account = ?2 AND open = 1",
                params![key, &account],
            )?;
            if opened == 0 {
                return Ok(Some(FetchResult::default()));
            }
            let mut queued = Vec::with_capacity(parts.len());
            for (outbound, texts) in parts {
                queued.push(release(tx, *outbound, texts, now)?);
            }
            Ok(Some(FetchResult { done: true, queued }))
        }
    }
}

/// Puts freshly rendered parts in the place of the held ones.
fn release(
    tx: &mut dyn Tx,
    outbound: i64,
    texts: &[String],
    now: DateTime<Utc>,
) -> Result<QueuedOutbound> {
    let [first, last] = standing::parts_of(outbound);
    let held = tx.execute(
        "DELETE FROM part WHERE id BETWEEN ?1 AND ?2 AND state = 'held'",
        params![first, last],
    )?;
    // What was withdrawn in the meantime stays so.
    let texts = if held > 0 { texts } else { &[] };
    if held > 0 {
        tx.execute_later(
            "DELETE FROM rendered WHERE part BETWEEN ?1 AND ?2",
            params![first, last],
        )?;
    }
    for (id, text) in (first..=last).zip(texts) {
        tx.execute_later(
            "INSERT INTO part (id, outbound, conversation, account, state, open, updated_at)
             SELECT CAST(?3 AS BIGINT), o.id, c.id, c.account, 'queued', 1, CAST(?2 AS BIGINT)
             FROM outbound o JOIN conversation c ON c.id = o.conversation WHERE o.id = ?1",
            params![outbound, millis(now), id],
        )?;
        outbox::render(tx, id, text)?;
    }
    marks::queued_of(tx, OutboundId(outbound))
}

/// Expires what nobody fetched, and lets go what nobody can fetch.
pub fn sweep(tx: &mut dyn Tx, now: DateTime<Utc>) -> Result<Swept> {
    lock_held(tx)?;
    let expired: Vec<i64> = tx.column(
        "SELECT DISTINCT o.id FROM rendered r CROSS JOIN part p ON p.id = r.part
         JOIN outbound o ON o.id = p.outbound
         WHERE p.open = 1 AND p.state = 'held' AND o.expires_at <= ?1 ORDER BY o.id",
        params![millis(now)],
    )?;
    for outbound in &expired {
        expire(tx, *outbound, now)?;
    }
    let released = let_go(tx)?;
    let next: Option<i64> = tx.only(
        "SELECT MIN(o.expires_at) FROM rendered r CROSS JOIN part p ON p.id = r.part
         JOIN outbound o ON o.id = p.outbound WHERE p.open = 1 AND p.state = 'held'",
        params![],
    )?;
    let expired = expired.into_iter().map(OutboundId).collect();
    Ok(Swept { expired, released, next: next.map(time) })
}

/// Locks the conversations in which something is held.
fn lock_held(tx: &mut dyn Tx) -> Result<()> {
    if tx.is_alone() {
        return Ok(());
    }
    let rows = tx.column(
        "SELECT DISTINCT p.conversation FROM rendered r CROSS JOIN part p ON p.id = r.part
         WHERE p.open = 1 AND p.state = 'held'
         UNION SELECT t.conversation FROM hold h JOIN task t ON t.id = h.task WHERE h.open = 1",
        params![],
    )?;
    locks::rows(tx, rows)
}

fn expire(tx: &mut dyn Tx, outbound: i64, now: DateTime<Utc>) -> Result<()> {
    let [first, last] = standing::parts_of(outbound);
    tx.execute_later(
        "UPDATE part SET state = 'expired', open = 0, reason = ?2, updated_at = ?3,
             told = (SELECT CASE WHEN answer = 1 THEN 0 END FROM outbound WHERE id = part.outbound)
         WHERE id BETWEEN ?1 AND ?4 AND state = 'held'",
        params![first, UNFETCHED, millis(now), last],
    )?;
    tx.execute_later(
        "UPDATE hold SET open = 0
         WHERE open = 1 AND task = (SELECT task FROM outbound WHERE id = ?1)",
        params![outbound],
    )
}

/// Answers whose button the platform did not take go out as they would have without one; so do those of
/// which nobody will ever know whether the button arrived. While that is being found out they are held.
fn let_go(tx: &mut dyn Tx) -> Result<Vec<QueuedOutbound>> {
    let open: Vec<(i64, i64)> =
        tx.all("SELECT task, button FROM hold WHERE open = 1 ORDER BY button", params![], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let mut released = Vec::new();
    for (task, button) in open {
        let gone = matches!(
            standing::standing(tx, button)?,
            DeliveryState::Refused { .. }
                | DeliveryState::Expired
                | DeliveryState::Cancelled
                | DeliveryState::Unclear
        );
        if !gone {
            continue;
        }
        held_answers::close(tx, task)?;
        for (outbound, ..) in held_answers::held_of(tx, task)? {
            held_answers::turn(tx, outbound, Turn::LET_GO)?;
            released.push(marks::queued_of(tx, OutboundId(outbound))?);
        }
    }
    Ok(released)
}
