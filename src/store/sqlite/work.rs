//! Claims, steps, ends: the verbs of [`Work`]. Every write of a run is fenced by its claim.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};

use super::outbox::{self, Cause, Prepared};
use super::run::RawCommitted;
use super::writer::Class;
use super::{Sqlite, delivery, inflow, lanes, read, run};
use crate::domain::ids::{Boot, OutboundId};
use crate::domain::task::{Claim, Lane};
use crate::domain::usage::Usage;
use crate::store::{Advance, Claimed, Committed, Draft, Inflow, Result, Said, Work};

#[async_trait]
impl Work for Sqlite {
    async fn ready(&self, now: DateTime<Utc>, limit: usize) -> Result<Vec<Lane>> {
        let verb = move |conn: &Connection| lanes::ready(conn, now, limit);
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn next_wake(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        let verb = move |conn: &Connection| lanes::next_wake(conn, now);
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn claim(&self, lane: &Lane, boot: &Boot, now: DateTime<Utc>) -> Result<Option<Claimed>> {
        self.claim_whose((lane, boot), now, |_, _| Ok(true)).await
    }

    async fn claim_owners(
        &self,
        lane: &Lane,
        boot: &Boot,
        now: DateTime<Utc>,
    ) -> Result<Option<Claimed>> {
        let whose = move |conn: &Connection, row| lanes::is_owners(conn, row, now);
        self.claim_whose((lane, boot), now, whose).await
    }

    async fn commit(&self, claim: &Claim, advance: Advance) -> Result<Committed> {
        let (claim, now) = (claim.clone(), self.clock.now());
        let owner = claim.boot.clone();
        let advance = run::Prepared::new(advance, now)?;
        let (class, bytes) = (advance.class(), advance.bytes());
        let verb = move |conn: &Connection| run::commit(conn, &claim, advance);
        Ok(match self.writer.run(class, bytes, verb).await? {
            RawCommitted::Continue { stop, mode } => Committed::Continue { stop, mode },
            RawCommitted::Lost => Committed::Lost,
            RawCommitted::Ended { queued, next, usage } => {
                // The end is written, whatever becomes of the next.
                let next = self.readable(next.map(|raw| *raw), &owner).await;
                let next = next.unwrap_or_else(|error| {
                    tracing::error!(%error, "the lane's next task is not handed over");
                    None
                });
                Committed::Ended { queued, next: next.map(Box::new), usage }
            }
        })
    }

    async fn inflow(&self, claim: &Claim, now: DateTime<Utc>) -> Result<Inflow> {
        let claim = claim.clone();
        let verb = move |conn: &Connection| inflow::read(conn, &claim, now);
        self.writer.run(Class::Relaxed, 0, verb).await.map(inflow::RawInflow::read)
    }

    async fn say(&self, claim: &Claim, call: &str, draft: Draft) -> Result<Said> {
        let (claim, call, now) = (claim.clone(), call.to_owned(), self.clock.now());
        let draft = Prepared::new(draft)?;
        let bytes = draft.bytes();
        let verb = move |conn: &Connection| say(conn, &claim, &call, draft, now);
        self.writer.run(Class::Durable, bytes, verb).await
    }

    async fn suspects(&self, attempts: u32) -> Result<Vec<Lane>> {
        let verb = move |conn: &Connection| {
            let lanes = conn
                .prepare_cached(
                    "SELECT l.name FROM task t INDEXED BY task_waiting JOIN lane l ON l.id = t.lane
                     WHERE t.state = 'waiting' AND t.attempts >= ?1 GROUP BY l.id ORDER BY MIN(t.id)",
                )?
                .query_map([attempts], |row| Ok(Lane(row.get(0)?)))?
                .collect::<rusqlite::Result<_>>()?;
            Ok(lanes)
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn acquit(&self, claim: &Claim) -> Result<()> {
        let claim = claim.clone();
        let verb = move |conn: &Connection| {
            conn.prepare_cached(
                "UPDATE task SET attempts = attempts - 1
                 WHERE id = ?1 AND state = 'running' AND claim = ?2 AND boot = ?3",
            )?
            .execute(params![claim.task.0, claim.number, claim.boot.0])?;
            Ok(())
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn reclaim(&self, boot: &Boot, now: DateTime<Utc>) -> Result<u64> {
        let boot = boot.clone();
        let verb = move |conn: &Connection| {
            delivery::doubt_dead(conn, None, &boot, now)?;
            reclaim(conn, &boot)
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }
}

impl Sqlite {
    /// Claims the oldest task of a lane where `whose` says so of the lane's row.
    async fn claim_whose(
        &self,
        (lane, boot): (&Lane, &Boot),
        now: DateTime<Utc>,
        whose: impl FnOnce(&Connection, i64) -> Result<bool> + Send + 'static,
    ) -> Result<Option<Claimed>> {
        let (lane, boot, owner) = (lane.clone(), boot.clone(), boot.clone());
        let verb = move |conn: &Connection| match lanes::find(conn, &lane)? {
            Some(row) if whose(conn, row)? => lanes::take(conn, row, &boot, now),
            _ => Ok(None),
        };
        let raw = self.writer.run(Class::Relaxed, 0, verb).await?;
        self.readable(raw, &owner).await
    }
}

fn say(
    conn: &Connection,
    claim: &Claim,
    call: &str,
    draft: Prepared,
    now: DateTime<Utc>,
) -> Result<Said> {
    if run::held(conn, claim)?.is_none() {
        return Ok(Said::Lost);
    }
    let before: Option<i64> = conn
        .prepare_cached("SELECT id FROM outbound WHERE task = ?1 AND call = ?2")?
        .query_row(params![claim.task.0, call], |row| row.get(0))
        .optional()?;
    if let Some(outbound) = before {
        return Ok(Said::Known(OutboundId(outbound), outbox::standing(conn, outbound)?));
    }
    let queued = outbox::say(conn, draft, Cause::Task(claim.task.0, Some(call)), now)?;
    if queued.parts.is_empty() {
        // Nothing to send: no receipt will ever come (the conversation is closed).
        let standing = outbox::standing(conn, queued.outbound.0)?;
        return Ok(Said::Known(queued.outbound, standing));
    }
    Ok(Said::New(queued))
}

/// Every running task of another boot waits again, with its stop, its claims and its transcript.
fn reclaim(conn: &Connection, boot: &Boot) -> Result<u64> {
    let lanes: Vec<i64> = conn
        .prepare_cached(
            "UPDATE task SET state = 'waiting', boot = NULL, start_at = 0
             WHERE state = 'running' AND boot <> ?1 RETURNING lane",
        )?
        .query_map([&boot.0], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for lane in &lanes {
        lanes::refresh(conn, *lane)?;
    }
    Ok(lanes.len() as u64)
}

/// Ends a task's row and returns what it cost in all; its lane is free after a refresh.
pub fn end(
    conn: &Connection,
    task: i64,
    (state, why): (&str, Option<&str>),
    now: i64,
) -> Result<Usage> {
    conn.prepare_cached(
        "UPDATE task SET state = ?2, why = ?3, ended_at = ?4, boot = NULL, start_at = NULL,
             child = NULL, finish = 1 + COALESCE((SELECT MAX(e.finish) FROM task e
                 WHERE e.conversation = task.conversation AND e.epoch IS task.epoch
                   AND e.finish IS NOT NULL), 0)
         WHERE id = ?1",
    )?
    .execute(params![task, state, why, now])?;
    wake_parent(conn, task)?;
    read::cost(conn, task)
}

/// A task parked on this one as its child goes on.
fn wake_parent(conn: &Connection, child: i64) -> Result<()> {
    let parent: Option<(i64, i64)> = conn
        .prepare_cached("SELECT id, lane FROM task WHERE child = ?1 AND state = 'parked'")?
        .query_row([child], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((parent, lane)) = parent else { return Ok(()) };
    conn.prepare_cached(
        "UPDATE task SET state = 'waiting', start_at = 0, child = NULL WHERE id = ?1",
    )?
    .execute([parent])?;
    lanes::refresh(conn, lane)
}
