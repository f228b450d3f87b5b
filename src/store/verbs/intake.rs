//! Events in: the verbs of [`Intake`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, Cursor, Inbound};

use super::accept;
use super::approvals;
use super::command;
use super::event::Row;
use super::locks;
use super::outbox::{self, SaidFor};
use super::requests::{self, RequestText};
use super::rows::{load, time};
use crate::arrival::{Arrival, Location, TaskRequest};
use crate::delivery::{Draft, QueuedOutbound};
use crate::engine::Purge;
use crate::error::Result;
use crate::intake::{AcceptResult, CommandDone, CommandEffect, Fuse, Intake, RequestResult};
use crate::sql::{Plan, SqlLedger};
use crate::value::params;
use selkie_domain::ids::{InboxId, TaskId};

#[async_trait]
impl Intake for SqlLedger {
    async fn accept(
        &self,
        batch: Vec<Arrival>,
        cursor: Option<Cursor>,
        fuse: Fuse,
    ) -> Result<AcceptResult> {
        let rows = batch.into_iter().map(Row::new).collect::<Result<Vec<_>>>()?;
        let account = cursor.as_ref().map(|cursor| cursor.account.as_str());
        let account = account.or_else(|| rows.first().map(Row::account)).unwrap_or_default();
        let plan = Plan::DURABLE.bytes(rows.iter().map(Row::bytes).sum()).after(account);
        let taken_back = rows.iter().any(Row::takes_back);
        let instance = fuse.instance.clone();
        let raw = self.write(plan, move |tx| accept::accept(tx, &rows, cursor.as_ref(), &fuse));
        let (mut accepted, claimed) = raw.await?.parts();
        if taken_back {
            self.engine().purge(Purge::Pages);
        }
        for raw in claimed {
            // The batch is stored, and must be acknowledged, whatever becomes of a claim.
            match self.readable(Some(raw), &instance).await {
                Ok(claimed) => accepted.claimed.extend(claimed),
                Err(error) => tracing::error!(%error, "a claimed task is left to the next start"),
            }
        }
        Ok(accepted)
    }

    async fn request(&self, request: TaskRequest, fuse: Fuse) -> Result<RequestResult> {
        let request = RequestText::new(request)?;
        let plan = Plan::DURABLE.bytes(request.bytes()).after(request.account());
        let instance = fuse.instance.clone();
        let made = self.write(plan, move |tx| requests::request(tx, &request, &fuse)).await?;
        Ok(self.requested(made, &instance).await)
    }

    async fn cursor(&self, account: &AccountId) -> Result<Option<(Cursor, DateTime<Utc>)>> {
        let account = account.clone();
        self.write(Plan::RELAXED.after(account.as_str()), move |tx| {
            tx.optional(
                "SELECT value, at FROM cursor WHERE account = ?1",
                params![account.as_str()],
                |row| {
                    let cursor = Cursor { account: account.clone(), value: row.get(0)? };
                    Ok((cursor, time(row.get(1)?)))
                },
            )
        })
        .await
    }

    async fn command(&self, row: InboxId, effect: CommandEffect) -> Result<Option<CommandDone>> {
        let effect = command::Effect::new(effect)?;
        let now = self.now();
        let plan = Plan::DURABLE.bytes(effect.bytes()).after(&row.0);
        self.write(plan, move |tx| command::carry_out(tx, row.0, &effect, now)).await
    }

    async fn command_typed(&self, at: Location, effect: CommandEffect) -> Result<CommandDone> {
        let effect = command::Effect::new(effect)?;
        let now = self.now();
        let plan = Plan::DURABLE.bytes(effect.bytes()).after(at.conversation.account().as_str());
        self.write(plan, move |tx| command::typed(tx, &at, &effect, now)).await
    }

    async fn abandon(&self, task: TaskId) -> Result<CommandDone> {
        let now = self.now();
        let plan = Plan::DURABLE.after(&task.0);
        self.write(plan, move |tx| command::abandon(tx, task.0, now)).await
    }

    async fn open_commands(&self) -> Result<Vec<(InboxId, Inbound)>> {
        let rows: Vec<(i64, String)> = self
            .write(Plan::RELAXED, |tx| {
                tx.all(
                    "SELECT id, inbound FROM inbox
                     WHERE done_at IS NULL
                       AND (disposition = 'command' OR disposition = 'tap' OR disposition = 'answer')
                     ORDER BY id",
                    params![],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
            })
            .await?;
        rows.into_iter().map(|(row, text)| Ok((InboxId(row), load(row, &text)?))).collect()
    }

    async fn say_once(&self, key: &str, draft: Draft) -> Result<Option<QueuedOutbound>> {
        let key = key.to_owned();
        let draft = outbox::DraftText::new(draft)?;
        let now = self.now();
        let plan = Plan::DURABLE.bytes(draft.bytes()).after(&key);
        self.write(plan, move |tx| {
            if tx.exists("SELECT 1 FROM notice WHERE key = ?1", params![&key])? {
                return Ok(None);
            }
            locks::named(tx, [draft.conversation()])?;
            // It would bring back what was forgotten meanwhile.
            if approvals::is_of_none(tx, &key)? {
                return Ok(None);
            }
            let queued = outbox::say(tx, &draft, SaidFor::Notice, now)?;
            let sql = "INSERT INTO notice (key, outbound) VALUES (?1, ?2)";
            tx.execute_later(sql, params![&key, queued.outbound.0])?;
            Ok(Some(queued))
        })
        .await
    }
}
