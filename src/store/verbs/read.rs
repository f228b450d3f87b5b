//! Lists and counts: the verbs of [`Reader`], beside the writers.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, ConversationId, MessageRef, PlaceId, Quote};

use super::approvals::{self, RawApproval};
use super::conversation_log::{self, RawSaid};
use super::questions::{self, RawQuestion};
use super::rows::{conversation, count, millis, small, time};
use super::usage::usage;
use super::{conversations, quoted, shown, spoken, trace, unanswered, upcoming};
use crate::approval::ApprovalRow;
use crate::error::Result;
use crate::question::QuestionRow;
use crate::read::{
    Chain, ConversationRow, ConversationStatus, Counts, MAX_USED, Reader, SaidTask, StoredFiles,
    TaskDetail, TaskRow, TaskUsage, UnansweredMessage, UpcomingWork,
};
use crate::spoken::Utterance;
use crate::sql::{Plan, SqlLedger};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::TaskId;
use selkie_domain::provenance::Provenance;
use selkie_domain::usage::Usage;

#[async_trait]
impl Reader for SqlLedger {
    async fn conversations(&self, limit: usize) -> Result<Vec<ConversationRow>> {
        self.read(move |tx| list_conversations(tx, limit)).await
    }

    async fn tasks(&self, of: Option<&ConversationId>, limit: usize) -> Result<Vec<TaskRow>> {
        let of = of.cloned();
        self.read(move |tx| shown::list(tx, of.as_ref(), limit)).await
    }

    async fn said(&self, of: &ConversationId, whole: bool, limit: usize) -> Result<Vec<SaidTask>> {
        let of = of.clone();
        let raw = self.read(move |tx| conversation_log::said(tx, &of, whole, limit)).await?;
        Ok(raw.into_iter().map(RawSaid::read).collect())
    }

    async fn unanswered(
        &self,
        of: &ConversationId,
        limit: usize,
    ) -> Result<Vec<UnansweredMessage>> {
        let of = of.clone();
        self.read(move |tx| unanswered::unanswered(tx, &of, limit)).await
    }

    async fn spoken(&self, of: &ConversationId, limit: usize) -> Result<Vec<Utterance>> {
        let of = of.clone();
        self.read(move |tx| spoken::spoken(tx, &of, limit)).await
    }

    async fn task(&self, id: TaskId) -> Result<Option<TaskDetail>> {
        self.read(move |tx| shown::detail(tx, id.0)).await
    }

    async fn trace(&self, message: &str) -> Result<Vec<Chain>> {
        let message = message.to_owned();
        self.read(move |tx| trace::trace(tx, &message)).await
    }

    async fn counts(&self) -> Result<Counts> {
        self.read(counts).await
    }

    async fn upcoming(&self, now: DateTime<Utc>) -> Result<UpcomingWork> {
        self.read(move |tx| upcoming::upcoming(tx, now)).await
    }

    async fn used_since(&self, since: DateTime<Utc>) -> Result<TaskUsage> {
        self.read(move |tx| {
            tx.one(USED, params![millis(since), small(MAX_USED)], |row| {
                Ok(TaskUsage { tasks: count(row.get(0)?), usage: usage(row, 1)? })
            })
        })
        .await
    }

    async fn status(&self, conversation: &ConversationId) -> Result<ConversationStatus> {
        let id = conversation.clone();
        self.read(move |tx| match conversations::find(tx, &id)? {
            Some(row) => status(tx, row),
            None => Ok(ConversationStatus::default()),
        })
        .await
    }

    async fn open_questions(&self, of: Option<&ConversationId>) -> Result<Vec<QuestionRow>> {
        let of = of.cloned();
        let found = self.read(move |tx| {
            let row = match &of {
                Some(id) => match conversations::find(tx, id)? {
                    Some(row) => Some(row),
                    None => return Ok(Vec::new()),
                },
                None => None,
            };
            questions::open(tx, row)
        });
        found.await?.into_iter().map(RawQuestion::read).collect()
    }

    async fn approvals(&self, of: Option<TaskId>) -> Result<Vec<ApprovalRow>> {
        let found = self.read(move |tx| approvals::all(tx, of.map(|task| task.0)));
        found.await?.into_iter().map(RawApproval::read).collect()
    }

    async fn quoted(
        &self,
        conversation: &ConversationId,
        message: &MessageRef,
    ) -> Result<Option<Quote>> {
        let conversation = conversation.clone();
        let message = message.clone();
        self.read(move |tx| quoted::quoted(tx, &conversation, &message)).await
    }

    async fn files_of(
        &self,
        conversation: &ConversationId,
        message: &MessageRef,
    ) -> Result<Vec<StoredFiles>> {
        let conversation = conversation.clone();
        let message = message.clone();
        self.read(move |tx| quoted::files(tx, &conversation, &message)).await
    }

    async fn provenance_of(
        &self,
        conversation: &ConversationId,
        message: &MessageRef,
    ) -> Result<Option<Provenance>> {
        let conversation = conversation.clone();
        let message = message.clone();
        self.read(move |tx| quoted::provenance(tx, &conversation, &message)).await
    }

    async fn moved_places(&self) -> Result<Vec<(PlaceId, PlaceId)>> {
        // At the start: the writer is there, a reader would have to be opened.
        self.write(Plan::RELAXED, moved_places).await
    }

    async fn healthy(&self) -> Result<()> {
        let now = millis(self.now());
        self.write(Plan::RELAXED, move |tx| {
            tx.execute_later("UPDATE meta SET checked_at = ?1", params![now])
        })
        .await?;
        self.read(|tx| tx.exists("SELECT checked_at FROM meta", params![])).await.map(drop)
    }
}

/// Those that people know, without agents'. The tasks of each are counted state by state, through the index of that state.
fn list_conversations(tx: &mut dyn Tx, limit: usize) -> Result<Vec<ConversationRow>> {
    tx.all(
        "SELECT account, key, title, epoch, closed,
                (SELECT COUNT(*) FROM (
                     SELECT id FROM task WHERE conversation = c.id AND finish IS NOT NULL
                     UNION ALL SELECT id FROM task WHERE conversation = c.id AND state = 'running'
                     UNION ALL SELECT id FROM task WHERE conversation = c.id AND state = 'waiting'
                     UNION ALL SELECT id FROM task WHERE conversation = c.id AND state = 'parked') all_states),
                last_at
         FROM conversation c WHERE c.parent IS NULL ORDER BY COALESCE(last_at, -1) DESC, id DESC LIMIT ?1",
        params![limit],
        |row| {
            Ok(ConversationRow {
                id: conversation(row, 0)?,
                title: row.get(2)?,
                epoch: row.get(3)?,
                closed: row.get(4)?,
                tasks: count(row.get(5)?),
                last_at: row.get::<Option<i64>>(6)?.map(time),
            })
        },
    )
}

fn counts(tx: &mut dyn Tx) -> Result<Counts> {
    let mut one = |sql: &'static str| tx.only::<i64>(sql, params![]).map(count);
    let [inbox, waiting, running, parked, queued, sending, unclear] = COUNTS;
    Ok(Counts {
        inbox: one(inbox)?,
        waiting: one(waiting)?,
        running: one(running)?,
        parked: one(parked)?,
        queued: one(queued)?,
        sending: one(sending)?,
        unclear: one(unclear)?,
    })
}

/// The newest tasks by their numbers, which grow with time: no index is kept for what is asked now and then.
pub const USED: &str = "SELECT COUNT(*), CAST(COALESCE(SUM(calls), 0) AS BIGINT), CAST(COALESCE(SUM(input), 0) AS BIGINT),
         CAST(COALESCE(SUM(cached), 0) AS BIGINT), CAST(COALESCE(SUM(output), 0) AS BIGINT),
         CAST(COALESCE(SUM(micro_usd), 0) AS BIGINT)
     FROM (SELECT created_at, calls, input, cached, output, micro_usd FROM task ORDER BY id DESC LIMIT ?2) newest WHERE created_at >= ?1";

/// Each through an index of what is rare, or by a highest number: no table is read through, however long the
/// daemon has lived.
pub const COUNTS: [&str; 7] = [
    "SELECT COALESCE(MAX(id), 0) FROM inbox",
    "SELECT COUNT(*) FROM task INDEXED BY task_waiting WHERE state = 'waiting'",
    "SELECT COUNT(*) FROM task INDEXED BY task_running WHERE state = 'running'",
    "SELECT COUNT(*) FROM task INDEXED BY task_parked WHERE state = 'parked'",
    "SELECT COUNT(*) FROM part
     WHERE id IN (SELECT part FROM rendered) AND open = 1 AND state = 'queued'",
    "SELECT COUNT(*) FROM part
     WHERE id IN (SELECT part FROM rendered) AND open = 1 AND state = 'sending'",
    "SELECT COUNT(*) FROM part
     WHERE id IN (SELECT part FROM rendered) AND open = 1 AND state = 'unclear'",
];

fn status(tx: &mut dyn Tx, conversation: i64) -> Result<ConversationStatus> {
    let running = tx.optional(
        "SELECT id, started_at FROM task WHERE conversation = ?1 AND state = 'running' LIMIT 1",
        params![conversation],
        |row| Ok((TaskId(row.get(0)?), time(row.get(1)?))),
    )?;
    let of_agents = used_by_agents(tx, conversation)?;
    let waiting: i64 = tx.only(
        "SELECT COUNT(*) FROM task WHERE conversation = ?1 AND state = 'waiting'",
        params![conversation],
    )?;
    tx.one(
        "SELECT COUNT(*), CAST(COALESCE(SUM(calls), 0) AS BIGINT), CAST(COALESCE(SUM(input), 0) AS BIGINT),
                CAST(COALESCE(SUM(cached), 0) AS BIGINT), CAST(COALESCE(SUM(output), 0) AS BIGINT),
                CAST(COALESCE(SUM(micro_usd), 0) AS BIGINT)
         FROM task WHERE id IN (
                 SELECT id FROM task WHERE conversation = ?1 AND finish IS NOT NULL
                 UNION ALL SELECT id FROM task WHERE conversation = ?1 AND state = 'running'
                 UNION ALL SELECT id FROM task WHERE conversation = ?1 AND state = 'waiting'
                 UNION ALL SELECT id FROM task WHERE conversation = ?1 AND state = 'parked')
             AND epoch = (SELECT epoch FROM conversation WHERE id = ?1)",
        params![conversation],
        |row| {
            let tasks = count(row.get(0)?);
            let mut usage = usage(row, 1)?;
            usage.add(of_agents);
            Ok(ConversationStatus { running, waiting: count(waiting), tasks, usage })
        },
    )
}

/// What the agents of a conversation have used since it was last begun afresh.
fn used_by_agents(tx: &mut dyn Tx, conversation: i64) -> Result<Usage> {
    tx.one(
        "SELECT CAST(COALESCE(SUM(a.calls), 0) AS BIGINT), CAST(COALESCE(SUM(a.input), 0) AS BIGINT),
                CAST(COALESCE(SUM(a.cached), 0) AS BIGINT), CAST(COALESCE(SUM(a.output), 0) AS BIGINT),
                CAST(COALESCE(SUM(a.micro_usd), 0) AS BIGINT)
         FROM conversation c JOIN task a ON a.conversation = c.id AND a.epoch = c.epoch AND a.finish IS NOT NULL
         WHERE c.parent = ?1",
        params![conversation],
        |row| usage(row, 0),
    )
}

fn moved_places(tx: &mut dyn Tx) -> Result<Vec<(PlaceId, PlaceId)>> {
    tx.all("SELECT account, old, new FROM place_alias ORDER BY account, old", params![], |row| {
        let account = AccountId::new(row.get::<&str>(0)?);
        let old = PlaceId::new(account.clone(), row.get::<&str>(1)?);
        Ok((old, PlaceId::new(account, row.get::<&str>(2)?)))
    })
}
