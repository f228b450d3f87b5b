//! Lines that wait for the gate: the verbs of [`Gate`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::{ConversationId, Inbound, PlaceId};

use super::claimed::{self, RawItem};
use super::rows::load;
use super::writer::Class;
use super::{Sqlite, conversations, facts, lanes, run, tasks};
use crate::domain::ids::InboxId;
use crate::domain::task::Lane;
use crate::store::{AtGate, Gate, Judged, NewTask, Result};

/// The newest waiting lines that are read.
const LINES: i64 = 200;
/// The newest untriggered lines that are read beside them.
const CONTEXT: i64 = 20;
/// The newest finished tasks that are read beside them.
const HISTORY: i64 = 4;

#[async_trait]
impl Gate for Sqlite {
    async fn knocking(&self) -> Result<Vec<ConversationId>> {
        let verb = |conn: &Connection| {
            Ok(conn
                .prepare_cached(
                    "SELECT account || '|' || key FROM conversation WHERE id IN
                         (SELECT conversation FROM inbox WHERE disposition = 'gate') ORDER BY id",
                )?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<String>>>()?)
        };
        let names = self.writer.run(Class::Relaxed, 0, verb).await?;
        Ok(names.iter().filter_map(|name| ConversationId::from_full(name)).collect())
    }

    async fn at_gate(&self, conversation: &ConversationId) -> Result<Option<AtGate>> {
        let id = conversation.clone();
        let verb = move |conn: &Connection| waiting(conn, &id);
        let raw = self.writer.run(Class::Relaxed, 0, verb).await?;
        raw.map(|raw| raw.read(conversation)).transpose()
    }

    async fn judge(&self, judged: Judged) -> Result<Option<Lane>> {
        let passed = judged.passed.as_ref();
        let facts = passed.map(|(_, new)| facts::Written::new(&new.facts)).transpose()?;
        let (bytes, now) = (facts.as_ref().map_or(0, facts::Written::bytes), self.clock.now());
        let verb = move |conn: &Connection| judge(conn, &judged, facts.as_ref(), now);
        self.writer.run(Class::Relaxed, bytes, verb).await
    }

    async fn bots_in_a_row(&self, conversation: &ConversationId, most: u32) -> Result<u32> {
        let id = conversation.clone();
        let verb = move |conn: &Connection| bots_in_a_row(conn, &id, most);
        self.writer.run(Class::Relaxed, 0, verb).await
    }
}

/// What waits, as it is stored.
struct Raw {
    row: i64,
    place: String,
    lines: Vec<(i64, String)>,
    history: Vec<RawItem>,
    context: Vec<(i64, String)>,
}

impl Raw {
    /// Reads the stored texts. A line that cannot be read is left out, and goes with the others.
    fn read(self, conversation: &ConversationId) -> Result<AtGate> {
        let line = |(row, text): &(i64, String)| Ok((InboxId(*row), load::<Inbound>(*row, text)?));
        Ok(AtGate {
            place: PlaceId::new(conversation.account().clone(), self.place),
            conversation_row: self.row,
            lines: claimed::readable(self.lines.iter().map(line)),
            history: claimed::history(&self.history),
            context: claimed::readable(self.context.iter().map(|(row, text)| load(*row, text))),
        })
    }
}

fn waiting(conn: &Connection, id: &ConversationId) -> Result<Option<Raw>> {
    let Some(row) = conversations::find(conn, id)? else { return Ok(None) };
    let lines = newest(
        conn,
        "SELECT id, inbound FROM inbox WHERE conversation = ?1 AND disposition = 'gate'
         ORDER BY id DESC LIMIT ?2",
        (row, LINES),
    )?;
    if lines.is_empty() {
        return Ok(None);
    }
    let context = newest(
        conn,
        "SELECT id, inbound FROM inbox WHERE conversation = ?1 AND disposition = 'context'
             AND task IS NULL ORDER BY id DESC LIMIT ?2",
        (row, CONTEXT),
    )?;
    let (place, epoch): (String, i64) = conn
        .prepare_cached("SELECT place, epoch FROM conversation WHERE id = ?1")?
        .query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (history, _) = claimed::finished(conn, (row, epoch), HISTORY)?;
    Ok(Some(Raw { row, place, lines, history, context }))
}

fn newest(conn: &Connection, sql: &str, by: (i64, i64)) -> Result<Vec<(i64, String)>> {
    let mut rows: Vec<(i64, String)> = conn
        .prepare_cached(sql)?
        .query_map(by, |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    rows.reverse();
    Ok(rows)
}

fn judge(
    conn: &Connection,
    judged: &Judged,
    facts: Option<&facts::Written>,
    now: DateTime<Utc>,
) -> Result<Option<Lane>> {
    let Some(here) = conversations::find(conn, &judged.conversation)? else { return Ok(None) };
    let task = match judged.passed.as_ref().zip(facts) {
        Some(passed) => pass(conn, judged, passed, (here, now))?,
        None => None,
    };
    if let Some((task, _)) = task {
        run::spend(conn, task, judged.usage)?;
    }
    let becomes = if judged.keep { "context" } else { "ignored: untriggered" };
    conn.prepare_cached(
        "UPDATE inbox SET disposition = ?3
         WHERE conversation = ?1 AND disposition = 'gate' AND id <= ?2",
    )?
    .execute(params![here, judged.upto.0, becomes])?;
    match task {
        Some((_, lane)) => lanes::ready_name(conn, lane, now),
        None => Ok(None),
    }
}

/// Makes the task of the line that passed, when it still waits. Returns it with its lane.
fn pass(
    conn: &Connection,
    judged: &Judged,
    ((line, new), facts): (&(InboxId, NewTask), &facts::Written),
    (here, now): (i64, DateTime<Utc>),
) -> Result<Option<(i64, i64)>> {
    let waits: Option<i64> = conn
        .prepare_cached(
            "SELECT ord FROM inbox WHERE id = ?1 AND conversation = ?2 AND disposition = 'gate'",
        )?
        .query_row([line.0, here], |row| row.get(0))
        .optional()?;
    let Some(order) = waits else { return Ok(None) };
    let lane = lanes::of_conversation(conn, here)?;
    let account = judged.conversation.account().as_str();
    let gathers = new.gathers.as_deref();
    let row = tasks::Row { account, key: None, lane, order, gathers, facts, starts: false };
    let (task, lane, _) = tasks::make(conn, new, here, &row, now)?;
    conn.prepare_cached("UPDATE inbox SET disposition = 'task', task = ?2 WHERE id = ?1")?
        .execute([line.0, task])?;
    lanes::refresh(conn, lane)?;
    Ok(Some((task, lane)))
}

fn bots_in_a_row(conn: &Connection, id: &ConversationId, most: u32) -> Result<u32> {
    let Some(row) = conversations::find(conn, id)? else { return Ok(0) };
    let mut newest = conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM inbox WHERE task = t.id
                        AND disposition IN ('task', 'context', 'gate')
                        AND NOT COALESCE(inbound ->> '$.speaker.is_bot', 0))
         FROM task t WHERE conversation = ?1
             AND epoch = (SELECT epoch FROM conversation WHERE id = ?1)
             AND finish NOT NULL AND state = 'done' ORDER BY finish DESC LIMIT ?2",
    )?;
    let mut rows = newest.query([row, i64::from(most)])?;
    let mut in_a_row = 0;
    while let Some(answer) = rows.next()? {
        if answer.get::<_, bool>(0)? {
            break;
        }
        in_a_row += 1;
    }
    Ok(in_a_row)
}
