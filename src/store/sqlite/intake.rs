//! Events in: the verbs of [`Intake`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use rusqlite::OptionalExtension;
use selkie_channel_core::{AccountId, Cursor, Inbound};

use super::Sqlite;
use super::accept::{self, Row};
use super::command;
use super::outbox::{self, Cause, Prepared};
use super::rows::{load, time};
use super::writer::Class;
use crate::domain::ids::InboxId;
use crate::store::{
    Accepted, Arrival, CommandDone, CommandEffect, Draft, Fuse, Intake, Queued, Result,
};

#[async_trait]
impl Intake for Sqlite {
    async fn accept(
        &self,
        batch: Vec<Arrival>,
        cursor: Option<Cursor>,
        fuse: Fuse,
    ) -> Result<Accepted> {
        let rows = batch.into_iter().map(Row::new).collect::<Result<Vec<_>>>()?;
        let bytes = rows.iter().map(Row::bytes).sum();
        let taken_back = rows.iter().any(Row::takes_back);
        let boot = fuse.boot.clone();
        let verb = move |conn: &rusqlite::Connection| accept::accept(conn, rows, cursor, &fuse);
        let (mut accepted, claimed) = self.writer.run(Class::Durable, bytes, verb).await?.parts();
        if taken_back {
            self.writer.purge();
        }
        for raw in claimed {
            // The batch is stored, and must be acknowledged, whatever becomes of a claim.
            match self.readable(Some(raw), &boot).await {
                Ok(claimed) => accepted.claimed.extend(claimed),
                Err(error) => tracing::error!(%error, "a claimed task is left to the next start"),
            }
        }
        Ok(accepted)
    }

    async fn cursor(&self, account: &AccountId) -> Result<Option<(Cursor, DateTime<Utc>)>> {
        let account = account.clone();
        let verb = move |conn: &rusqlite::Connection| {
            let found: Option<(String, i64)> = conn
                .prepare_cached("SELECT value, at FROM cursor WHERE account = ?1")?
                .query_row([account.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            Ok(found.map(|(value, at)| (Cursor { account, value }, time(at))))
        };
        self.writer.run(Class::Relaxed, 0, verb).await
    }

    async fn command(&self, row: InboxId, effect: CommandEffect) -> Result<Option<CommandDone>> {
        let (effect, now) = (command::Effect::new(effect)?, self.clock.now());
        let bytes = effect.bytes();
        let verb = move |conn: &rusqlite::Connection| command::carry_out(conn, row.0, effect, now);
        self.writer.run(Class::Durable, bytes, verb).await
    }

    async fn abandon(&self, row: InboxId) -> Result<CommandDone> {
        let now = self.clock.now();
        let verb = move |conn: &rusqlite::Connection| command::abandon(conn, row.0, now);
        self.writer.run(Class::Durable, 0, verb).await
    }

    async fn open_commands(&self) -> Result<Vec<(InboxId, Inbound)>> {
        let verb = |conn: &rusqlite::Connection| {
            Ok(conn
                .prepare_cached(
                    "SELECT id, inbound FROM inbox
                     WHERE done_at IS NULL
                       AND (disposition = 'command' OR disposition = 'tap' OR disposition = 'answer')
                     ORDER BY id",
                )?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<Vec<(i64, String)>>>()?)
        };
        let rows = self.writer.run(Class::Relaxed, 0, verb).await?;
        rows.into_iter().map(|(row, text)| Ok((InboxId(row), load(row, &text)?))).collect()
    }

    async fn say_once(&self, key: &str, draft: Draft) -> Result<Option<Queued>> {
        let (key, draft, now) = (key.to_owned(), Prepared::new(draft)?, self.clock.now());
        let bytes = draft.bytes();
        let verb = move |conn: &rusqlite::Connection| {
            let said =
                conn.prepare_cached("SELECT 1 FROM notice WHERE key = ?1")?.exists([&key])?;
            if said {
                return Ok(None);
            }
            let queued = outbox::say(conn, draft, Cause::Notice, now)?;
            conn.prepare_cached("INSERT INTO notice (key, outbound) VALUES (?1, ?2)")?
                .execute(rusqlite::params![key, queued.outbound.0])?;
            Ok(Some(queued))
        };
        self.writer.run(Class::Durable, bytes, verb).await
    }
}
