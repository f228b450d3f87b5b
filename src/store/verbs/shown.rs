//! Tasks as a person sees them: listed, and one with all that it holds.

use selkie_channel_core::{AccountId, Command, ConversationId, PersonId};
use serde::Deserialize;

use super::conversations;
use super::facts::{self, RawFacts};
use super::model_calls;
use super::named::Names;
use super::own_form;
use super::rows::{load_item, read_json, time};
use super::usage::usage;
use crate::error::{Result, StoreError};
use crate::read::{TaskDetail, TaskRow};
use crate::tx::Tx;
use crate::value::{Row, params};
use crate::work::WritingCall;
use selkie_domain::facts::Mode;
use selkie_domain::ids::TaskId;
use selkie_domain::question::Person;
use selkie_domain::task::TaskState;

/// How much of what was asked is shown in a list, in characters.
const ASKED: usize = 200;

/// Tasks `t`, with what follows their columns.
macro_rules! task {
    ($rest:literal) => {
        concat!(
            "SELECT t.id, c.account, c.key, t.state, t.why, t.attempts, t.calls, t.input,
                    t.cached, t.output, t.micro_usd, t.created_at, t.ended_at,
                    (SELECT inbound FROM inbox i
                     WHERE i.task = t.id AND i.disposition = 'task' ORDER BY i.ord, i.id LIMIT 1),
                    t.facts, t.header, (SELECT place FROM whereabouts WHERE id = t.whereabouts), c.plan,
                    (SELECT text FROM task_words w WHERE w.task = t.id), c.title,
                    (SELECT person FROM task_words w WHERE w.task = t.id),
                    (SELECT name FROM task_words w WHERE w.task = t.id), t.cause
             FROM task t JOIN conversation c ON c.id = t.conversation ",
            $rest
        )
    };
}

/// Lists tasks, newest first.
pub fn list(tx: &mut dyn Tx, of: Option<&ConversationId>, most: usize) -> Result<Vec<TaskRow>> {
    let Some(of) = of else {
        let rows = tx.all(task!("ORDER BY t.id DESC LIMIT ?1"), params![most], caused_row)?;
        return named(tx, rows);
    };
    let Some(conversation) = conversations::find(tx, of)? else { return Ok(Vec::new()) };
    let rows = tx.all(
        task!(
            "WHERE t.id IN (SELECT id FROM task WHERE conversation = ?1 AND finish IS NOT NULL
                 UNION ALL SELECT id FROM task WHERE conversation = ?1 AND state = 'running'
                 UNION ALL SELECT id FROM task WHERE conversation = ?1 AND state = 'waiting'
                 UNION ALL SELECT id FROM task WHERE conversation = ?1 AND state = 'parked')
             ORDER BY t.id DESC LIMIT ?2"
        ),
        params![conversation, most],
        caused_row,
    )?;
    named(tx, rows)
}

/// A task and the key of its cause.
type TaskCause = (TaskRow, String);

fn caused_row(row: &dyn Row) -> Result<TaskCause> {
    Ok((task_row(row)?, row.get(22)?))
}

/// Names the schedules that tasks come from.
fn named(tx: &mut dyn Tx, rows: Vec<TaskCause>) -> Result<Vec<TaskRow>> {
    let mut names = Names::default();
    let mut tasks = Vec::with_capacity(rows.len());
    for (row, cause) in rows {
        tasks.push(TaskRow { schedule: names.behind(tx, &cause)?, ..row });
    }
    Ok(tasks)
}

/// What a message asks.
#[derive(Deserialize)]
struct MessageQuery {
    #[serde(default)]
    text: String,
    /// A command that is none of ours; `text` holds its arguments alone.
    #[serde(default)]
    command: Option<Command>,
    #[serde(default)]
    speaker: Option<Speaker>,
}

/// Who asks it.
#[derive(Deserialize)]
struct Speaker {
    id: PersonId,
    #[serde(default)]
    name: String,
}

fn task_row(row: &dyn Row) -> Result<TaskRow> {
    let state: &str = row.get(3)?;
    let id: i64 = row.get(0)?;
    let account = AccountId::new(row.get::<&str>(1)?);
    let asked: Option<MessageQuery> =
        row.get::<Option<&str>>(13)?.and_then(|text| serde_json::from_str(text).ok());
    let person = |speaker: Speaker| Person { id: speaker.id, name: speaker.name };
    let (asked, who) = match asked {
        Some(message) => {
            let text = message.command.map_or(message.text, |command| command.written());
            (text, message.speaker.map(person))
        }
        None => (row.get::<Option<String>>(18)?.unwrap_or_default(), whose_words(row)?),
    };
    Ok(TaskRow {
        id: TaskId(id),
        conversation: ConversationId::new(account, row.get::<&str>(2)?),
        state: TaskState::parse(state)
            .ok_or_else(|| StoreError::Corrupt(format!("task {id} has the state {state:?}")))?,
        why: row.get(4)?,
        attempts: row.get(5)?,
        usage: usage(row, 6)?,
        created_at: time(row.get(11)?),
        ended_at: row.get::<Option<i64>>(12)?.map(time),
        asked: asked.chars().take(ASKED).collect(),
        who,
        title: row.get(19)?,
        schedule: None,
    })
}

/// Whose own words a task has, if it has any.
fn whose_words(row: &dyn Row) -> Result<Option<Person>> {
    let Some(id) = row.get::<Option<&str>>(20)? else { return Ok(None) };
    let name = row.get::<Option<String>>(21)?.unwrap_or_default();
    Ok(Some(Person { id: PersonId::new(id), name }))
}

/// Returns one task with its transcript.
pub fn detail(tx: &mut dyn Tx, id: i64) -> Result<Option<TaskDetail>> {
    let found = tx.optional(task!("WHERE t.id = ?1"), params![id], |row| {
        let raw: RawFacts = (row.get(14)?, row.get(16)?);
        let mut facts = facts::read(id, &raw)?;
        // Not begun yet: it will be in the mode that the conversation is in.
        if row.get::<&str>(3)? == "waiting" {
            facts.mode = if row.get(17)? { Mode::Plan } else { Mode::Normal };
        }
        Ok((caused_row(row)?, facts, row.get::<Option<String>>(15)?))
    })?;
    let Some(((row, cause), facts, header)) = found else { return Ok(None) };
    let row = TaskRow { schedule: Names::default().behind(tx, &cause)?, ..row };
    let items: Vec<StoredItem> = tx.all(
        "SELECT v, item, used FROM transcript WHERE task = ?1 ORDER BY seq",
        params![id],
        |row| Ok(StoredItem { v: row.get(0)?, text: row.get(1)?, used: row.get(2)? }),
    )?;
    let names = model_calls::Names::read(tx)?;
    let total = row.usage;
    let used = items.iter().map(|item| names.call(item.used.as_deref()?, total));
    let model_calls =
        used.enumerate().filter_map(|(item, call)| Some(WritingCall { item, call: call? }));
    Ok(Some(TaskDetail {
        row,
        facts,
        header: header.map(|text| read_json("header", id, &text)).transpose()?,
        model_calls: model_calls.collect(),
        own_forms: own_form::sizes(tx, id)?,
        transcript: items
            .iter()
            .map(|one| load_item(id, one.v, &one.text))
            .collect::<Result<_>>()?,
    }))
}

/// An item of a transcript and what its model's call has used.
struct StoredItem {
    v: u16,
    text: String,
    used: Option<String>,
}
