//! How held answers end: a tap lets one go, a button that never arrived does too, and nobody's tap lets it
//! expire.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::Part;

use super::outbox::{self, Cause, Prepared};
use super::rows::{json, millis, time};
use super::{delivery, holds};
use crate::domain::ids::OutboundId;
use crate::store::{FetchEffect, Fetched, Queued, Result, Standing, Swept};

const UNFETCHED: &str = "nobody fetched it in time";

/// An effect with its texts written.
#[derive(Debug)]
pub enum Effect {
    Say(Option<Prepared>),
    Release { key: String, parts: Vec<(i64, Vec<String>)> },
}

impl Effect {
    /// Writes the texts.
    pub fn new(effect: FetchEffect) -> Result<Self> {
        Ok(match effect {
            FetchEffect::Say(draft) => Self::Say(draft.map(|d| Prepared::new(*d)).transpose()?),
            FetchEffect::Release { key, parts } => {
                let texts = |parts: Vec<Part>| parts.iter().map(json).collect::<Result<Vec<_>>>();
                let written = parts.into_iter().map(|(id, parts)| Ok((id.0, texts(parts)?)));
                Self::Release { key, parts: written.collect::<Result<_>>()? }
            }
        })
    }

    /// Returns about how many bytes it will write.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Say(draft) => draft.as_ref().map_or(0, Prepared::bytes),
            Self::Release { parts, .. } => {
                parts.iter().flat_map(|(_, texts)| texts).map(String::len).sum()
            }
        }
    }
}

/// Carries out the tap of a row; `None` when it was carried out before.
pub fn fetch(
    conn: &Connection,
    row: i64,
    effect: Effect,
    now: DateTime<Utc>,
) -> Result<Option<Fetched>> {
    let fresh: Option<String> = conn
        .prepare_cached(
            "UPDATE inbox SET done_at = ?2 WHERE id = ?1 AND done_at IS NULL RETURNING account",
        )?
        .query_row(params![row, millis(now)], |row| row.get(0))
        .optional()?;
    let Some(account) = fresh else { return Ok(None) };
    match effect {
        Effect::Say(draft) => {
            let said = draft.map(|d| outbox::say(conn, d, Cause::Command(row), now)).transpose()?;
            Ok(Some(Fetched { done: true, queued: said.into_iter().collect() }))
        }
        Effect::Release { key, parts } => {
            let opened = conn
                .prepare_cached(
                    "UPDATE hold SET open = 0 WHERE key = ?1 AND account = ?2 AND open = 1",
                )?
                .execute([&key, &account])?;
            if opened == 0 {
                return Ok(Some(Fetched::default()));
            }
            let queued = parts
                .into_iter()
                .map(|(outbound, texts)| release(conn, outbound, &texts, now))
                .collect::<Result<_>>()?;
            Ok(Some(Fetched { done: true, queued }))
        }
    }
}

/// Puts freshly rendered parts in the place of the held ones.
fn release(
    conn: &Connection,
    outbound: i64,
    texts: &[String],
    now: DateTime<Utc>,
) -> Result<Queued> {
    let [first, last] = outbox::parts_of(outbound);
    let held = conn
        .prepare_cached("DELETE FROM part WHERE id BETWEEN ?1 AND ?2 AND state = 'held'")?
        .execute([first, last])?;
    // What was withdrawn in the meantime stays so.
    let texts = if held > 0 { texts } else { &[] };
    if held > 0 {
        conn.prepare_cached("DELETE FROM rendered WHERE part BETWEEN ?1 AND ?2")?
            .execute([first, last])?;
    }
    for (id, text) in (first..=last).zip(texts) {
        conn.prepare_cached(
            "INSERT INTO part (id, outbound, conversation, account, state, open, updated_at)
             SELECT ?3, o.id, c.id, c.account, 'queued', 1, ?2
             FROM outbound o JOIN conversation c ON c.id = o.conversation WHERE o.id = ?1",
        )?
        .execute(params![outbound, millis(now), id])?;
        outbox::render(conn, id, text)?;
    }
    delivery::queued_of(conn, OutboundId(outbound))
}

/// Expires what nobody fetched, and lets go what nobody can fetch.
pub fn sweep(conn: &Connection, now: DateTime<Utc>) -> Result<Swept> {
    let expired: Vec<i64> = conn
        .prepare_cached(
            "SELECT DISTINCT o.id FROM rendered r CROSS JOIN part p ON p.id = r.part
             JOIN outbound o ON o.id = p.outbound
             WHERE p.open = 1 AND p.state = 'held' AND o.expires_at <= ?1 ORDER BY o.id",
        )?
        .query_map([millis(now)], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for outbound in &expired {
        let [first, last] = outbox::parts_of(*outbound);
        conn.prepare_cached(
            "UPDATE part SET state = 'expired', open = 0, reason = ?2, updated_at = ?3,
                 told = (SELECT CASE WHEN answer THEN 0 END FROM outbound WHERE id = part.outbound)
             WHERE id BETWEEN ?1 AND ?4 AND state = 'held'",
        )?
        .execute(params![first, UNFETCHED, millis(now), last])?;
    }
    conn.prepare_cached(
        "UPDATE hold SET open = 0 WHERE open = 1 AND task IN
             (SELECT task FROM outbound WHERE id IN (SELECT value FROM json_each(?1)))",
    )?
    .execute([json(&expired)?])?;
    let released = let_go(conn)?;
    let next: Option<i64> = conn
        .prepare_cached(
            "SELECT MIN(o.expires_at) FROM rendered r CROSS JOIN part p ON p.id = r.part
             JOIN outbound o ON o.id = p.outbound WHERE p.open = 1 AND p.state = 'held'",
        )?
        .query_row([], |row| row.get(0))?;
    let expired = expired.into_iter().map(OutboundId).collect();
    Ok(Swept { expired, released, next: next.map(time) })
}

/// Answers whose button the platform did not take go out as they would have without one; so do those of
/// which nobody will ever know whether the button arrived. While that is being found out they are held.
fn let_go(conn: &Connection) -> Result<Vec<Queued>> {
    let open: Vec<(i64, i64)> = conn
        .prepare_cached("SELECT task, button FROM hold WHERE open = 1 ORDER BY button")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut released = Vec::new();
    for (task, button) in open {
        let standing = outbox::standing(conn, button)?;
        let gone = matches!(
            standing,
            Standing::Refused { .. } | Standing::Expired | Standing::Cancelled | Standing::Unclear
        );
        if !gone {
            continue;
        }
        holds::close(conn, task)?;
        for (outbound, ..) in holds::held_of(conn, task)? {
            holds::turn(conn, outbound, ("held", "queued"))?;
            released.push(delivery::queued_of(conn, OutboundId(outbound))?);
        }
    }
    Ok(released)
}

/// Ends what is held in a conversation.
pub fn drop_held(
    conn: &Connection,
    conversation: i64,
    (state, reason): (&str, &str),
    now: i64,
) -> Result<usize> {
    let dropped = conn
        .prepare_cached(
            "UPDATE part SET state = ?2, open = 0, reason = ?3, updated_at = ?4,
                 told = (SELECT CASE WHEN answer AND ?2 <> 'cancelled' THEN 0 END
                         FROM outbound WHERE id = part.outbound)
             WHERE id IN (SELECT part FROM rendered)
                 AND conversation = ?1 AND open = 1 AND state = 'held'",
        )?
        .execute(params![conversation, state, reason, now])?;
    if dropped > 0 {
        outbox::tidy(conn)?;
    }
    Ok(dropped)
}
