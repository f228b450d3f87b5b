//! Lines that wait for the gate: the verbs of [`Gate`].

use std::ops::ControlFlow;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, Inbound, PlaceId};
use serde::Deserialize;

use super::history::{self, RawHistory, readable};
use super::rows::load;
use super::usage::spend;
use super::{conversations, facts, lanes, locks, tasks};
use crate::arrival::NewTask;
use crate::error::Result;
use crate::gate::{AtGate, Gate, GateVerdict};
use crate::sql::{Plan, SqlLedger};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::InboxId;
use selkie_domain::task::Lane;

/// The newest waiting lines that are read.
const LINES: usize = 200;
/// The newest untriggered lines that are read beside them.
const CONTEXT: i64 = 20;
/// The newest finished tasks that are read beside them.
const HISTORY: i64 = 4;

#[async_trait]
impl Gate for SqlLedger {
    async fn knocking(&self) -> Result<Vec<ConversationId>> {
        let names: Vec<String> = self
            .write(Plan::RELAXED, |tx| {
                tx.column(
                    "SELECT account || '|' || key FROM conversation WHERE id IN
                         (SELECT conversation FROM inbox WHERE disposition = 'gate') ORDER BY id",
                    params![],
                )
            })
            .await?;
        Ok(names.iter().filter_map(|name| ConversationId::from_full(name)).collect())
    }

    async fn at_gate(&self, conversation: &ConversationId) -> Result<Option<AtGate>> {
        let id = conversation.clone();
        let plan = Plan::RELAXED.after(&conversation.full());
        let raw = self.write(plan, move |tx| waiting(tx, &id)).await?;
        raw.map(|raw| raw.read(conversation)).transpose()
    }

    async fn judge(&self, judged: GateVerdict) -> Result<Option<Lane>> {
        let passed = judged.passed.as_ref();
        let facts = passed.map(|(_, new)| facts::FactsText::new(&new.facts)).transpose()?;
        let bytes = facts.as_ref().map_or(0, facts::FactsText::bytes);
        let now = self.now();
        let plan = Plan::RELAXED.bytes(bytes).after(&judged.conversation.full());
        self.write(plan, move |tx| judge(tx, &judged, facts.as_ref(), now)).await
    }

    async fn bots_in_a_row(&self, conversation: &ConversationId, most: u32) -> Result<u32> {
        let id = conversation.clone();
        let plan = Plan::RELAXED.after(&conversation.full());
        self.write(plan, move |tx| bots_in_a_row(tx, &id, most)).await
    }
}

/// What waits, as it is stored.
struct Raw {
    row: i64,
    place: String,
    /// All lines that wait, and the texts of the newest.
    rows: Vec<i64>,
    lines: Vec<(i64, String)>,
    history: RawHistory,
    context: Vec<String>,
}

impl Raw {
    /// Reads the stored texts. A line that cannot be read is left out, and goes with the others.
    fn read(self, conversation: &ConversationId) -> Result<AtGate> {
        let line = |(row, text): &(i64, String)| Ok((InboxId(*row), load::<Inbound>(*row, text)?));
        Ok(AtGate {
            place: PlaceId::new(conversation.account().clone(), self.place),
            conversation_row: self.row,
            rows: self.rows.into_iter().map(InboxId).collect(),
            lines: readable(self.lines.iter().map(line)),
            history: history::read(&self.history.items),
            context: readable(self.context.iter().map(|text| load(self.row, text))),
        })
    }
}

fn waiting(tx: &mut dyn Tx, id: &ConversationId) -> Result<Option<Raw>> {
    let Some(row) = conversations::find(tx, id)? else { return Ok(None) };
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    tx.query(
        "SELECT id, inbound FROM inbox WHERE conversation = ?1 AND disposition = 'gate'
         ORDER BY id DESC",
        params![row],
        &mut |line| {
            rows.push(line.get(0)?);
            if lines.len() < LINES {
                lines.push((line.get(0)?, line.get(1)?));
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    if lines.is_empty() {
        return Ok(None);
    }
    lines.reverse();
    let mut context: Vec<String> = tx.column(
        "SELECT inbound FROM inbox WHERE conversation = ?1 AND disposition = 'context'
             AND task IS NULL ORDER BY id DESC LIMIT ?2",
        params![row, CONTEXT],
    )?;
    context.reverse();
    let (place, epoch): (String, i64) =
        tx.one("SELECT place, epoch FROM conversation WHERE id = ?1", params![row], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let history = history::finished(tx, row, epoch, HISTORY)?;
    Ok(Some(Raw { row, place, rows, lines, history, context }))
}

fn judge(
    tx: &mut dyn Tx,
    judged: &GateVerdict,
    facts: Option<&facts::FactsText>,
    now: DateTime<Utc>,
) -> Result<Option<Lane>> {
    locks::named(tx, [&judged.conversation])?;
    let Some(here) = conversations::find(tx, &judged.conversation)? else { return Ok(None) };
    let task = match (&judged.passed, facts) {
        (Some((line, new)), Some(facts)) => {
            let passed = PassedLine { line: *line, new, facts };
            pass(tx, judged, passed, here, now)?
        }
        _ => None,
    };
    if let Some(made) = task {
        spend(tx, made.task, judged.usage)?;
    }
    let becomes = if judged.keep { "context" } else { "ignored: untriggered" };
    // Only what was read: a line that came meanwhile is not judged by it.
    for row in &judged.rows {
        tx.execute_later(
            "UPDATE inbox SET disposition = ?3
             WHERE id = ?2 AND conversation = ?1 AND disposition = 'gate'",
            params![here, row.0, becomes],
        )?;
    }
    match task {
        Some(made) => lanes::ready_name(tx, made.lane, now),
        None => Ok(None),
    }
}

/// The line that passed, and the task that it becomes.
#[derive(Clone, Copy)]
struct PassedLine<'a> {
    line: InboxId,
    new: &'a NewTask,
    facts: &'a facts::FactsText,
}

/// Makes the task of the line that passed, when it still waits.
fn pass(
    tx: &mut dyn Tx,
    judged: &GateVerdict,
    passed: PassedLine<'_>,
    here: i64,
    now: DateTime<Utc>,
) -> Result<Option<tasks::TaskRow>> {
    let PassedLine { line, new, facts } = passed;
    let waits: Option<i64> = tx.first(
        "SELECT ord FROM inbox WHERE id = ?1 AND conversation = ?2 AND disposition = 'gate'",
        params![line.0, here],
    )?;
    let Some(order) = waits else { return Ok(None) };
    let lane = lanes::of_conversation(tx, here)?;
    let account = judged.conversation.account().as_str();
    let gathers = new.gathers.as_ref().map(|gathers| gathers.word.as_str());
    let row = tasks::Row {
        account,
        key: None,
        lane,
        order,
        gathers,
        facts,
        whereabouts: None,
        starts: None,
    };
    let made = tasks::make(tx, new, here, &row, now)?;
    tx.execute_later(
        "UPDATE inbox SET disposition = 'task', task = ?2 WHERE id = ?1",
        params![line.0, made.task],
    )?;
    lanes::refresh(tx, made.lane)?;
    Ok(Some(made))
}

/// What is looked at of a message.
#[derive(Deserialize)]
struct Line {
    speaker: Who,
}

#[derive(Deserialize)]
struct Who {
    #[serde(default)]
    is_bot: bool,
}

/// How many of the newest answers in a row were to other programs alone.
fn bots_in_a_row(tx: &mut dyn Tx, id: &ConversationId, most: u32) -> Result<u32> {
    let Some(row) = conversations::find(tx, id)? else { return Ok(0) };
    let mut in_a_row = 0;
    let mut at: Option<i64> = None;
    tx.query(
        "SELECT t.finish, i.inbound FROM
             (SELECT id, finish FROM task WHERE conversation = ?1
                  AND epoch = (SELECT epoch FROM conversation WHERE id = ?1)
                  AND finish IS NOT NULL AND state = 'done' ORDER BY finish DESC LIMIT ?2) t
         LEFT JOIN inbox i ON i.task = t.id AND i.disposition IN ('task', 'context', 'gate')
         ORDER BY t.finish DESC",
        params![row, most],
        &mut |row| {
            let finish: i64 = row.get(0)?;
            let line: Option<&str> = row.get(1)?;
            let is_bot = |text| serde_json::from_str::<Line>(text).is_ok_and(|l| l.speaker.is_bot);
            if !line.is_none_or(is_bot) {
                // The task that this line belongs to was begun to be counted.
                in_a_row -= u32::from(at == Some(finish));
                return Ok(ControlFlow::Break(()));
            }
            in_a_row += u32::from(at != Some(finish));
            at = Some(finish);
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(in_a_row)
}
