//! Held answers: offered by a button, and where they stand. The verbs of [`Holds`].
//!
//! A hold is open until its answer went out. A held part is open and in no courier's hands.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::{ConversationId, Inbound};

use super::fetched::{self, Effect};
use super::outbox::{self, BODY, Cause, Prepared, RawBody};
use super::rows::load;
use super::writer::Class;
use super::{Sqlite, claimed, conversations, run};
use crate::domain::ids::{InboxId, OutboundId, TaskId};
use crate::domain::task::Claim;
use crate::store::{
    FetchEffect, Fetched, HeldAnswer, Holds, Offer, Queued, Result, Standing, Swept,
};

/// More tasks with a right to answer do not wait at a start.
const MOST_WAITING: i64 = 1_000;

#[async_trait]
impl Holds for Sqlite {
    async fn hold(&self, claim: &Claim, offer: Offer) -> Result<Option<Queued>> {
        let (claim, now, key) = (claim.clone(), self.clock.now(), offer.key);
        let draft = Prepared::new(offer.draft)?;
        let bytes = draft.bytes();
        let verb = move |conn: &Connection| hold(conn, &claim, (&key, draft), now);
        self.writer.run(Class::Durable, bytes, verb).await
    }

    async fn hold_waiting(&self, row: InboxId, offer: Offer) -> Result<Option<Queued>> {
        let (now, key) = (self.clock.now(), offer.key);
        let draft = Prepared::new(offer.draft)?;
        let bytes = draft.bytes();
        let verb = move |conn: &Connection| match waiting(conn, row.0)? {
            Some(task) => button(conn, task, (&key, draft), now),
            None => Ok(None),
        };
        self.writer.run(Class::Durable, bytes, verb).await
    }

    async fn rights_waiting(&self) -> Result<Vec<(InboxId, Inbound)>> {
        let rows = self.writer.run(Class::Relaxed, 0, rights_waiting).await?;
        Ok(claimed::readable(rows.iter().map(|(row, text)| Ok((InboxId(*row), load(*row, text)?)))))
    }

    async fn held(&self, conversation: &ConversationId, key: &str) -> Result<Option<HeldAnswer>> {
        let (conversation, key) = (conversation.clone(), key.to_owned());
        let verb = move |conn: &Connection| match conversations::find(conn, &conversation)? {
            Some(row) => answer(conn, row, (conversation.account().as_str(), &key)),
            None => Ok(None),
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn fetch(&self, row: InboxId, effect: FetchEffect) -> Result<Option<Fetched>> {
        let (effect, now) = (Effect::new(effect)?, self.clock.now());
        let bytes = effect.bytes();
        let verb = move |conn: &Connection| fetched::fetch(conn, row.0, effect, now);
        self.writer.run(Class::Durable, bytes, verb).await
    }

    async fn sweep_held(&self, now: DateTime<Utc>) -> Result<Swept> {
        let verb = move |conn: &Connection| fetched::sweep(conn, now);
        self.writer.run(Class::Relaxed, 0, verb).await
    }
}

fn hold(
    conn: &Connection,
    claim: &Claim,
    (key, draft): (&str, Prepared),
    now: DateTime<Utc>,
) -> Result<Option<Queued>> {
    if run::held(conn, claim)?.is_none() {
        return Ok(None);
    }
    button(conn, claim.task.0, (key, draft), now)
}

/// Returns the task of a message while it waits in its lane.
fn waiting(conn: &Connection, row: i64) -> Result<Option<i64>> {
    Ok(conn
        .prepare_cached(
            "SELECT t.id FROM inbox i JOIN task t ON t.id = i.task
             WHERE i.id = ?1 AND t.state = 'waiting'",
        )?
        .query_row([row], |row| row.get(0))
        .optional()?)
}

fn rights_waiting(conn: &Connection) -> Result<Vec<(i64, String)>> {
    Ok(conn
        .prepare_cached(
            "SELECT i.id, i.inbound FROM task t CROSS JOIN inbox i ON i.task = t.id
             WHERE t.state = 'waiting' AND i.disposition = 'task'
               AND i.inbound ->> '$.reply_window.token' IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM hold WHERE task = t.id)
             ORDER BY i.id LIMIT ?1",
        )?
        .query_map([MOST_WAITING], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?)
}

/// Says a task's button, the first and only time.
fn button(
    conn: &Connection,
    task: i64,
    (key, draft): (&str, Prepared),
    now: DateTime<Utc>,
) -> Result<Option<Queued>> {
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
    turn(conn, queued.outbound.0, ("queued", "held"))?;
    queued.parts.clear();
    Ok(queued)
}

/// Moves the parts of an outbound from one state to another.
pub fn turn(conn: &Connection, outbound: i64, (from, to): (&str, &str)) -> Result<()> {
    let [first, last] = outbox::parts_of(outbound);
    conn.prepare_cached("UPDATE part SET state = ?4 WHERE id BETWEEN ?1 AND ?2 AND state = ?3")?
        .execute(params![first, last, from, to])?;
    Ok(())
}

/// The answer of a task went out, or never will.
pub fn close(conn: &Connection, task: i64) -> Result<()> {
    conn.prepare_cached("UPDATE hold SET open = 0 WHERE task = ?1")?.execute([task])?;
    Ok(())
}

/// Where the answer stands: of a task that another has absorbed it is the other's.
fn answer(
    conn: &Connection,
    conversation: i64,
    (account, key): (&str, &str),
) -> Result<Option<HeldAnswer>> {
    let found: Option<(i64, i64, bool)> = conn
        .prepare_cached(
            "SELECT t.id, h.button, t.state IN ('waiting', 'running', 'parked')
             FROM hold h JOIN task own ON own.id = h.task
             JOIN task t ON t.id = CASE WHEN own.why LIKE 'absorbed by task %'
                 THEN CAST(substr(own.why, length('absorbed by task ') + 1) AS INTEGER) ELSE own.id END
             WHERE h.key = ?1 AND h.account = ?2 AND own.conversation = ?3",
        )?
        .query_row(params![key, account, conversation], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((task, button, working)) = found else { return Ok(None) };
    if working {
        return Ok(Some(HeldAnswer::Working(TaskId(task))));
    }
    let rows = held_of(conn, task)?;
    if !rows.is_empty() {
        let said = rows.iter().map(|raw| Ok((OutboundId(raw.0), outbox::read_body(raw)?)));
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
pub fn held_of(conn: &Connection, task: i64) -> Result<Vec<RawBody>> {
    let sql = format!("SELECT {BODY} FROM outbound o WHERE o.task = ?1 ORDER BY o.id");
    let mut said: Vec<RawBody> = conn
        .prepare_cached(&sql)?
        .query_map([task], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut is_held =
        conn.prepare_cached("SELECT 1 FROM part WHERE id BETWEEN ?1 AND ?2 AND state = 'held'")?;
    let mut broken = None;
    said.retain(|(id, ..)| {
        is_held.exists(outbox::parts_of(*id)).unwrap_or_else(|e| {
            broken = Some(e);
            false
        })
    });
    broken.map_or(Ok(said), |e| Err(e.into()))
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
