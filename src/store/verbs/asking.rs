//! Questions asked with a park, settled once, taken back.

use chrono::{DateTime, Utc};

use super::questions::{self, RawQuestion};
use super::rows::{json, millis};
use super::{facts, lanes, outbox};
use crate::delivery::QueuedOutbound;
use crate::error::Result;
use crate::question::{NewQuestion, QuestionRow};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::question::{Person, QuestionResult};

/// A question, written as text before it reaches the writer.
#[derive(Debug)]
pub struct QuestionText {
    key: String,
    person: Person,
    ask: String,
    expires_at: i64,
    /// What says it.
    pub draft: outbox::DraftText,
}

impl QuestionText {
    /// Writes a question's texts.
    pub fn new(asked: NewQuestion) -> Result<Self> {
        let NewQuestion { key, person, ask, expires_at, draft } = asked;
        let draft = outbox::DraftText::new(draft)?;
        Ok(Self { key, person, ask: json(&ask)?, expires_at: millis(expires_at), draft })
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        self.ask.len() + self.draft.bytes()
    }
}

/// Asks: the question's row, and what says it.
pub fn ask(
    tx: &mut dyn Tx,
    task: i64,
    asked: &QuestionText,
    now: DateTime<Utc>,
) -> Result<QueuedOutbound> {
    let queued = outbox::say(tx, &asked.draft, outbox::SaidFor::Task(task), now)?;
    tx.execute_later(
        "INSERT INTO question (account, key, conversation, task, outbound, state, person, person_name,
             ask, expires_at, created_at)
         SELECT account, CAST(?2 AS TEXT), conversation, id, CAST(?3 AS BIGINT), 'open', CAST(?4 AS TEXT),
             CAST(?5 AS TEXT), CAST(?6 AS TEXT), CAST(?7 AS BIGINT), CAST(?8 AS BIGINT)
         FROM task WHERE id = ?1",
        params![
            task,
            &asked.key,
            queued.outbound.0,
            asked.person.id.as_str(),
            &asked.person.name,
            &asked.ask,
            asked.expires_at,
            millis(now)
        ],
    )?;
    if queued.parts.is_empty() {
        not_asked(tx, queued.outbound.0, "the bot may no longer speak here", millis(now))?;
    }
    Ok(queued)
}

/// The platform will not take what asks: its task goes on and is told so.
pub fn not_asked(tx: &mut dyn Tx, outbound: i64, why: &str, now: i64) -> Result<()> {
    let given = json(&QuestionResult::NotAsked { why: why.to_owned() })?;
    let task: Option<i64> = tx.first(
        "UPDATE question SET state = 'withdrawn', given = ?2, settled_at = ?3
         WHERE outbound = ?1 AND state = 'open' RETURNING task",
        params![outbound, &given, now],
    )?;
    if let Some(task) = task {
        wake(tx, task)?;
    }
    Ok(())
}

/// What answers a question.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The account of the question.
    pub account: &'a str,
    /// Its key.
    pub key: &'a str,
    /// What was given, as text.
    pub given: &'a str,
    /// The row that gives it, if one does.
    pub inbox: Option<i64>,
}

/// Answers an open question and wakes its task; the lane that got work, or `None` when it is not open.
pub fn settle(tx: &mut dyn Tx, answer: Answer<'_>, now: DateTime<Utc>) -> Result<Option<i64>> {
    let Answer { account, key, given, inbox } = answer;
    let task: Option<i64> = tx.first(
        "UPDATE question SET state = 'answered', given = ?3, inbox = ?4, settled_at = ?5
         WHERE key = ?1 AND account = ?2 AND state = 'open' RETURNING task",
        params![key, account, given, inbox, millis(now)],
    )?;
    let Some(task) = task else { return Ok(None) };
    if let Some(row) = inbox {
        tx.execute_later("UPDATE inbox SET task = ?2 WHERE id = ?1", params![row, task])?;
    }
    wake(tx, task)
}

/// A parked task goes on as soon as its lane lets it; returns the lane.
pub fn wake(tx: &mut dyn Tx, task: i64) -> Result<Option<i64>> {
    let lane: Option<i64> = tx.first(
        "UPDATE task SET state = 'waiting', start_at = 0
         WHERE id = ?1 AND state = 'parked' RETURNING lane",
        params![task],
    )?;
    if let Some(lane) = lane {
        lanes::refresh(tx, lane)?;
    }
    Ok(lane)
}

/// A task wakes by itself: nobody has answered what it asked.
pub fn expire(tx: &mut dyn Tx, task: i64, now: DateTime<Utc>) -> Result<()> {
    tx.execute_later(
        "UPDATE question SET state = 'expired', given = ?2, settled_at = ?3
         WHERE task = ?1 AND state = 'open'",
        params![task, &json(&QuestionResult::Expired)?, millis(now)],
    )
}

/// Takes back what is open in a conversation, as far as `by`'s tasks asked it (everything for `None`).
pub fn withdraw(
    tx: &mut dyn Tx,
    conversation: i64,
    by: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Vec<QuestionRow>> {
    // All of them, however many: each has buttons that somebody could tap.
    let mut open = questions::all_open(tx, conversation)?;
    if by.is_some() {
        let mut theirs = Vec::with_capacity(open.len());
        for question in &open {
            let sql = "SELECT facts FROM task WHERE id = ?1";
            let by = |row: &str| facts::is_of(row, by);
            let found = tx.optional(sql, params![question.task], |row| Ok(by(row.get(0)?)))?;
            theirs.push(found.unwrap_or(false));
        }
        let mut theirs = theirs.into_iter();
        open.retain(|_| theirs.next().unwrap_or(false));
    }
    take_back(tx, open, now)
}

/// Takes back what a task has asked.
pub fn withdraw_of(tx: &mut dyn Tx, task: i64, now: DateTime<Utc>) -> Result<Vec<QuestionRow>> {
    let open = questions::open_of(tx, task)?;
    take_back(tx, open, now)
}

fn take_back(
    tx: &mut dyn Tx,
    open: Vec<RawQuestion>,
    now: DateTime<Utc>,
) -> Result<Vec<QuestionRow>> {
    for question in &open {
        tx.execute_later(
            "UPDATE question SET state = 'withdrawn', settled_at = ?2 WHERE id = ?1 AND state = 'open'",
            params![question.row, millis(now)],
        )?;
    }
    open.into_iter().map(RawQuestion::read).collect()
}
