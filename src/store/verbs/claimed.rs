//! All that a worker needs of a claimed task, gathered on the writer and read off it.

use std::collections::BTreeMap;

use selkie_channel_core::{AccountId, ConversationId, PlaceId};

use super::approvals::{self, RawApproval};
use super::around::{self, ClaimContext, Claimer, Untold};
use super::child_ends::{self, RawChildEnd};
use super::facts::{self, RawFacts};
use super::history::{self, HISTORY, RawHistory, RawItem};
use super::precheck::Here;
use super::questions::{self, RawQuestion};
use super::rows::{load, load_item};
use super::{chosen, kin, own_form, tasks, texts, words};
use crate::error::Result;
use crate::question::QuestionAnswer;
use crate::tx::{Query, Tx, into};
use crate::value::{Row, params};
use crate::work::TaskClaim;
use selkie_domain::choice::Choice;
use selkie_domain::facts::{Facts, Mode};
use selkie_domain::ids::{InboxId, Instance, TaskId};
use selkie_domain::own_form::OwnForm;
use selkie_domain::task::{Claim, Lane};
use selkie_domain::usage::Usage;
use selkie_domain::words::Words;

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
    items: Vec<RawItem>,
    history: RawHistory,
    told: ClaimContext,
    plan: bool,
    chosen: Choice,
    settled: Option<(RawQuestion, Option<(i64, String)>)>,
    approval: Option<RawApproval>,
    decided_by: Option<(i64, String)>,
    own_forms: BTreeMap<String, OwnForm>,
    has_joined: bool,
    speaks_in: i64,
    is_awaited: bool,
    children: Vec<RawChildEnd>,
    family: Usage,
}

/// The messages of a task.
const HEARD: &str = "SELECT ord, id, inbound FROM inbox WHERE task = ?1
     AND (disposition = 'task' OR disposition LIKE 'absorbed%')";

/// A task that was just made, as running: there is nothing of it but what made it.
#[derive(Debug)]
pub struct New<'a> {
    /// Its row.
    pub task: i64,
    /// Who runs it.
    pub instance: &'a Instance,
    /// Its account.
    pub account: &'a str,
    /// Its conversation, as it was looked at before.
    pub here: Here,
    /// Its facts.
    pub facts: &'a facts::FactsText,
    /// The row of its message.
    pub inbox: InboxId,
    /// What stands there.
    pub text: &'a str,
}

/// Gathers a task that was just made and claimed in one.
pub fn gather_new(tx: &mut dyn Tx, new: New<'_>) -> Result<RawClaimed> {
    let New { task, instance, account, here, facts, inbox, text } = new;
    let who = Claimer { task, conversation: here.row };
    let mut raw = RawClaimed {
        task,
        number: tasks::FIRST_CLAIM,
        instance: instance.0.clone(),
        account: account.to_owned(),
        key: here.key,
        place: here.place,
        conversation: here.row,
        workspace: here.workspace,
        place_row: here.place_row,
        epoch: here.epoch,
        attempts: 1,
        facts: facts.raw(),
        header: None,
        heard: vec![(inbox.0, text.to_owned())],
        words: None,
        items: Vec::new(),
        history: history::finished(tx, here.row, here.epoch, HISTORY)?,
        told: around::tell(tx, who, here.untold)?,
        plan: here.plan,
        chosen: here.chosen,
        settled: None,
        approval: None,
        decided_by: None,
        own_forms: BTreeMap::new(),
        has_joined: false,
        speaks_in: here.row,
        is_awaited: false,
        children: Vec::new(),
        family: Usage::default(),
    };
    mode_of_now(tx, &mut raw)?;
    Ok(raw)
}

/// Gathers a task that was just claimed, and marks what its worker is told as told.
pub fn gather(tx: &mut dyn Tx, task: i64) -> Result<RawClaimed> {
    let Header { mut raw, holds_album, untold } = header(tx, task)?;
    mode_of_now(tx, &mut raw)?;
    if holds_album {
        complete_albums(tx, &raw)?;
    }
    let mut heard = Vec::new();
    let mut history = history::Newest::default();
    tx.query_all(&mut [
        Query { sql: HEARD, params: params![task], each: &mut into(&mut heard, message) },
        Query {
            sql: history::ITEMS,
            params: params![task],
            each: &mut into(&mut raw.items, history::item),
        },
        Query {
            sql: history::NEWEST,
            params: params![raw.conversation, raw.epoch, HISTORY],
            each: &mut |row| history.take(row),
        },
    ])?;
    raw.history = history.put_in_order();
    heard.sort_unstable_by_key(|(order, id, _)| (*order, *id));
    raw.heard = heard.into_iter().map(|(_, id, text)| (id, text)).collect();
    // A task of a message has one: only others are looked for words of their own.
    if raw.heard.is_empty() {
        raw.words = words::of_task(tx, task)?;
    }
    raw.told = around::tell(tx, Claimer { task, conversation: raw.conversation }, untold)?;
    // Only a run that was stored can have asked.
    if raw.header.is_some() {
        raw.settled = questions::settled(tx, task)?;
        raw.approval = approvals::newest(tx, task)?;
        if raw.approval.is_some() {
            raw.decided_by = decided_by(tx, task)?;
        }
        raw.own_forms = own_form::of_task(tx, task)?;
        raw.children = child_ends::ends(tx, task)?;
    }
    if raw.header.is_some() || raw.words.as_ref().is_some_and(|words| words.agent.is_some()) {
        let kin = kin::kin(tx, task)?;
        raw.family = kin::used_by_family(tx, task, kin)?;
    }
    Ok(raw)
}

/// What decided an approval of the task in its own conversation, the newest.
fn decided_by(tx: &mut dyn Tx, task: i64) -> Result<Option<(i64, String)>> {
    tx.optional(
        "SELECT i.id, i.inbound FROM inbox i JOIN task t ON t.id = i.task AND t.conversation = i.conversation
         WHERE i.task = ?1 AND i.disposition IN ('tap', 'answer') AND i.question IS NULL
         ORDER BY i.id DESC LIMIT 1",
        params![task],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// A message with the platform's order.
fn message(row: &dyn Row) -> Result<(i64, i64, String)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

/// A task's row, with what has to be looked for.
struct Header {
    raw: RawClaimed,
    holds_album: bool,
    untold: Untold,
}

fn header(tx: &mut dyn Tx, task: i64) -> Result<Header> {
    tx.one(
        "SELECT t.id, t.claim, t.instance, c.account, c.key, c.place, c.id, t.epoch, t.attempts,
                t.facts, t.header, COALESCE((SELECT p.plan FROM conversation p WHERE p.id = c.parent), c.plan),
                (SELECT MIN(id) FROM conversation WHERE account = c.account AND place = c.place),
                (SELECT place FROM whereabouts WHERE id = t.whereabouts),
                EXISTS (SELECT 1 FROM inbox WHERE task = t.id AND album IS NOT NULL),
                (SELECT path FROM workspace w WHERE w.account = c.account AND w.place = c.place),
                EXISTS (SELECT 1 FROM inbox
                        WHERE conversation = c.id AND disposition = 'context' AND task IS NULL),
                EXISTS (SELECT 1 FROM inbox
                        WHERE conversation = c.id AND disposition = 'gate' AND task IS NULL),
                EXISTS (SELECT 1 FROM inbox WHERE task = t.id AND disposition IN ('context', 'gate')),
                EXISTS (SELECT 1 FROM part
                        WHERE conversation = c.id AND told IS NOT NULL AND told IN (0, t.id)),
                EXISTS (SELECT 1 FROM question WHERE conversation = c.id AND state = 'open'),
                COALESCE(c.model, (SELECT p.model FROM conversation p
                        WHERE p.account = c.account AND p.key = c.place AND c.place <> c.key)),
                COALESCE(c.effort, (SELECT p.effort FROM conversation p
                        WHERE p.account = c.account AND p.key = c.place AND c.place <> c.key)),
                COALESCE(c.agent, (SELECT p.agent FROM conversation p
                        WHERE p.account = c.account AND p.key = c.place AND c.place <> c.key)),
                EXISTS (SELECT 1 FROM task j WHERE j.conversation = c.id AND j.state = 'waiting'
                        AND j.album = 'with:' || CAST(t.id AS TEXT)),
                COALESCE(c.parent, c.id), t.awaited
         FROM task t JOIN conversation c ON c.id = t.conversation WHERE t.id = ?1",
        params![task],
        read_header,
    )
}

fn read_header(row: &dyn Row) -> Result<Header> {
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
        items: Vec::new(),
        history: RawHistory::default(),
        told: ClaimContext::default(),
        plan: row.get(11)?,
        chosen: chosen::read(row, 21)?,
        settled: None,
        approval: None,
        decided_by: None,
        own_forms: BTreeMap::new(),
        has_joined: row.get(24)?,
        speaks_in: row.get(25)?,
        is_awaited: row.get(26)?,
        children: Vec::new(),
        family: Usage::default(),
    };
    let untold = Untold {
        context: row.get(16)?,
        gate: row.get(17)?,
        lines: row.get(18)?,
        undelivered: row.get(19)?,
        asked: row.get(20)?,
    };
    Ok(Header { raw, holds_album: row.get(14)?, untold })
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

/// In a group only the picture with the caption means the bot: the others of its album, stored before it
/// as untriggered, belong to the task too.
fn complete_albums(tx: &mut dyn Tx, raw: &RawClaimed) -> Result<()> {
    tx.execute_later(
        "UPDATE inbox SET task = ?1, disposition = 'task'
         WHERE conversation = ?2 AND task IS NULL
           AND album IN (SELECT album FROM inbox WHERE task = ?1 AND album IS NOT NULL)
           AND disposition IN ('context', 'gate', 'ignored: untriggered')",
        params![raw.task, raw.conversation],
    )
}

/// Reads a question that was asked, and what answered it.
fn read_settled(question: RawQuestion, by: Option<(i64, String)>) -> Result<QuestionAnswer> {
    let by = by.map(|(row, text)| load(row, &text)).transpose()?;
    Ok(QuestionAnswer { question: question.read()?, by })
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
    pub fn read(self) -> Result<TaskClaim> {
        let account = AccountId::new(self.account);
        let mut heard = Vec::with_capacity(self.heard.len());
        for (row, text) in &self.heard {
            heard.push((InboxId(*row), load(*row, text)?));
        }
        let mut transcript = Vec::with_capacity(self.items.len());
        for (task, v, text) in &self.items {
            transcript.push(load_item(*task, *v, text)?);
        }
        let settled = self.settled.map(|(question, by)| read_settled(question, by)).transpose()?;
        let facts = facts::read(self.task, &self.facts)?;
        let own = ConversationId::new(account.clone(), self.key);
        let parent = facts.parent.as_ref().map(|parent| parent.conversation(&account));
        Ok(TaskClaim {
            claim: Claim {
                task: TaskId(self.task),
                number: self.number,
                instance: Instance(self.instance),
            },
            lane: Lane::of(&own),
            conversation: parent.unwrap_or(own),
            place: PlaceId::new(account, self.place),
            conversation_row: self.speaks_in,
            workspace: self.workspace,
            place_row: self.place_row,
            attempts: self.attempts,
            facts: Facts { mode: if self.plan { Mode::Plan } else { Mode::Normal }, ..facts },
            chosen: self.chosen,
            agent: None,
            reshaped: false,
            heard,
            words: self.words,
            context: history::readable(
                self.told.context.iter().map(|(row, text)| load(*row, text)),
            ),
            header: self.header,
            transcript,
            history: self.history.read(),
            asked_by: self.history.asked_by,
            undelivered: self.told.undelivered,
            settled: settled.map(Box::new),
            approval: self.approval.map(RawApproval::read).transpose()?.map(Box::new),
            // Only its right to answer is looked at: a row that cannot be read brings none.
            decided_by: history::readable(
                self.decided_by.iter().map(|(row, text)| load(*row, text)),
            )
            .pop()
            .map(Box::new),
            own_forms: self.own_forms,
            has_joined: self.has_joined,
            is_awaited: self.is_awaited,
            children: self.children.into_iter().map(RawChildEnd::read).collect(),
            family: self.family,
            open: history::readable(self.told.open.into_iter().map(RawQuestion::read)),
        })
    }
}
