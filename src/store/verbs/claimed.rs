//! All that a worker needs of a claimed task, gathered on the writer and read off it.

use selkie_channel_core::{AccountId, ConversationId, PlaceId};
use serde::Deserialize;

use super::approvals::{self, RawApproval};
use super::facts::{self, RawFacts};
use super::history::{self, HISTORY, RawHistory, RawItem};
use super::questions::{self, RawQuestion};
use super::rows::{load, load_item};
use super::texts;
use super::words;
use crate::domain::facts::{Facts, Mode};
use crate::domain::ids::{InboxId, Instance, TaskId};
use crate::domain::task::Claim;
use crate::domain::words::Words;
use crate::store::error::Result;
use crate::store::question::Settled;
use crate::store::tx::{Query, Tx, into};
use crate::store::value::{Row, params};
use crate::store::work::Claimed;

/// How many untriggered lines a claim is handed.
const CONTEXT: i64 = 30;
/// How many undelivered answers a claim is told of.
const UNDELIVERED: i64 = 16;

/// A claimed task as it is stored: parsed by whoever asked, not by the writer.
#[derive(Debug)]
pub struct RawClaimed {
    task: i64,
    number: i64,
    instance: String,
    account: String,
    key: String,
    place: String,
    conversation: i64,
    workspace: Option<String>,
    place_row: i64,
    epoch: i64,
    attempts: u32,
    facts: RawFacts,
    header: Option<String>,
    heard: Vec<(i64, String)>,
    words: Option<Words>,
    context: Vec<(i64, String)>,
    items: Vec<RawItem>,
    history: RawHistory,
    undelivered: Vec<String>,
    plan: bool,
    settled: Option<(RawQuestion, Option<(i64, String)>)>,
    approval: Option<RawApproval>,
    open: Vec<RawQuestion>,
}

/// The messages of a task.
const HEARD: &str = "SELECT ord, id, inbound FROM inbox WHERE task = ?1
     AND (disposition = 'task' OR disposition LIKE 'absorbed%')";
/// Which kinds of untriggered lines wait that nobody was told of. Most tasks have none, and to look costs less than to
/// update nothing.
const UNTOLD: &str = "SELECT 'context' WHERE EXISTS (SELECT 1 FROM inbox
         WHERE conversation = ?1 AND disposition = 'context' AND task IS NULL)
     UNION ALL SELECT 'gate' WHERE EXISTS (SELECT 1 FROM inbox
         WHERE conversation = ?1 AND disposition = 'gate' AND task IS NULL)";
/// The newest untriggered lines of a task.
const LINES: &str =
    "SELECT id, inbound FROM inbox WHERE task = ?1 AND disposition IN ('context', 'gate')
     ORDER BY ord DESC, id DESC LIMIT ?2";
/// Whether answers did not arrive that this task is told of.
const UNDELIVERED_ANY: &str =
    "SELECT 1 FROM part WHERE conversation = ?1 AND told IN (0, ?2) LIMIT 1";

/// Gathers a task that was just claimed, and marks what its worker is told as told.
pub fn gather(tx: &mut dyn Tx, task: i64) -> Result<RawClaimed> {
    let mut raw = header(tx, task)?;
    let here = raw.conversation;
    let (mut heard, mut untold, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let (mut tasks, mut rows, mut told) = (Vec::new(), Vec::new(), Vec::new());
    let (of_task, of_here) = (params![task], params![here]);
    let newest = params![here, raw.epoch, HISTORY];
    tx.query_all(&mut [
        Query { sql: HEARD, params: of_task, each: &mut into(&mut heard, message) },
        Query { sql: UNTOLD, params: of_here, each: &mut into(&mut untold, kind) },
        Query { sql: LINES, params: params![task, CONTEXT], each: &mut into(&mut lines, line) },
        Query {
            sql: history::ITEMS,
            params: of_task,
            each: &mut into(&mut raw.items, history::item),
        },
        Query {
            sql: history::FINISHED,
            params: newest,
            each: &mut into(&mut tasks, history::finished_task),
        },
        Query {
            sql: history::TRANSCRIPTS,
            params: newest,
            each: &mut into(&mut rows, history::placed_item),
        },
        Query {
            sql: UNDELIVERED_ANY,
            params: params![here, task],
            each: &mut into(&mut told, |row| row.get::<i64>(0)),
        },
        Query {
            sql: questions::OPEN_HERE,
            params: of_here,
            each: &mut into(&mut raw.open, RawQuestion::from_row),
        },
    ])?;
    heard.sort_unstable_by_key(|(order, id, _)| (*order, *id));
    raw.heard = heard.into_iter().map(|(_, id, text)| (id, text)).collect();
    // A task of a message has one: only others are looked for words of their own.
    if raw.heard.is_empty() {
        raw.words = words::of_task(tx, task)?;
    }
    raw.context = context(tx, &raw, &untold, lines)?;
    raw.history = RawHistory::of(&tasks, rows);
    if !told.is_empty() {
        raw.undelivered = undelivered(tx, &raw)?;
    }
    raw.open.retain(|question| question.task != task);
    // Only a run that was stored can have asked.
    if raw.header.is_some() {
        raw.settled = questions::settled(tx, task)?;
        raw.approval = approvals::newest(tx, task)?;
    }
    Ok(raw)
}

/// A message with the platform's order.
fn message(row: &dyn Row) -> Result<(i64, i64, String)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

fn line(row: &dyn Row) -> Result<(i64, String)> {
    Ok((row.get(0)?, row.get(1)?))
}

fn kind(row: &dyn Row) -> Result<String> {
    row.get(0)
}

fn header(tx: &mut dyn Tx, task: i64) -> Result<RawClaimed> {
    let (mut raw, album) = tx.one(
        "SELECT t.id, t.claim, t.instance, c.account, c.key, c.place, c.id, t.epoch, t.attempts,
                t.facts, t.header, c.plan,
                (SELECT MIN(id) FROM conversation WHERE account = c.account AND place = c.place),
                (SELECT place FROM whereabouts WHERE id = t.whereabouts), t.album,
                (SELECT path FROM workspace w WHERE w.account = c.account AND w.place = c.place)
         FROM task t JOIN conversation c ON c.id = t.conversation WHERE t.id = ?1",
        params![task],
        |row| {
            let raw = RawClaimed {
                task: row.get(0)?,
                number: row.get(1)?,
                instance: row.get(2)?,
                account: row.get(3)?,
                key: row.get(4)?,
                place: row.get(5)?,
                conversation: row.get(6)?,
                workspace: row.get(15)?,
                epoch: row.get(7)?,
                attempts: row.get(8)?,
                facts: (row.get(9)?, row.get(13)?),
                header: row.get(10)?,
                place_row: row.get(12)?,
                heard: Vec::new(),
                words: None,
                context: Vec::new(),
                items: Vec::new(),
                history: RawHistory::default(),
                undelivered: Vec::new(),
                plan: row.get(11)?,
                settled: None,
                approval: None,
                open: Vec::new(),
            };
            Ok((raw, row.get::<Option<String>>(14)?))
        },
    )?;
    mode_of_now(tx, &mut raw)?;
    if let Some(album) = album {
        complete_album(tx, &raw, &album)?;
    }
    Ok(raw)
}

/// The task is shaped in the conversation's mode of now: its facts say so, for who looks at it later.
fn mode_of_now(tx: &mut dyn Tx, raw: &mut RawClaimed) -> Result<()> {
    let mode = if raw.plan { "plan" } else { "normal" };
    if facts::mode(&raw.facts.0).is_none_or(|before| before == mode) {
        return Ok(());
    }
    let Some(facts) = texts::with_mode(&raw.facts.0, mode) else { return Ok(()) };
    let sql = "UPDATE task SET facts = ?2 WHERE id = ?1";
    tx.execute_later(sql, params![raw.task, &facts])?;
    raw.facts.0 = facts;
    Ok(())
}

/// In a group only the picture with the caption means the bot: the others of its album, stored beside it
/// as untriggered, belong to the task too.
fn complete_album(tx: &mut dyn Tx, raw: &RawClaimed, album: &str) -> Result<()> {
    tx.execute_later(
        "UPDATE inbox SET task = ?1, disposition = 'task'
         WHERE conversation = ?2 AND album = ?3 AND task IS NULL
           AND disposition IN ('context', 'gate', 'ignored: untriggered')",
        params![raw.task, raw.conversation, album],
    )
}

/// Untriggered lines nobody was told of yet become this task's; it gets the newest of its own. Lines that still
/// wait for the gate are shown, too: what a person says next may mean them.
fn context(
    tx: &mut dyn Tx,
    raw: &RawClaimed,
    untold: &[String],
    mut lines: Vec<(i64, String)>,
) -> Result<Vec<(i64, String)>> {
    for kind in untold {
        let takes = match kind.as_str() {
            "context" => {
                "UPDATE inbox SET task = ?2 WHERE conversation = ?1 AND disposition = 'context' AND task IS NULL"
            }
            _ => {
                "UPDATE inbox SET task = ?2 WHERE conversation = ?1 AND disposition = 'gate' AND task IS NULL"
            }
        };
        tx.execute_later(takes, params![raw.conversation, raw.task])?;
    }
    if !untold.is_empty() {
        lines = tx.all(LINES, params![raw.task, CONTEXT], line)?;
    }
    lines.reverse();
    Ok(lines)
}

/// Marks undelivered answers as told, and reads them.
fn undelivered(tx: &mut dyn Tx, raw: &RawClaimed) -> Result<Vec<String>> {
    let by = params![raw.conversation, raw.task];
    tx.execute_later("UPDATE part SET told = ?2 WHERE conversation = ?1 AND told = 0", by)?;
    let mut calls: Vec<String> = tx.column(
        "SELECT r.text FROM part p JOIN rendered r ON r.part = p.id
         WHERE p.conversation = ?1 AND p.told = ?2 ORDER BY p.id DESC LIMIT ?3",
        params![raw.conversation, raw.task, UNDELIVERED],
    )?;
    calls.reverse();
    Ok(calls
        .iter()
        .filter_map(|call| serde_json::from_str::<Shown>(call).ok())
        .map(|c| c.shown)
        .collect())
}

/// What a part's call shows a person.
#[derive(Deserialize)]
struct Shown {
    shown: String,
}

impl RawClaimed {
    /// Returns the task and the number of the claim.
    pub fn named(&self) -> (i64, i64) {
        (self.task, self.number)
    }

    /// Reads the stored texts.
    ///
    /// # Errors
    /// `Corrupt` when one of the task's own rows cannot be read; an unreadable row of the history or
    /// of the context is left out, so that an old defect does not silence a conversation.
    pub fn read(self) -> Result<Claimed> {
        let account = AccountId::new(self.account);
        let mut heard = Vec::with_capacity(self.heard.len());
        for (row, text) in &self.heard {
            heard.push((InboxId(*row), load(*row, text)?));
        }
        let mut transcript = Vec::with_capacity(self.items.len());
        for (task, v, text) in &self.items {
            transcript.push(load_item(*task, *v, text)?);
        }
        let settled = match self.settled {
            Some((question, by)) => Some(Settled {
                question: question.read()?,
                by: by.map(|(row, text)| load(row, &text)).transpose()?,
            }),
            None => None,
        };
        Ok(Claimed {
            claim: Claim {
                task: TaskId(self.task),
                number: self.number,
                instance: Instance(self.instance),
            },
            conversation: ConversationId::new(account.clone(), self.key),
            place: PlaceId::new(account, self.place),
            conversation_row: self.conversation,
            workspace: self.workspace,
            place_row: self.place_row,
            attempts: self.attempts,
            facts: Facts {
                mode: if self.plan { Mode::Plan } else { Mode::Normal },
                ..facts::read(self.task, &self.facts)?
            },
            reshaped: false,
            heard,
            words: self.words,
            context: history::readable(self.context.iter().map(|(row, text)| load(*row, text))),
            header: self.header,
            transcript,
            history: history::read(&self.history.items),
            asked_by: self.history.asked_by,
            undelivered: self.undelivered,
            settled: settled.map(Box::new),
            approval: self.approval.map(RawApproval::read).transpose()?.map(Box::new),
            open: history::readable(self.open.into_iter().map(RawQuestion::read)),
        })
    }
}
