//! The rows of questions: asked with a park, settled once, found by key, by task, by words.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Params, Row, ToSql, params};
use selkie_channel_core::{AccountId, ConversationId, MessageRef, PersonId};

use super::accept::{self, Row as ArrivalRow};
use super::lanes;
use super::outbox::{self, Cause};
use super::rows::{json, millis, read_json, time};
use crate::domain::ids::{OutboundId, TaskId};
use crate::domain::question::{Ask, Given, Person, QuestionState};
use crate::store::{Asked, QuestionRow, Queued, Result, StoreError, TapDone, TapEffect};

mod words;

pub use words::answered_by;

/// Open questions of one conversation that are looked at.
const MANY: usize = 100;

/// A question, written as text before it reaches the writer.
#[derive(Debug)]
pub struct Prepared {
    key: String,
    person: Person,
    ask: String,
    expires_at: i64,
    draft: outbox::Prepared,
}

impl Prepared {
    /// Writes a question's texts.
    pub fn new(asked: Asked) -> Result<Self> {
        let Asked { key, person, ask, expires_at, draft } = asked;
        let draft = outbox::Prepared::new(draft)?;
        Ok(Self { key, person, ask: json(&ask)?, expires_at: millis(expires_at), draft })
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        self.ask.len() + self.draft.bytes()
    }
}

/// Asks: the question's row, and what says it.
pub fn ask(conn: &Connection, task: i64, asked: Prepared, now: DateTime<Utc>) -> Result<Queued> {
    let Prepared { key, person, ask, expires_at, draft } = asked;
    let queued = outbox::say(conn, draft, Cause::Task(task, None), now)?;
    conn.prepare_cached(
        "INSERT INTO question (account, key, conversation, task, outbound, state, person, person_name,
             ask, expires_at, created_at)
         SELECT account, ?2, conversation, id, ?3, 'open', ?4, ?5, ?6, ?7, ?8 FROM task WHERE id = ?1",
    )?
    .execute(params![
        task,
        key,
        queued.outbound.0,
        person.id.as_str(),
        person.name,
        ask,
        expires_at,
        millis(now)
    ])?;
    if queued.parts.is_empty() {
        not_asked(conn, queued.outbound.0, "the bot may not speak here any more", millis(now))?;
    }
    Ok(queued)
}

/// The platform will not take what asks: its task goes on and is told so.
pub fn not_asked(conn: &Connection, outbound: i64, why: &str, now: i64) -> Result<()> {
    let given = json(&Given::NotAsked { why: why.to_owned() })?;
    let task: Option<i64> = conn
        .prepare_cached(
            "UPDATE question SET state = 'withdrawn', given = ?2, settled_at = ?3
             WHERE outbound = ?1 AND state = 'open' RETURNING task",
        )?
        .query_row(params![outbound, given, now], |row| row.get(0))
        .optional()?;
    if let Some(task) = task {
        wake(conn, task)?;
    }
    Ok(())
}

/// An effect with its texts written.
#[derive(Debug)]
pub enum Effect {
    Nothing,
    Pick {
        key: String,
        from: String,
        to: String,
        revision: Option<outbox::Prepared>,
    },
    Answer {
        key: String,
        given: String,
        revision: Option<outbox::Prepared>,
        otherwise: Option<Box<ArrivalRow>>,
    },
}

impl Effect {
    /// Writes the texts.
    pub fn new(effect: TapEffect) -> Result<Self> {
        Ok(match effect {
            TapEffect::Nothing => Self::Nothing,
            TapEffect::Pick { key, from, to, revision } => Self::Pick {
                key,
                from: json(&from)?,
                to: json(&to)?,
                revision: revision.map(outbox::Prepared::new).transpose()?,
            },
            TapEffect::Answer { key, given, revision, otherwise } => Self::Answer {
                key,
                given: json(&given)?,
                revision: revision.map(outbox::Prepared::new).transpose()?,
                otherwise: otherwise.map(|a| ArrivalRow::new(*a).map(Box::new)).transpose()?,
            },
        })
    }

    /// Returns about how many bytes it will write.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Pick { revision, .. } | Self::Answer { revision, .. } => {
                revision.as_ref().map_or(0, outbox::Prepared::bytes)
            }
        }
    }
}

/// Carries out the tap or answer of a row; `None` when it was carried out before.
pub fn carry_out(
    conn: &Connection,
    row: i64,
    effect: Effect,
    now: DateTime<Utc>,
) -> Result<Option<TapDone>> {
    let fresh: Option<String> = conn
        .prepare_cached(
            "UPDATE inbox SET done_at = ?2
             WHERE id = ?1 AND disposition IN ('tap', 'answer') AND done_at IS NULL
             RETURNING account",
        )?
        .query_row(params![row, millis(now)], |row| row.get(0))
        .optional()?;
    let Some(account) = fresh else { return Ok(None) };
    Ok(Some(match effect {
        Effect::Nothing => TapDone::default(),
        Effect::Pick { key, from, to, revision } => {
            let picked = conn
                .prepare_cached(
                    "UPDATE question SET picked = ?4
                     WHERE key = ?1 AND account = ?2 AND state = 'open' AND picked = ?3",
                )?
                .execute(params![key, account, from, to])?;
            done(conn, row, (picked > 0, revision), now)?
        }
        Effect::Answer { key, given, revision, otherwise } => {
            let settled = settle(conn, (&account, &key), (&given, row), now)?;
            let Some(lane) = settled else {
                let ready = otherwise
                    .map(|message| accept::after_all(conn, row, &message, now))
                    .transpose()?
                    .flatten();
                return Ok(Some(TapDone { ready, ..TapDone::default() }));
            };
            let mut done = done(conn, row, (true, revision), now)?;
            done.ready = lanes::ready_name(conn, lane, now)?;
            done
        }
    }))
}

fn done(
    conn: &Connection,
    row: i64,
    (done, revision): (bool, Option<outbox::Prepared>),
    now: DateTime<Utc>,
) -> Result<TapDone> {
    let revision = revision.filter(|_| done);
    let queued = revision.map(|r| outbox::say(conn, r, Cause::Change(row), now)).transpose()?;
    Ok(TapDone { done, queued, ready: None })
}

/// Answers an open question and wakes its task; the lane that got work, or `None` when it is not open.
fn settle(
    conn: &Connection,
    (account, key): (&str, &str),
    (given, inbox): (&str, i64),
    now: DateTime<Utc>,
) -> Result<Option<i64>> {
    let task: Option<i64> = conn
        .prepare_cached(
            "UPDATE question SET state = 'answered', given = ?3, inbox = ?4, settled_at = ?5
             WHERE key = ?1 AND account = ?2 AND state = 'open' RETURNING task",
        )?
        .query_row(params![key, account, given, inbox, millis(now)], |row| row.get(0))
        .optional()?;
    let Some(task) = task else { return Ok(None) };
    conn.prepare_cached("UPDATE inbox SET task = ?2 WHERE id = ?1")?.execute([inbox, task])?;
    wake(conn, task)
}

/// A parked task goes on as soon as its lane lets it; returns the lane.
fn wake(conn: &Connection, task: i64) -> Result<Option<i64>> {
    let lane: Option<i64> = conn
        .prepare_cached(
            "UPDATE task SET state = 'waiting', start_at = 0
             WHERE id = ?1 AND state = 'parked' RETURNING lane",
        )?
        .query_row([task], |row| row.get(0))
        .optional()?;
    if let Some(lane) = lane {
        lanes::refresh(conn, lane)?;
    }
    Ok(lane)
}

/// A task wakes by itself: nobody has answered what it asked.
pub fn expire(conn: &Connection, task: i64, now: DateTime<Utc>) -> Result<()> {
    conn.prepare_cached(
        "UPDATE question SET state = 'expired', given = ?2, settled_at = ?3
         WHERE task = ?1 AND state = 'open'",
    )?
    .execute(params![task, json(&Given::Expired)?, millis(now)])?;
    Ok(())
}

/// Takes back what is open in a conversation, as far as `by`'s tasks asked it (everything for `None`).
pub fn withdraw(
    conn: &Connection,
    conversation: i64,
    by: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Vec<QuestionRow>> {
    // All of them, however many: each has buttons that somebody could tap.
    let theirs = "q.conversation = ?1 AND (?2 IS NULL OR
        (SELECT facts ->> '$.speaker' FROM task WHERE id = q.task) = ?2)";
    take_back(conn, theirs, params![conversation, by], now)
}

/// Takes back what a task has asked.
pub fn withdraw_of(conn: &Connection, task: i64, now: DateTime<Utc>) -> Result<Vec<QuestionRow>> {
    take_back(conn, "q.task = ?1", params![task], now)
}

fn take_back(
    conn: &Connection,
    whose: &str,
    by: &[&dyn ToSql],
    now: DateTime<Utc>,
) -> Result<Vec<QuestionRow>> {
    let sql = format!("{QUESTION} WHERE q.state = 'open' AND {whose} ORDER BY q.id");
    let open = list(conn, &sql, by)?;
    if !open.is_empty() {
        let now = millis(now);
        let sql = format!(
            "UPDATE question AS q SET state = 'withdrawn', settled_at = {now} WHERE q.state = 'open' AND {whose}"
        );
        // Not kept: its text holds the time.
        conn.execute(&sql, by)?;
    }
    open.into_iter().map(RawQuestion::read).collect()
}

/// A row of the inbox and its text.
type RawInbound = (i64, String);

/// Returns the question a task asked last, with the row that answered it.
pub fn settled(conn: &Connection, task: i64) -> Result<Option<(RawQuestion, Option<RawInbound>)>> {
    let sql = format!("{QUESTION} WHERE q.task = ?1 ORDER BY q.id DESC LIMIT 1");
    let Some(question) = list(conn, &sql, [task])?.pop() else { return Ok(None) };
    let by = match question.inbox {
        Some(inbox) => conn
            .prepare_cached("SELECT id, inbound FROM inbox WHERE id = ?1")?
            .query_row([inbox], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?,
        None => None,
    };
    Ok(Some((question, by)))
}

/// Returns what other tasks of a conversation wait to be answered.
pub fn of_others(conn: &Connection, conversation: i64, task: i64) -> Result<Vec<RawQuestion>> {
    let mut others = open(conn, Some(conversation))?;
    others.retain(|q| q.task != task);
    Ok(others)
}

/// Returns what is open in a conversation, or everywhere; the oldest first.
pub fn open(conn: &Connection, conversation: Option<i64>) -> Result<Vec<RawQuestion>> {
    match conversation {
        Some(here) => {
            let sql = format!(
                "{QUESTION} WHERE q.conversation = ?1 AND q.state = 'open' ORDER BY q.id LIMIT {MANY}"
            );
            list(conn, &sql, [here])
        }
        None => {
            let sql = format!("{QUESTION} WHERE q.state = 'open' ORDER BY q.id LIMIT {MANY}");
            list(conn, &sql, [])
        }
    }
}

/// Finds a question by its key.
pub fn by_key(conn: &Connection, account: &str, key: &str) -> Result<Option<RawQuestion>> {
    let sql = format!("{QUESTION} WHERE q.key = ?1 AND q.account = ?2");
    Ok(list(conn, &sql, [key, account])?.pop())
}

/// Finds the question that a row answers.
pub fn of_row(conn: &Connection, inbox: i64) -> Result<Option<RawQuestion>> {
    let sql = format!("{QUESTION} WHERE q.id = (SELECT question FROM inbox WHERE inbox.id = ?1)");
    Ok(list(conn, &sql, [inbox])?.pop())
}

/// The message is that of the last part: there the buttons are.
const QUESTION: &str =
    "SELECT q.id, q.key, c.account, c.key, q.task, q.person, q.person_name, q.ask,
        q.state, q.picked, q.given, q.inbox, q.expires_at,
        (SELECT receipt ->> '$.message' FROM part
         WHERE id BETWEEN q.outbound * 4096 AND q.outbound * 4096 + 4095 ORDER BY id DESC LIMIT 1),
        q.outbound
    FROM question q JOIN conversation c ON c.id = q.conversation";

fn list(conn: &Connection, sql: &str, by: impl Params) -> Result<Vec<RawQuestion>> {
    Ok(conn
        .prepare_cached(sql)?
        .query_map(by, RawQuestion::from_row)?
        .collect::<rusqlite::Result<_>>()?)
}

/// A question as it is stored: parsed by whoever asked, not by the writer.
#[derive(Debug)]
pub struct RawQuestion {
    row: i64,
    task: i64,
    inbox: Option<i64>,
    key: String,
    conversation: ConversationId,
    person: Person,
    ask: String,
    state: String,
    picked: String,
    given: Option<String>,
    expires_at: i64,
    message: Option<String>,
    outbound: i64,
}

impl RawQuestion {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let account = AccountId::new(row.get::<_, String>(2)?);
        Ok(Self {
            row: row.get(0)?,
            key: row.get(1)?,
            conversation: ConversationId::new(account, row.get::<_, String>(3)?),
            task: row.get(4)?,
            person: Person { id: PersonId::new(row.get::<_, String>(5)?), name: row.get(6)? },
            ask: row.get(7)?,
            state: row.get(8)?,
            picked: row.get(9)?,
            given: row.get(10)?,
            inbox: row.get(11)?,
            expires_at: row.get(12)?,
            message: row.get(13)?,
            outbound: row.get(14)?,
        })
    }

    /// Reads the stored texts.
    pub fn read(self) -> Result<QuestionRow> {
        let corrupt = |what: String| StoreError::Corrupt(format!("question {}: {what}", self.row));
        let ask: Ask = read_json("question", self.row, &self.ask)?;
        if ask.v > Ask::VERSION {
            return Err(corrupt(format!("layout {}, this selkie knows {}", ask.v, Ask::VERSION)));
        }
        let given = self.given.as_deref().map(|g| read_json("answer", self.row, g)).transpose()?;
        Ok(QuestionRow {
            state: QuestionState::parse(&self.state)
                .ok_or_else(|| corrupt(format!("the state {:?}", self.state)))?,
            picked: read_json("choices", self.row, &self.picked)?,
            key: self.key,
            conversation: self.conversation,
            task: TaskId(self.task),
            person: self.person,
            ask,
            given,
            outbound: OutboundId(self.outbound),
            message: self.message.map(MessageRef::new),
            expires_at: time(self.expires_at),
        })
    }
}
