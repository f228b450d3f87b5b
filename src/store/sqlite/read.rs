//! Lists and counts: the verbs of [`Read`], on the connections that only read.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params};
use selkie_channel_core::{AccountId, ConversationId, MessageRef, PlaceId, Quote};

use super::rows::{count, load_item, millis, read_json, time};
use super::writer::Class;
use super::{Sqlite, conversations, facts, questions, quoted, trace};
use crate::domain::ids::TaskId;
use crate::domain::taint::Taint;
use crate::domain::task::TaskState;
use crate::domain::usage::Usage;
use crate::store::read::{
    Chain, ConversationRow, ConversationStatus, Counts, Read, TaskDetail, TaskRow,
};
use crate::store::{QuestionRow, Result, StoreError};

#[async_trait]
impl Read for Sqlite {
    async fn conversations(&self, limit: usize) -> Result<Vec<ConversationRow>> {
        self.readers.run(move |conn| list_conversations(conn, limit)).await
    }

    async fn tasks(&self, of: Option<&ConversationId>, limit: usize) -> Result<Vec<TaskRow>> {
        let of = of.cloned();
        self.readers.run(move |conn| list_tasks(conn, of.as_ref(), limit)).await
    }

    async fn task(&self, id: TaskId) -> Result<Option<TaskDetail>> {
        self.readers.run(move |conn| detail(conn, id.0)).await
    }

    async fn trace(&self, message: &str) -> Result<Vec<Chain>> {
        let message = message.to_owned();
        self.readers.run(move |conn| trace::trace(conn, &message)).await
    }

    async fn counts(&self) -> Result<Counts> {
        self.readers.run(counts).await
    }

    async fn status(&self, conversation: &ConversationId) -> Result<ConversationStatus> {
        let id = conversation.clone();
        self.readers
            .run(move |conn| match conversations::find(conn, &id)? {
                Some(row) => status(conn, row),
                None => Ok(ConversationStatus::default()),
            })
            .await
    }

    async fn open_questions(&self, of: Option<&ConversationId>) -> Result<Vec<QuestionRow>> {
        let of = of.cloned();
        let found = self
            .readers
            .run(move |conn| {
                let row = of.as_ref().map(|id| conversations::find(conn, id)).transpose()?;
                match row {
                    Some(None) => Ok(Vec::new()),
                    row => questions::open(conn, row.flatten()),
                }
            })
            .await?;
        found.into_iter().map(questions::RawQuestion::read).collect()
    }

    async fn quoted(
        &self,
        conversation: &ConversationId,
        message: &MessageRef,
    ) -> Result<Option<Quote>> {
        let (conversation, message) = (conversation.clone(), message.clone());
        self.readers
            .run(move |conn: &Connection| quoted::quoted(conn, &conversation, &message))
            .await
    }

    async fn level_of(
        &self,
        conversation: &ConversationId,
        message: &MessageRef,
    ) -> Result<Option<Taint>> {
        let (conversation, message) = (conversation.clone(), message.clone());
        self.readers
            .run(move |conn: &Connection| quoted::level(conn, &conversation, &message))
            .await
    }

    async fn moved_places(&self) -> Result<Vec<(PlaceId, PlaceId)>> {
        // At the start: the writer is there, a reader would have to be opened.
        self.writer.run(Class::Relaxed, 0, moved_places).await
    }

    async fn healthy(&self) -> Result<()> {
        let now = millis(self.clock.now());
        let write = move |conn: &Connection| {
            conn.prepare_cached("UPDATE meta SET checked_at = ?1")?.execute([now])?;
            Ok(())
        };
        self.writer.run(Class::Relaxed, 0, write).await?;
        self.readers
            .run(|conn| Ok(conn.query_row("SELECT checked_at FROM meta", [], |_| Ok(()))?))
            .await
    }
}

fn list_conversations(conn: &Connection, limit: usize) -> Result<Vec<ConversationRow>> {
    let row = |row: &Row<'_>| {
        Ok(ConversationRow {
            id: ConversationId::new(
                AccountId::new(row.get::<_, String>(0)?),
                row.get::<_, String>(1)?,
            ),
            title: row.get(2)?,
            epoch: row.get(3)?,
            closed: row.get(4)?,
            tasks: count(row.get(5)?),
            last_at: row.get::<_, Option<i64>>(6)?.map(time),
        })
    };
    Ok(conn
        .prepare_cached(&format!(
            "SELECT account, key, title, epoch, closed,
                    (SELECT COUNT(*) FROM ({tasks})), last_at
             FROM conversation c ORDER BY last_at DESC, id DESC LIMIT ?1",
            tasks = TASKS_OF.replace("?1", "c.id")
        ))?
        .query_map([most(limit)], row)?
        .collect::<rusqlite::Result<_>>()?)
}

fn list_tasks(
    conn: &Connection,
    of: Option<&ConversationId>,
    limit: usize,
) -> Result<Vec<TaskRow>> {
    let conversation = match of {
        Some(id) => match conversations::find(conn, id)? {
            Some(row) => Some(row),
            None => return Ok(Vec::new()),
        },
        None => None,
    };
    let filter = match conversation {
        Some(_) => format!("t.id IN ({TASKS_OF})"),
        None => "?1 IS NULL".to_owned(),
    };
    let sql = format!("{TASK} WHERE {filter} ORDER BY t.id DESC LIMIT ?2");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params![conversation, most(limit)])?;
    let mut tasks = Vec::new();
    while let Some(row) = rows.next()? {
        tasks.push(task_row(row)?);
    }
    Ok(tasks)
}

/// The ids of a conversation's tasks, each state through its own index.
pub const TASKS_OF: &str = "SELECT id FROM task WHERE conversation = ?1 AND finish IS NOT NULL
     UNION ALL SELECT id FROM task WHERE conversation = ?1 AND state = 'running'
     UNION ALL SELECT id FROM task WHERE conversation = ?1 AND state = 'waiting'
     UNION ALL SELECT id FROM task WHERE conversation = ?1 AND state = 'parked'";

const TASK: &str = "SELECT t.id, c.account, c.key, t.state, t.why, t.attempts, t.calls, t.input,
        t.cached, t.output, t.micro_usd, t.created_at, t.ended_at,
        COALESCE((SELECT substr(inbound ->> '$.text', 1, 200) FROM inbox i
                  WHERE i.task = t.id AND i.disposition = 'task' ORDER BY i.ord, i.id LIMIT 1), ''),
        t.facts, t.header, (SELECT place FROM whereabouts WHERE id = t.whereabouts), c.plan
    FROM task t JOIN conversation c ON c.id = t.conversation";

fn task_row(row: &Row<'_>) -> Result<TaskRow> {
    let state: String = row.get(3)?;
    let id: i64 = row.get(0)?;
    let account = AccountId::new(row.get::<_, String>(1)?);
    Ok(TaskRow {
        id: TaskId(id),
        conversation: ConversationId::new(account, row.get::<_, String>(2)?),
        state: TaskState::parse(&state)
            .ok_or_else(|| StoreError::Corrupt(format!("task {id} has the state {state:?}")))?,
        why: row.get(4)?,
        attempts: row.get(5)?,
        usage: usage(row, 6)?,
        created_at: time(row.get(11)?),
        ended_at: row.get::<_, Option<i64>>(12)?.map(time),
        asked: row.get(13)?,
    })
}

/// Reads the five columns of a usage from `first` on.
pub fn usage(row: &Row<'_>, first: usize) -> rusqlite::Result<Usage> {
    Ok(Usage {
        calls: row.get(first)?,
        input: count(row.get(first + 1)?),
        cached: count(row.get(first + 2)?),
        output: count(row.get(first + 3)?),
        micro_usd: count(row.get(first + 4)?),
    })
}

/// Returns what a task has cost so far.
pub fn cost(conn: &Connection, task: i64) -> Result<Usage> {
    Ok(conn
        .prepare_cached("SELECT calls, input, cached, output, micro_usd FROM task WHERE id = ?1")?
        .query_row([task], |row| usage(row, 0))?)
}

/// Returns one task with its transcript.
pub fn detail(conn: &Connection, id: i64) -> Result<Option<TaskDetail>> {
    let sql = format!("{TASK} WHERE t.id = ?1");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let raw: facts::RawFacts = (row.get(14)?, row.get(16)?);
    let mut facts = facts::read(id, &raw)?;
    // Not begun yet: it will be in the mode that the conversation is in.
    if row.get::<_, String>(3)? == "waiting" {
        facts.mode = super::notes::mode(row.get(17)?);
    }
    let header: Option<String> = row.get(15)?;
    let items: Vec<(u16, String)> = conn
        .prepare_cached("SELECT v, item FROM transcript WHERE task = ?1 ORDER BY seq")?
        .query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Some(TaskDetail {
        row: task_row(row)?,
        facts,
        header: header.map(|text| read_json("header", id, &text)).transpose()?,
        transcript: items.iter().map(|(v, text)| load_item(id, *v, text)).collect::<Result<_>>()?,
    }))
}

fn counts(conn: &Connection) -> Result<Counts> {
    let one = |sql: &str| -> Result<u64> {
        Ok(count(conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?))
    };
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

fn status(conn: &Connection, conversation: i64) -> Result<ConversationStatus> {
    let running = conn
        .prepare_cached(
            "SELECT id, started_at FROM task WHERE conversation = ?1 AND state = 'running' LIMIT 1",
        )?
        .query_row([conversation], |row| Ok((TaskId(row.get(0)?), time(row.get(1)?))))
        .optional()?;
    let waiting = conn
        .prepare_cached("SELECT COUNT(*) FROM task WHERE conversation = ?1 AND state = 'waiting'")?
        .query_row([conversation], |row| row.get(0))?;
    Ok(conn
        .prepare_cached(&format!(
            "SELECT COUNT(*), COALESCE(SUM(calls), 0), COALESCE(SUM(input), 0),
                    COALESCE(SUM(cached), 0), COALESCE(SUM(output), 0), COALESCE(SUM(micro_usd), 0)
             FROM task WHERE id IN ({TASKS_OF})
               AND epoch = (SELECT epoch FROM conversation WHERE id = ?1)"
        ))?
        .query_row([conversation], |row| {
            let (tasks, usage) = (count(row.get(0)?), usage(row, 1)?);
            Ok(ConversationStatus { running, waiting: count(waiting), tasks, usage })
        })?)
}

fn moved_places(conn: &Connection) -> Result<Vec<(PlaceId, PlaceId)>> {
    let pair = |row: &Row<'_>| {
        let account = AccountId::new(row.get::<_, String>(0)?);
        let old = PlaceId::new(account.clone(), row.get::<_, String>(1)?);
        Ok((old, PlaceId::new(account, row.get::<_, String>(2)?)))
    };
    Ok(conn
        .prepare_cached("SELECT account, old, new FROM place_alias ORDER BY account, old")?
        .query_map([], pair)?
        .collect::<rusqlite::Result<_>>()?)
}

fn most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
