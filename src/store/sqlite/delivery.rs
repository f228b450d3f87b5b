//! Parts out, receipts in: the verbs of [`Delivery`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use rusqlite::{Connection, Row, params};
use selkie_channel_core::AccountId;

use super::rows::{load, millis, time};
use super::settle::{self, Change};
use super::writer::Class;
use super::{Sqlite, outbox};
use crate::domain::ids::{Boot, OutboundId, PartId};
use crate::store::{Delivery, DuePart, Outcome, Queued, Result, Standing};

#[async_trait]
impl Delivery for Sqlite {
    async fn due(&self, account: &AccountId, boot: &Boot) -> Result<Vec<DuePart>> {
        let (account, boot, now) = (account.clone(), boot.clone(), self.clock.now());
        let verb = move |conn: &Connection| {
            doubt_dead(conn, Some(account.as_str()), &boot, now)?;
            due(conn, account.as_str())
        };
        let rows = self.writer.run(Class::Relaxed, 0, verb).await?;
        rows.into_iter().map(RawPart::read).collect()
    }

    async fn sending(&self, part: PartId, boot: &Boot) -> Result<bool> {
        let (boot, now) = (boot.clone(), self.clock.now());
        let verb = move |conn: &Connection| mark(conn, part, &boot, millis(now));
        self.writer.run(Class::Durable, 0, verb).await
    }

    async fn settle(&self, part: PartId, outcome: Outcome) -> Result<Standing> {
        let (change, now) = (Change::new(outcome)?, self.clock.now());
        let bytes = change.bytes();
        let verb = move |conn: &Connection| settle::settle(conn, part.0, change, millis(now));
        self.writer.run(Class::Relaxed, bytes, verb).await
    }

    async fn before(&self, part: PartId) -> Result<Option<Standing>> {
        self.readers.run(move |conn: &Connection| outbox::before(conn, part.0)).await
    }

    async fn penalty(&self, account: &AccountId, scope: &str, until: DateTime<Utc>) -> Result<()> {
        let (account, scope) = (account.clone(), scope.to_owned());
        let verb = move |conn: &Connection| {
            conn.prepare_cached(
                "INSERT OR REPLACE INTO penalty (account, scope, until) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![account.as_str(), scope, millis(until)])?;
            Ok(())
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn penalties(
        &self,
        account: &AccountId,
        now: DateTime<Utc>,
    ) -> Result<Vec<(String, DateTime<Utc>)>> {
        let account = account.clone();
        let verb = move |conn: &Connection| {
            Ok(conn
                .prepare_cached(
                    "SELECT scope, until FROM penalty WHERE account = ?1 AND until > ?2
                     ORDER BY scope",
                )?
                .query_map(params![account.as_str(), millis(now)], |row| {
                    Ok((row.get(0)?, time(row.get(1)?)))
                })?
                .collect::<rusqlite::Result<_>>()?)
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }
}

/// Parts that another boot was sending when it died are unclear, to be decided now.
pub fn doubt_dead(
    conn: &Connection,
    account: Option<&str>,
    boot: &Boot,
    now: DateTime<Utc>,
) -> Result<()> {
    conn.prepare_cached(
        "UPDATE part SET state = 'unclear', not_before = ?3, updated_at = ?3,
             reason = 'the process ended while it was being sent'
         WHERE id IN (SELECT part FROM rendered) AND open = 1 AND state = 'sending' AND boot <> ?2
             AND account = COALESCE(?1, account)",
    )?
    .execute(params![account, boot.0, millis(now)])?;
    Ok(())
}

/// Marks a part as being sent by this boot; whether it may be. An unclear one whose call sets a state is simply
/// sent again.
pub fn mark(conn: &Connection, part: PartId, boot: &Boot, now: i64) -> Result<bool> {
    let marked = conn
        .prepare_cached(
            "UPDATE part SET state = 'sending', boot = ?2, attempts = attempts + 1, updated_at = ?3
             WHERE id = ?1 AND open = 1 AND state IN ('queued', 'unclear')",
        )?
        .execute(params![part.0, boot.0, now])?;
    Ok(marked == 1)
}

/// A due part whose call is not read yet.
struct RawPart {
    due: Due,
    part: String,
}

struct Due {
    id: i64,
    outbound: i64,
    attempts: u32,
    not_before: Option<i64>,
    expires_at: Option<i64>,
    unclear: bool,
    answer: bool,
}

/// Returns the queued parts of one outbound.
pub fn queued_of(conn: &Connection, outbound: OutboundId) -> Result<Queued> {
    let rows: Vec<RawPart> = conn
        .prepare_cached(
            "SELECT p.id, p.outbound, p.attempts, p.not_before, o.expires_at, 0, o.answer, r.text
             FROM part p JOIN outbound o ON o.id = p.outbound JOIN rendered r ON r.part = p.id
             WHERE p.id BETWEEN ?1 AND ?2 AND p.state = 'queued' ORDER BY p.id",
        )?
        .query_map(outbox::parts_of(outbound.0), RawPart::from_row)?
        .collect::<rusqlite::Result<_>>()?;
    let parts = rows.into_iter().map(RawPart::read).collect::<Result<_>>()?;
    Ok(Queued { outbound, parts })
}

/// The joins cross because the planner would rather walk all parts there ever were, for their order.
fn due(conn: &Connection, account: &str) -> Result<Vec<RawPart>> {
    Ok(conn
        .prepare_cached(
            "SELECT p.id, p.outbound, p.attempts, p.not_before, o.expires_at, p.state = 'unclear',
                    o.answer, r.text
             FROM rendered r CROSS JOIN part p ON p.id = r.part JOIN outbound o ON o.id = p.outbound
             WHERE p.account = ?1 AND p.open = 1 AND p.state IN ('queued', 'unclear') ORDER BY p.id",
        )?
        .query_map([account], RawPart::from_row)?
        .collect::<rusqlite::Result<_>>()?)
}

impl RawPart {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let due = Due {
            id: row.get(0)?,
            outbound: row.get(1)?,
            attempts: row.get(2)?,
            not_before: row.get(3)?,
            expires_at: row.get(4)?,
            unclear: row.get(5)?,
            answer: row.get(6)?,
        };
        Ok(Self { due, part: row.get(7)? })
    }

    fn read(self) -> Result<DuePart> {
        let Due { id, outbound, attempts, not_before, expires_at, unclear, answer } = self.due;
        Ok(DuePart {
            id: PartId(id),
            outbound: OutboundId(outbound),
            part: load(id, &self.part)?,
            attempts,
            not_before: not_before.map(time),
            expires_at: expires_at.map(time),
            unclear,
            answer,
            departs: false,
        })
    }
}
