//! What is said becomes rows: an outbound with its parts.

use chrono::{DateTime, Utc};
use selkie_channel_core::{Body, ConversationId, Part};

use super::conversations;
use super::last::Last;
use super::month::{self, Whose};
use super::rows::{json, millis, small};
use super::standing::PARTS;
use crate::delivery::{Draft, DuePart, Month, QueuedOutbound};
use crate::error::{Result, StoreError};
use crate::tx::{Query, Tx, into};
use crate::value::params;
use selkie_domain::ids::{Instance, OutboundId, PartId};
use selkie_domain::transcript::Item;

/// A draft, written as text before it reaches the writer.
#[derive(Debug)]
pub struct DraftText {
    conversation: ConversationId,
    body: String,
    /// Which of the items that are written beside it holds its words.
    said: Option<i64>,
    parts: Vec<(Part, String)>,
    expires_at: Option<DateTime<Utc>>,
    token: Option<String>,
    month: Option<Month>,
    /// It takes the place of the message that showed it while it was written.
    pub is_over: bool,
}

impl DraftText {
    /// Writes a draft's texts.
    pub fn new(draft: Draft) -> Result<Self> {
        let body = json(&draft.outbound)?;
        Self::with(draft, body, None)
    }

    /// Writes the texts of a task's last words. What the transcript holds already stands there alone.
    pub fn saying(mut draft: Draft, items: &[Item]) -> Result<Self> {
        let said = match &draft.outbound.body {
            Body::Text { markdown } => {
                items.iter().position(|i| matches!(i, Item::Said { text, .. } if text == markdown))
            }
            _ => None,
        };
        let Some(place) = said else { return Self::new(draft) };
        draft.outbound.body = Body::Text { markdown: String::new() };
        let body = json(&draft.outbound)?;
        Self::with(draft, body, i64::try_from(place).ok())
    }

    fn with(draft: Draft, body: String, said: Option<i64>) -> Result<Self> {
        let count = draft.parts.len();
        if small(count as u64) > PARTS {
            let why = format!("an answer of {count} messages, {PARTS} can be stored: say less");
            return Err(StoreError::Broken(why));
        }
        let parts = draft
            .parts
            .into_iter()
            .map(|part| json(&part).map(|text| (part, text)))
            .collect::<Result<_>>()?;
        let token = draft.outbound.reply_window.map(|window| window.token);
        let conversation = draft.outbound.conversation;
        let is_over = draft.outbound.over.is_some();
        Ok(Self {
            conversation,
            body,
            said,
            parts,
            expires_at: draft.expires_at,
            token,
            month: draft.month,
            is_over,
        })
    }

    /// Returns where it is said.
    pub fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    /// Returns the right to answer that it may use up.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        self.body.len() + self.parts.iter().map(|(_, text)| text.len()).sum::<usize>()
    }
}

/// Why something is said.
#[derive(Clone, Copy, Debug)]
pub enum SaidFor<'a> {
    /// By a task.
    Task(i64),
    /// By a task's call with this id.
    Call(i64, &'a str),
    /// As a task's last words.
    Finish(LastWords<'a>),
    /// By a command's row.
    Command(i64),
    /// By a command that was typed in this conversation.
    Typed(i64),
    /// By a row that changes what an earlier message shows: no answer of its own.
    Change(i64),
    /// To the conversation that asked, by the daemon itself.
    Asked(i64),
    /// By the daemon itself.
    Notice,
}

/// The end of a task, in which something is said.
#[derive(Clone, Copy, Debug)]
pub struct LastWords<'a> {
    /// The task.
    pub task: i64,
    /// It, as it was before its last items were written.
    pub last: &'a Last,
    /// The right to answer that was spent on a button for what is said.
    pub spent: Option<&'a str>,
    /// Who sends the first part at once.
    pub sender: Option<&'a Instance>,
}

impl<'a> SaidFor<'a> {
    fn sender(self) -> Option<&'a Instance> {
        match self {
            Self::Finish(words) => words.sender,
            _ => None,
        }
    }

    fn task(self) -> Option<i64> {
        match self {
            Self::Task(task) | Self::Call(task, _) => Some(task),
            Self::Finish(words) => Some(words.task),
            _ => None,
        }
    }

    fn inbox(self) -> Option<i64> {
        match self {
            Self::Command(row) | Self::Change(row) => Some(row),
            _ => None,
        }
    }

    fn call(&self) -> Option<&str> {
        match self {
            Self::Call(_, call) => Some(call),
            _ => None,
        }
    }
}

/// Stores something said, with its parts queued; in a closed conversation, and beyond what a month lets be posted, they
/// are refused at once and nothing is handed back to send.
pub fn say(
    tx: &mut dyn Tx,
    draft: &DraftText,
    why: SaidFor<'_>,
    now: DateTime<Utc>,
) -> Result<QueuedOutbound> {
    let here = here(tx, &draft.conversation, why)?;
    let outbound = store(tx, draft, why, &here, now)?;
    let refused = refusal(tx, draft, &here)?;
    if draft.month.is_some() {
        let whose = Whose { conversation: here.conversation, asked: here.asked };
        month::keep(tx, outbound, whose, now)?;
    }
    let row = Row {
        outbound,
        conversation: here.conversation,
        account: draft.conversation.account().as_str(),
        answer: here.is_answer(),
        now: millis(now),
        refused: refused.as_deref(),
        sender: why.sender(),
    };
    Ok(QueuedOutbound { outbound, parts: queue(tx, draft, row)? })
}

/// Stores what is said, without its parts.
fn store(
    tx: &mut dyn Tx,
    draft: &DraftText,
    why: SaidFor<'_>,
    here: &Here,
    now: DateTime<Utc>,
) -> Result<OutboundId> {
    let said = match why {
        // The items that hold its words are written beside it.
        SaidFor::Finish(words) => draft.said.map(|place| words.last.held.items + 1 + place),
        _ => None,
    };
    let made = tx.insert(
        "INSERT INTO outbound
             (conversation, task, call, inbox, answer, body, expires_at, created_at, said)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            here.conversation,
            why.task(),
            why.call(),
            why.inbox(),
            here.is_answer(),
            &draft.body,
            draft.expires_at.map(millis),
            millis(now),
            said
        ],
    )?;
    let not_made = || StoreError::Corrupt("what is said was not stored: a defect".to_owned());
    made.map(OutboundId).ok_or_else(not_made)
}

/// Says why it is refused at once, if it is: the conversation is closed, or its month is used up.
fn refusal(tx: &mut dyn Tx, draft: &DraftText, here: &Here) -> Result<Option<String>> {
    match (&draft.month, &here.closed) {
        (Some(month), None) => {
            let more = i64::try_from(draft.parts.len()).unwrap_or(i64::MAX);
            month::over(tx, here.conversation, month, more)
        }
        (_, closed) => Ok(closed.clone()),
    }
}

/// Queues the parts; returns those that are to be sent.
fn queue(tx: &mut dyn Tx, draft: &DraftText, mut row: Row<'_>) -> Result<Vec<DuePart>> {
    let mut parts = Vec::with_capacity(draft.parts.len());
    for (place, (part, text)) in (0..PARTS).zip(&draft.parts) {
        let departs = row.sender.is_some();
        let due = DuePart {
            id: row.insert(tx, place, text)?,
            outbound: row.outbound,
            part: part.clone(),
            attempts: 0,
            not_before: None,
            expires_at: draft.expires_at,
            unclear: false,
            answer: row.answer,
            departs,
        };
        // The first part alone is sent at once.
        row.sender = None;
        parts.extend(row.refused.is_none().then_some(due));
    }
    Ok(parts)
}

/// Where something is said.
struct Here {
    conversation: i64,
    /// Why it is closed, if it is.
    closed: Option<String>,
    /// The conversation that somebody asked for it in.
    asked: Option<i64>,
}

impl Here {
    /// Whether it was asked for where it is said.
    fn is_answer(&self) -> bool {
        self.asked == Some(self.conversation)
    }
}

/// Finds the conversation that something is said in, made when nothing was ever heard there.
fn here(tx: &mut dyn Tx, id: &ConversationId, why: SaidFor<'_>) -> Result<Here> {
    const OF_TASK: &str = "SELECT conversation FROM task WHERE id = ?1";
    let (came_from, row) = match (why, why.task()) {
        (_, Some(task)) => (OF_TASK, task),
        (SaidFor::Command(row), _) => ("SELECT conversation FROM inbox WHERE id = ?1", row),
        // No row has this number: it came from nowhere.
        _ => (OF_TASK, 0),
    };
    if let SaidFor::Finish(LastWords { last: Last { asked, .. }, .. }) = why
        && asked.is(id)
    {
        let conversation = asked.conversation;
        return Ok(Here { conversation, closed: asked.closed.clone(), asked: Some(conversation) });
    }
    let mut known = Vec::new();
    let mut asked = Vec::new();
    tx.query_all(&mut [
        Query {
            sql: conversations::KNOWN,
            params: params![id.account().as_str(), id.key()],
            each: &mut into(&mut known, conversations::known),
        },
        Query {
            sql: came_from,
            params: params![row],
            each: &mut into(&mut asked, |row| row.get::<Option<i64>>(0)),
        },
    ])?;
    let asked = match why {
        SaidFor::Typed(here) | SaidFor::Asked(here) => Some(here),
        _ => asked.pop().flatten(),
    };
    let (conversation, closed) = match known.pop() {
        Some(known) => known,
        None => {
            let row = conversations::speak(tx, id)?;
            (row, conversations::closed(tx, row)?)
        }
    };
    Ok(Here { conversation, closed, asked })
}

struct Row<'a> {
    outbound: OutboundId,
    conversation: i64,
    account: &'a str,
    answer: bool,
    now: i64,
    refused: Option<&'a str>,
    /// Who sends it at once.
    sender: Option<&'a Instance>,
}

impl Row<'_> {
    fn insert(&self, tx: &mut dyn Tx, place: i64, text: &str) -> Result<PartId> {
        let id = self.outbound.0 * PARTS + place;
        let open = self.refused.is_none();
        let sender = self.sender.filter(|_| open).map(|instance| instance.0.as_str());
        let state = match (open, sender) {
            (false, _) => "refused",
            (true, Some(_)) => "sending",
            (true, None) => "queued",
        };
        let told: Option<i64> = (!open && self.answer).then_some(0);
        tx.execute_later(
            "INSERT INTO part
                 (id, outbound, conversation, account, state, open, told, reason, updated_at, instance, attempts)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                id,
                self.outbound.0,
                self.conversation,
                self.account,
                state,
                open,
                told,
                self.refused,
                self.now,
                sender,
                sender.is_some()
            ],
        )?;
        if open || told.is_some() {
            render(tx, id, text)?;
        }
        Ok(PartId(id))
    }
}

/// Keeps the call of a part until it is settled.
pub fn render(tx: &mut dyn Tx, part: i64, text: &str) -> Result<()> {
    tx.execute_later(
        "INSERT INTO rendered (part, text) VALUES (?1, ?2)
         ON CONFLICT (part) DO UPDATE SET text = excluded.text",
        params![part, text],
    )
}

/// Forgets the calls of parts that came to an end and are not to be told of.
pub fn tidy(tx: &mut dyn Tx) -> Result<()> {
    tx.execute_later(
        "DELETE FROM rendered WHERE part IN
             (SELECT r.part FROM rendered r CROSS JOIN part p ON p.id = r.part
              WHERE p.open = 0 AND p.told IS NULL)",
        params![],
    )
}

/// Forgets the call of a part that is not to be told of.
pub fn tidy_one(tx: &mut dyn Tx, part: i64) -> Result<()> {
    tx.execute_later(
        "DELETE FROM rendered WHERE part = ?1
             AND EXISTS (SELECT 1 FROM part WHERE id = ?1 AND open = 0 AND told IS NULL)",
        params![part],
    )
}
