//! All that a worker needs of a claimed task, gathered on the writer and read off it.

use rusqlite::{Connection, OptionalExtension, params};
use selkie_channel_core::{AccountId, ConversationId, PlaceId};

use super::facts::{self, RawFacts};
use super::notes;
use super::questions::{self, RawQuestion};
use super::rows::{load, load_item};
use crate::domain::facts::{Facts, Trust};
use crate::domain::ids::{Boot, InboxId, TaskId};
use crate::domain::task::Claim;
use crate::domain::transcript::Item;
use crate::store::{Claimed, Result, Settled};

/// How many untriggered lines a claim is handed.
const CONTEXT: usize = 30;
/// How many finished tasks make the history.
pub const HISTORY: i64 = 16;
/// How far apart in the inbox the pictures of one album may stand.
const ALBUM: i64 = 100;
/// How many undelivered answers a claim is told of.
const UNDELIVERED: i64 = 16;

/// A claimed task as it is stored: parsed by whoever asked, not by the writer.
#[derive(Debug)]
pub struct RawClaimed {
    task: i64,
    number: i64,
    boot: String,
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
    context: Vec<(i64, String)>,
    items: Vec<RawItem>,
    history: Vec<RawItem>,
    /// The least trust in whom those of the history asked.
    asked_by: Option<Trust>,
    undelivered: Vec<String>,
    plan: bool,
    settled: Option<(RawQuestion, Option<(i64, String)>)>,
    open: Vec<RawQuestion>,
}

/// A transcript row: its task, its layout, its text.
pub type RawItem = (i64, u16, String);

/// Gathers a task that was just claimed, and marks what its worker is told as told.
pub fn gather(conn: &Connection, task: i64) -> Result<RawClaimed> {
    let mut raw = header(conn, task)?;
    complete_album(conn, task)?;
    raw.heard = heard(conn, task)?;
    raw.workspace = super::notes::workspace(conn, raw.conversation)?;
    raw.context = context(conn, &raw)?;
    items(conn, task, &mut raw.items)?;
    (raw.history, raw.asked_by) = finished(conn, (raw.conversation, raw.epoch), HISTORY)?;
    raw.undelivered = undelivered(conn, &raw)?;
    // Only a run that was stored can have asked.
    if raw.header.is_some() {
        raw.settled = questions::settled(conn, task)?;
    }
    raw.open = questions::of_others(conn, raw.conversation, task)?;
    Ok(raw)
}

/// Returns the messages of a task in the platform's order.
fn heard(conn: &Connection, task: i64) -> Result<Vec<(i64, String)>> {
    let mut heard: Vec<(i64, i64, String)> = conn
        .prepare_cached(
            "SELECT ord, id, inbound FROM inbox WHERE task = ?1
                 AND (disposition = 'task' OR disposition GLOB 'absorbed*')",
        )?
        .query_map([task], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    heard.sort_unstable_by_key(|(order, id, _)| (*order, *id));
    Ok(heard.into_iter().map(|(_, id, text)| (id, text)).collect())
}

/// Returns the items of the newest finished tasks of a conversation and epoch, oldest first, and the least
/// trust in whom those tasks asked; `None` without a history.
pub fn finished(
    conn: &Connection,
    (conversation, epoch): (i64, i64),
    most: i64,
) -> Result<(Vec<RawItem>, Option<Trust>)> {
    let tasks: Vec<(i64, Option<String>)> = conn
        .prepare_cached(
            "SELECT id, CASE WHEN json_valid(facts) THEN facts ->> '$.trust' END FROM task
             WHERE conversation = ?1 AND epoch = ?2 AND finish NOT NULL ORDER BY finish DESC LIMIT ?3",
        )?
        .query_map([conversation, epoch, most], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut history = Vec::new();
    for (task, _) in tasks.iter().rev() {
        items(conn, *task, &mut history)?;
    }
    // Whoever cannot be read is nobody we know.
    let trust = |name: &str| Trust::parse(name).unwrap_or(Trust::Stranger);
    let asked_by = tasks.iter().map(|(_, name)| trust(name.as_deref().unwrap_or_default())).min();
    Ok((history, asked_by))
}

/// The task is shaped in the conversation's mode of now: its facts say so, for who looks at it later.
fn mode_of_now(conn: &Connection, raw: &mut RawClaimed) -> Result<()> {
    let mode = if raw.plan { "plan" } else { "normal" };
    let sql = "UPDATE task SET facts = json_set(facts, '$.mode', ?2) WHERE id = ?1 RETURNING facts";
    raw.facts.0 = conn.prepare_cached(sql)?.query_row(params![raw.task, mode], |row| row.get(0))?;
    Ok(())
}

fn header(conn: &Connection, task: i64) -> Result<RawClaimed> {
    let (mut raw, is_other) = conn
        .prepare_cached(
            "SELECT t.id, t.claim, t.boot, c.account, c.key, c.place, c.id, t.epoch, t.attempts,
                    t.facts, t.header, c.plan,
                    (SELECT MIN(id) FROM conversation WHERE account = c.account AND place = c.place),
                    (SELECT place FROM whereabouts WHERE id = t.whereabouts),
                    CASE WHEN json_valid(t.facts)
                        THEN t.facts ->> '$.mode' <> IIF(c.plan, 'plan', 'normal') END
             FROM task t JOIN conversation c ON c.id = t.conversation WHERE t.id = ?1",
        )?
        .query_row([task], |row| {
            let is_other = row.get::<_, Option<bool>>(14)?.unwrap_or_default();
            let raw = RawClaimed {
                task: row.get(0)?,
                number: row.get(1)?,
                boot: row.get(2)?,
                account: row.get(3)?,
                key: row.get(4)?,
                place: row.get(5)?,
                conversation: row.get(6)?,
                workspace: None,
                epoch: row.get(7)?,
                attempts: row.get(8)?,
                facts: (row.get(9)?, row.get(13)?),
                header: row.get(10)?,
                place_row: row.get(12)?,
                heard: Vec::new(),
                context: Vec::new(),
                items: Vec::new(),
                history: Vec::new(),
                asked_by: None,
                undelivered: Vec::new(),
                plan: row.get(11)?,
                settled: None,
                open: Vec::new(),
            };
            Ok((raw, is_other))
        })?;
    if is_other {
        mode_of_now(conn, &mut raw)?;
    }
    Ok(raw)
}

/// In a group only the picture with the caption means the bot: the others of its album, stored beside it
/// as untriggered, belong to the task too.
fn complete_album(conn: &Connection, task: i64) -> Result<()> {
    let album = conn
        .prepare_cached("SELECT 1 FROM task WHERE id = ?1 AND album IS NOT NULL")?
        .exists([task])?;
    if !album {
        return Ok(());
    }
    conn.prepare_cached(
        "UPDATE inbox SET task = ?1, disposition = 'task'
         FROM (SELECT t.conversation, t.album, MIN(i.id) AS first FROM task t
               JOIN inbox i ON i.task = t.id WHERE t.id = ?1 AND t.album NOT NULL GROUP BY t.id) asked
         WHERE inbox.id BETWEEN asked.first - ?2 AND asked.first + ?2
           AND inbox.conversation = asked.conversation AND inbox.task IS NULL
           AND inbox.disposition IN ('context', 'gate', 'ignored: untriggered')
           AND inbox.inbound ->> '$.album' = asked.album",
    )?
    .execute([task, ALBUM])?;
    Ok(())
}

/// Untriggered lines nobody was told of yet become this task's; it gets the newest of its own. Lines that still
/// wait for the gate are shown, too: what a person says next may mean them.
fn context(conn: &Connection, raw: &RawClaimed) -> Result<Vec<(i64, String)>> {
    // Most tasks have none, and to look costs less than to update nothing.
    let waits = [
        "SELECT 1 FROM inbox WHERE conversation = ?1 AND disposition = 'context' AND task IS NULL",
        "SELECT 1 FROM inbox WHERE conversation = ?1 AND disposition = 'gate' AND task IS NULL",
    ];
    let takes = [
        "UPDATE inbox SET task = ?2 WHERE conversation = ?1 AND disposition = 'context' AND task IS NULL",
        "UPDATE inbox SET task = ?2 WHERE conversation = ?1 AND disposition = 'gate' AND task IS NULL",
    ];
    for (waits, takes) in waits.into_iter().zip(takes) {
        if conn.prepare_cached(waits)?.exists([raw.conversation])? {
            conn.prepare_cached(takes)?.execute([raw.conversation, raw.task])?;
        }
    }
    let has = "SELECT 1 FROM inbox WHERE task = ?1 AND disposition IN ('context', 'gate')";
    if !conn.prepare_cached(has)?.exists([raw.task])? {
        return Ok(Vec::new());
    }
    let mut lines: Vec<(i64, String)> = conn
        .prepare_cached(
            "SELECT id, inbound FROM inbox WHERE task = ?1 AND disposition IN ('context', 'gate')
             ORDER BY ord DESC, id DESC LIMIT ?2",
        )?
        .query_map(params![raw.task, CONTEXT as i64], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    lines.reverse();
    Ok(lines)
}

/// Adds the transcript of a task.
fn items(conn: &Connection, task: i64, to: &mut Vec<RawItem>) -> Result<()> {
    let mut statement =
        conn.prepare_cached("SELECT task, v, item FROM transcript WHERE task = ?1 ORDER BY seq")?;
    for item in statement.query_map([task], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))? {
        to.push(item?);
    }
    Ok(())
}

fn undelivered(conn: &Connection, raw: &RawClaimed) -> Result<Vec<String>> {
    let by = params![raw.conversation, raw.task];
    let any: Option<i64> = conn
        .prepare_cached("SELECT id FROM part WHERE conversation = ?1 AND told IN (0, ?2) LIMIT 1")?
        .query_row(by, |row| row.get(0))
        .optional()?;
    if any.is_none() {
        return Ok(Vec::new());
    }
    conn.prepare_cached("UPDATE part SET told = ?2 WHERE conversation = ?1 AND told = 0")?
        .execute(by)?;
    let mut said: Vec<String> = conn
        .prepare_cached(
            "SELECT r.text ->> '$.shown' FROM part p JOIN rendered r ON r.part = p.id
             WHERE p.conversation = ?1 AND p.told = ?2 ORDER BY p.id DESC LIMIT ?3",
        )?
        .query_map([raw.conversation, raw.task, UNDELIVERED], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    said.reverse();
    Ok(said)
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
            claim: Claim { task: TaskId(self.task), number: self.number, boot: Boot(self.boot) },
            conversation: ConversationId::new(account.clone(), self.key),
            place: PlaceId::new(account, self.place),
            conversation_row: self.conversation,
            workspace: self.workspace,
            place_row: self.place_row,
            attempts: self.attempts,
            facts: Facts { mode: notes::mode(self.plan), ..facts::read(self.task, &self.facts)? },
            heard,
            context: readable(self.context.iter().map(|(row, text)| load(*row, text))),
            header: self.header,
            transcript,
            history: history(&self.history),
            asked_by: self.asked_by,
            undelivered: self.undelivered,
            settled: settled.map(Box::new),
            open: readable(self.open.into_iter().map(RawQuestion::read)),
        })
    }
}

/// Reads items task by task; what cannot be read is left out.
pub fn history(rows: &[RawItem]) -> Vec<Vec<Item>> {
    rows.chunk_by(|a, b| a.0 == b.0)
        .map(|rows| readable(rows.iter().map(|(task, v, text)| load_item(*task, *v, text))))
        .collect()
}

/// Keeps what can be read.
pub fn readable<T>(rows: impl Iterator<Item = Result<T>>) -> Vec<T> {
    rows.filter_map(|row| row.inspect_err(|e| tracing::error!(error = %e, "left out")).ok())
        .collect()
}
