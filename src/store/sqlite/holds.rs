//! Held answers: offered by a button, let go by a tap, expired when nobody comes. The verbs of [`Holds`].
//!
//! A hold is open until its answer went out. A held part is open and in no courier's hands.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::{AccountId, Part};

use super::outbox::{self, Cause, Prepared};
use super::rows::{json, load, millis, time};
use super::writer::Class;
use super::{Sqlite, delivery, run};
use crate::domain::ids::{InboxId, OutboundId};
use crate::domain::task::Claim;
use crate::store::{
    FetchEffect, Fetched, HeldAnswer, Holds, Offer, Queued, Result, Standing, Swept,
};

const UNFETCHED: &str = "nobody fetched it in time";

#[async_trait]
impl Holds for Sqlite {
    async fn hold(&self, claim: &Claim, offer: Offer) -> Result<Option<Queued>> {
        let (claim, now, key) = (claim.clone(), self.clock.now(), offer.key);
        let draft = Prepared::new(offer.draft)?;
        let bytes = draft.bytes();
        let verb = move |conn: &Connection| hold(conn, &claim, (&key, draft), now);
        self.writer.run(Class::Durable, bytes, verb).await
    }

    async fn held(&self, account: &AccountId, key: &str) -> Result<Option<HeldAnswer>> {
        let (account, key) = (account.clone(), key.to_owned());
        let verb = move |conn: &Connection| answer(conn, account.as_str(), &key);
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn fetch(&self, row: InboxId, effect: FetchEffect) -> Result<Option<Fetched>> {
        let (effect, now) = (Effect::new(effect)?, self.clock.now());
        let bytes = effect.bytes();
        let verb = move |conn: &Connection| fetch(conn, row.0, effect, now);
        self.writer.run(Class::Durable, bytes, verb).await
    }

    async fn sweep_held(&self, now: DateTime<Utc>) -> Result<Swept> {
        let verb = move |conn: &Connection| sweep(conn, now);
        self.writer.run(Class::Relaxed, 0, verb).await
    }
}

fn hold(
    conn: &Connection,
    claim: &Claim,
    (key, draft): (&str, Prepared),
    now: DateTime<Utc>,
) -> Result<Option<Queued>> {
    let task = claim.task.0;
    if run::held(conn, claim)?.is_none() || open_of(conn, task)?.is_some() {
        return Ok(None);
    }
    let known = conn.prepare_cached("SELECT 1 FROM hold WHERE task = ?1")?.exists([task])?;
    if known {
        return Ok(None);
    }
    let token = draft.token().unwrap_or_default().to_owned();
    let queued = outbox::say(conn, draft, Cause::Task(task, None), now)?;
    conn.prepare_cached(
        "INSERT INTO hold (account, key, task, button, token, open)
         SELECT c.account, ?2, t.id, ?3, ?4, 1
         FROM task t JOIN conversation c ON c.id = t.conversation WHERE t.id = ?1",
    )?
    .execute(params![task, key, queued.outbound.0, token])?;
    Ok(Some(queued))
}

/// Returns the token that was spent on the open button of a task.
fn open_of(conn: &Connection, task: i64) -> Result<Option<String>> {
    Ok(conn
        .prepare_cached("SELECT token FROM hold WHERE task = ?1 AND open = 1")?
        .query_row([task], |row| row.get(0))
        .optional()?)
}

/// Says a task's last words: held when a button was offered for them, unless they come with a right to
/// answer of their own.
pub fn say(conn: &Connection, task: i64, draft: Prepared, now: DateTime<Utc>) -> Result<Queued> {
    let spent = open_of(conn, task)?;
    let own = draft.token().map(str::to_owned);
    let mut queued = outbox::say(conn, draft, Cause::Task(task, None), now)?;
    let Some(spent) = spent else { return Ok(queued) };
    if own.is_some_and(|own| own != spent) {
        close(conn, task)?;
        return Ok(queued);
    }
    conn.prepare_cached("UPDATE part SET state = 'held' WHERE outbound = ?1 AND state = 'queued'")?
        .execute([queued.outbound.0])?;
    queued.parts.clear();
    Ok(queued)
}

fn close(conn: &Connection, task: i64) -> Result<()> {
    conn.prepare_cached("UPDATE hold SET open = 0 WHERE task = ?1")?.execute([task])?;
    Ok(())
}

fn answer(conn: &Connection, account: &str, key: &str) -> Result<Option<HeldAnswer>> {
    let found: Option<(i64, i64, bool)> = conn
        .prepare_cached(
            "SELECT t.id, h.button, t.state IN ('waiting', 'running', 'parked')
             FROM hold h JOIN task t ON t.id = h.task WHERE h.key = ?1 AND h.account = ?2",
        )?
        .query_row([key, account], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((task, button, working)) = found else { return Ok(None) };
    if working {
        return Ok(Some(HeldAnswer::Working));
    }
    let rows = held_of(conn, task)?;
    if !rows.is_empty() {
        let said = rows.into_iter().map(|(id, body)| Ok((OutboundId(id), load(id, &body)?)));
        return said.collect::<Result<_>>().map(|said| Some(HeldAnswer::Ready(said)));
    }
    let gone = last_words(conn, task, button)?;
    let went = |standing: &Standing| {
        matches!(
            standing,
            Standing::Open
                | Standing::Delivered { .. }
                | Standing::Partly { .. }
                | Standing::Unclear
        )
    };
    Ok(Some(if gone.iter().any(went) { HeldAnswer::Gone } else { HeldAnswer::Lost }))
}

/// What a task has said and is held, oldest first.
fn held_of(conn: &Connection, task: i64) -> Result<Vec<(i64, String)>> {
    Ok(conn
        .prepare_cached(
            "SELECT id, body FROM outbound WHERE task = ?1
               AND EXISTS (SELECT 1 FROM part WHERE outbound = outbound.id AND state = 'held')
             ORDER BY id",
        )?
        .query_map([task], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?)
}

/// Where everything stands that a task said after its button.
fn last_words(conn: &Connection, task: i64, button: i64) -> Result<Vec<Standing>> {
    let rows: Vec<i64> = conn
        .prepare_cached(
            "SELECT id FROM outbound WHERE task = ?1 AND id > ?2 AND call IS NULL ORDER BY id",
        )?
        .query_map([task, button], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    rows.into_iter().map(|row| outbox::standing(conn, row)).collect()
}

/// An effect with its texts written.
#[derive(Debug)]
enum Effect {
    Say(Option<Prepared>),
    Release { key: String, parts: Vec<(i64, Vec<String>)> },
}

impl Effect {
    fn new(effect: FetchEffect) -> Result<Self> {
        Ok(match effect {
            FetchEffect::Say(draft) => Self::Say(draft.map(|d| Prepared::new(*d)).transpose()?),
            FetchEffect::Release { key, parts } => {
                let texts = |parts: Vec<Part>| parts.iter().map(json).collect::<Result<Vec<_>>>();
                let written = parts.into_iter().map(|(id, parts)| Ok((id.0, texts(parts)?)));
                Self::Release { key, parts: written.collect::<Result<_>>()? }
            }
        })
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Say(draft) => draft.as_ref().map_or(0, Prepared::bytes),
            Self::Release { parts, .. } => {
                parts.iter().flat_map(|(_, texts)| texts).map(String::len).sum()
            }
        }
    }
}

fn fetch(
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
    let held = conn
        .prepare_cached("DELETE FROM part WHERE outbound = ?1 AND state = 'held'")?
        .execute([outbound])?;
    for text in texts.iter().take(if held > 0 { texts.len() } else { 0 }) {
        conn.prepare_cached(
            "INSERT INTO part (outbound, conversation, account, state, open, part, updated_at)
             SELECT o.id, c.id, c.account, 'queued', 1, ?2, ?3
             FROM outbound o JOIN conversation c ON c.id = o.conversation WHERE o.id = ?1",
        )?
        .execute(params![outbound, text, millis(now)])?;
    }
    delivery::queued_of(conn, OutboundId(outbound))
}

fn sweep(conn: &Connection, now: DateTime<Utc>) -> Result<Swept> {
    let expired: Vec<i64> = conn
        .prepare_cached(
            "SELECT DISTINCT o.id FROM part p JOIN outbound o ON o.id = p.outbound
             WHERE p.state = 'held' AND o.expires_at <= ?1 ORDER BY o.id",
        )?
        .query_map([millis(now)], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for outbound in &expired {
        conn.prepare_cached(
            "UPDATE part SET state = 'expired', open = 0, reason = ?2, updated_at = ?3,
                 told = (SELECT CASE WHEN answer THEN 0 END FROM outbound WHERE id = part.outbound)
             WHERE outbound = ?1 AND state = 'held'",
        )?
        .execute(params![outbound, UNFETCHED, millis(now)])?;
    }
    conn.prepare_cached(
        "UPDATE hold SET open = 0 WHERE open = 1 AND task IN
             (SELECT task FROM outbound WHERE id IN (SELECT value FROM json_each(?1)))",
    )?
    .execute([json(&expired)?])?;
    let released = let_go(conn)?;
    let next: Option<i64> = conn
        .prepare_cached(
            "SELECT MIN(o.expires_at) FROM part p JOIN outbound o ON o.id = p.outbound
             WHERE p.state = 'held'",
        )?
        .query_row([], |row| row.get(0))?;
    let expired = expired.into_iter().map(OutboundId).collect();
    Ok(Swept { expired, released, next: next.map(time) })
}

/// Answers whose button the platform did not take go out as they would have without one. A button that
/// may have arrived counts as there.
fn let_go(conn: &Connection) -> Result<Vec<Queued>> {
    let dead: Vec<i64> = conn
        .prepare_cached(
            "UPDATE hold SET open = 0 WHERE open = 1 AND NOT EXISTS
                 (SELECT 1 FROM part WHERE outbound = hold.button
                    AND (open = 1 OR state IN ('sent', 'repeated', 'unclear')))
             RETURNING task",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut released = Vec::new();
    for task in dead {
        for (outbound, _) in held_of(conn, task)? {
            conn.prepare_cached(
                "UPDATE part SET state = 'queued' WHERE outbound = ?1 AND state = 'held'",
            )?
            .execute([outbound])?;
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
    Ok(conn
        .prepare_cached(
            "UPDATE part SET state = ?2, open = 0, reason = ?3, updated_at = ?4,
                 told = (SELECT CASE WHEN answer AND ?2 <> 'cancelled' THEN 0 END
                         FROM outbound WHERE id = part.outbound)
             WHERE conversation = ?1 AND state = 'held'",
        )?
        .execute(params![conversation, state, reason, now])?)
}
