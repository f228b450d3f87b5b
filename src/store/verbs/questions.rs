//! The rows of questions: found by key, by task, by what is open.

use selkie_channel_core::{ConversationId, MessageRef};

use super::rows::{conversation, person, read_json, time};
use crate::error::{Result, StoreError};
use crate::question::QuestionRow;
use crate::tx::Tx;
use crate::value::{Row, Value, params};
use selkie_domain::ids::{OutboundId, TaskId};
use selkie_domain::question::{Ask, Person, QuestionState};

/// Questions `q`, with what follows their columns. The message is that of the last part: there the buttons are.
macro_rules! question {
    ($rest:literal) => {
        concat!(
            "SELECT q.id, q.key, c.account, c.key, q.task, q.person, q.person_name, q.ask,
                    q.state, q.picked, q.given, q.inbox, q.expires_at,
                    (SELECT message FROM part
                     WHERE id BETWEEN q.outbound * 4096 AND q.outbound * 4096 + 4095
                     ORDER BY id DESC LIMIT 1),
                    q.outbound
             FROM question q JOIN conversation c ON c.id = q.conversation ",
            $rest
        )
    };
}

/// A row of the inbox and its text.
type RawInbound = (i64, String);

/// Returns the question a task asked last, with the row that answered it.
pub fn settled(tx: &mut dyn Tx, task: i64) -> Result<Option<(RawQuestion, Option<RawInbound>)>> {
    let sql = question!("WHERE q.task = ?1 ORDER BY q.id DESC LIMIT 1");
    let Some(question) = list(tx, sql, params![task])?.pop() else { return Ok(None) };
    let by = match question.inbox {
        Some(inbox) => {
            tx.optional("SELECT id, inbound FROM inbox WHERE id = ?1", params![inbox], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
        }
        None => None,
    };
    Ok(Some((question, by)))
}

/// What is open in a conversation.
pub const OPEN_HERE: &str =
    question!("WHERE q.conversation = ?1 AND q.state = 'open' ORDER BY q.id LIMIT 100");

/// Returns what is open in a conversation, or everywhere; the oldest first, at most a hundred.
pub fn open(tx: &mut dyn Tx, conversation: Option<i64>) -> Result<Vec<RawQuestion>> {
    match conversation {
        Some(here) => list(tx, OPEN_HERE, params![here]),
        None => list(
            tx,
            question!(
                "WHERE q.id IN (SELECT id FROM question INDEXED BY question_open WHERE state = 'open')
                 ORDER BY q.id LIMIT 100"
            ),
            params![],
        ),
    }
}

/// Returns all that is open in a conversation, however much.
pub fn all_open(tx: &mut dyn Tx, conversation: i64) -> Result<Vec<RawQuestion>> {
    let sql = question!("WHERE q.state = 'open' AND q.conversation = ?1 ORDER BY q.id");
    list(tx, sql, params![conversation])
}

/// Returns all that a task has asked and that is open.
pub fn open_of(tx: &mut dyn Tx, task: i64) -> Result<Vec<RawQuestion>> {
    let sql = question!("WHERE q.state = 'open' AND q.task = ?1 ORDER BY q.id");
    list(tx, sql, params![task])
}

/// Finds a question by its key.
pub fn by_key(tx: &mut dyn Tx, account: &str, key: &str) -> Result<Option<RawQuestion>> {
    let sql = question!("WHERE q.key = ?1 AND q.account = ?2");
    Ok(list(tx, sql, params![key, account])?.pop())
}

/// Finds the question that a row answers.
pub fn of_row(tx: &mut dyn Tx, inbox: i64) -> Result<Option<RawQuestion>> {
    let sql = question!("WHERE q.id = (SELECT question FROM inbox WHERE inbox.id = ?1)");
    Ok(list(tx, sql, params![inbox])?.pop())
}

fn list(tx: &mut dyn Tx, sql: &'static str, by: &[Value<'_>]) -> Result<Vec<RawQuestion>> {
    tx.all(sql, by, RawQuestion::from_row)
}

/// A question as it is stored: parsed by whoever asked, not by the writer.
#[derive(Debug)]
pub struct RawQuestion {
    /// Its row.
    pub row: i64,
    /// The task that asks.
    pub task: i64,
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
    /// Reads the columns of a statement of this room.
    ///
    /// # Errors
    /// `Corrupt` when they are something else.
    pub fn from_row(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            row: row.get(0)?,
            key: row.get(1)?,
            conversation: conversation(row, 2)?,
            task: row.get(4)?,
            person: person(row, 5)?,
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
