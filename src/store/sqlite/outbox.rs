//! What is said becomes rows: an outbound with its parts, and where it stands.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};
use selkie_channel_core::{Body, ConversationId, MessageRef, Outbound, Part};

use super::conversations;
use super::rows::{ITEM_VERSION, json, load, load_item, millis, small};
use crate::domain::ids::{OutboundId, PartId};
use crate::domain::transcript::Item;
use crate::store::{Draft, DuePart, Queued, Result, Standing, StoreError};

/// The most parts of an outbound: their ids lie side by side, which spares an index.
const PARTS: i64 = 4096;

/// A draft, written as text before it reaches the writer.
#[derive(Debug)]
pub struct Prepared {
    conversation: ConversationId,
    body: String,
    /// Which item of its task's transcript holds its words.
    said: Option<i64>,
    parts: Vec<(Part, String)>,
    expires_at: Option<DateTime<Utc>>,
    token: Option<String>,
}

impl Prepared {
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

    /// Counts the item that holds its words from the first one that was written beside it.
    pub fn counted_from(self, first: i64) -> Self {
        Self { said: self.said.map(|place| first + place), ..self }
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
        Ok(Self { conversation, body, said, parts, expires_at: draft.expires_at, token })
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
pub enum Cause<'a> {
    /// A task's answer, or by its call with this id.
    Task(i64, Option<&'a str>),
    /// A command's row.
    Command(i64),
    /// A row that changes what an earlier message shows: no answer of its own.
    Change(i64),
    /// The daemon itself.
    Notice,
}

/// Stores something said, with its parts queued; in a closed conversation they are refused at once
/// and nothing is handed back to send.
pub fn say(
    conn: &Connection,
    draft: Prepared,
    cause: Cause<'_>,
    now: DateTime<Utc>,
) -> Result<Queued> {
    let conversation = conversations::speak(conn, &draft.conversation)?;
    let answer = answers(conn, conversation, cause)?;
    let (task, call, inbox) = match cause {
        Cause::Task(task, call) => (Some(task), call, None),
        Cause::Command(row) | Cause::Change(row) => (None, None, Some(row)),
        Cause::Notice => (None, None, None),
    };
    conn.prepare_cached(
        "INSERT INTO outbound
             (conversation, task, call, inbox, answer, body, expires_at, created_at, said)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        conversation,
        task,
        call,
        inbox,
        answer,
        draft.body,
        draft.expires_at.map(millis),
        millis(now),
        draft.said
    ])?;
    let outbound = OutboundId(conn.last_insert_rowid());
    let closed = conversations::closed(conn, conversation)?;
    let mut parts = Vec::with_capacity(draft.parts.len());
    let row = Row { outbound, conversation, answer, now: millis(now), refused: closed.as_deref() };
    for (place, (part, text)) in (0..PARTS).zip(draft.parts) {
        let id = row.insert(conn, place, draft.conversation.account().as_str(), &text)?;
        let (expires_at, unclear) = (draft.expires_at, false);
        let due = DuePart {
            id,
            outbound,
            part,
            attempts: 0,
            not_before: None,
            expires_at,
            unclear,
            answer,
            departs: false,
        };
        parts.extend(closed.is_none().then_some(due));
    }
    Ok(Queued { outbound, parts })
}

fn answers(conn: &Connection, conversation: i64, cause: Cause<'_>) -> Result<bool> {
    let (sql, row) = match cause {
        Cause::Task(task, _) => ("SELECT conversation FROM task WHERE id = ?1", task),
        Cause::Command(inbox) => ("SELECT conversation FROM inbox WHERE id = ?1", inbox),
        Cause::Change(_) | Cause::Notice => return Ok(false),
    };
    let asked: Option<i64> = conn.prepare_cached(sql)?.query_row([row], |row| row.get(0))?;
    Ok(asked == Some(conversation))
}

struct Row<'a> {
    outbound: OutboundId,
    conversation: i64,
    answer: bool,
    now: i64,
    refused: Option<&'a str>,
}

impl Row<'_> {
    fn insert(&self, conn: &Connection, place: i64, account: &str, text: &str) -> Result<PartId> {
        let id = self.outbound.0 * PARTS + place;
        let open = self.refused.is_none();
        let state = if open { "queued" } else { "refused" };
        let told = (!open && self.answer).then_some(0);
        conn.prepare_cached(
            "INSERT INTO part
                 (id, outbound, conversation, account, state, open, told, reason, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            id,
            self.outbound.0,
            self.conversation,
            account,
            state,
            open,
            told,
            self.refused,
            self.now
        ])?;
        if open || told.is_some() {
            render(conn, id, text)?;
        }
        Ok(PartId(id))
    }
}

/// Keeps the call of a part until it is settled.
pub fn render(conn: &Connection, part: i64, text: &str) -> Result<()> {
    conn.prepare_cached("INSERT OR REPLACE INTO rendered (part, text) VALUES (?1, ?2)")?
        .execute(params![part, text])?;
    Ok(())
}

/// Forgets the calls of parts that came to an end and are not to be told of.
pub fn tidy(conn: &Connection) -> Result<()> {
    conn.prepare_cached(
        "DELETE FROM rendered WHERE part IN
             (SELECT r.part FROM rendered r CROSS JOIN part p ON p.id = r.part
              WHERE p.open = 0 AND p.told IS NULL)",
    )?
    .execute([])?;
    Ok(())
}

/// Forgets the call of a part that is not to be told of.
pub fn tidy_one(conn: &Connection, part: i64) -> Result<()> {
    conn.prepare_cached(
        "DELETE FROM rendered WHERE part = ?1
             AND EXISTS (SELECT 1 FROM part WHERE id = ?1 AND open = 0 AND told IS NULL)",
    )?
    .execute([part])?;
    Ok(())
}

/// What was said, as it is stored: its row, its body, and the item that holds its words.
pub type RawBody = (i64, String, Option<String>);

/// The columns of a [`RawBody`], of an outbound `o`.
pub const BODY: &str =
    "o.id, o.body, (SELECT item FROM transcript i WHERE i.task = o.task AND i.seq = o.said)";

/// Reads what was said.
pub fn read_body((id, body, words): &RawBody) -> Result<Outbound> {
    let mut outbound: Outbound = load(*id, body)?;
    if let Some(words) = words
        && let Item::Said { text, .. } = load_item(*id, ITEM_VERSION, words)?
    {
        outbound.body = Body::Text { markdown: text };
    }
    Ok(outbound)
}

/// Returns the ids that an outbound's parts have: the first possible and the last.
pub fn parts_of(outbound: i64) -> [i64; 2] {
    let first = outbound * PARTS;
    [first, first + PARTS - 1]
}

/// Returns where an outbound stands.
pub fn standing(conn: &Connection, outbound: i64) -> Result<Standing> {
    let parts: Vec<PartState> = conn
        .prepare_cached(
            "SELECT state, open, reason, receipt ->> '$.message' FROM part
             WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
        )?
        .query_map(parts_of(outbound), PartState::from_row)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(derive(&parts))
}

/// Returns where the part before this one of its outbound stands.
pub fn before(conn: &Connection, part: i64) -> Result<Option<Standing>> {
    if part % PARTS == 0 {
        return Ok(None);
    }
    let state = conn
        .prepare_cached(
            "SELECT state, open, reason, receipt ->> '$.message' FROM part WHERE id = ?1",
        )?
        .query_row([part - 1], PartState::from_row)
        .optional()?;
    Ok(state.map(|state| derive(&[state])))
}

/// What standing looks at.
#[derive(Debug)]
pub struct PartState {
    /// Its state's name.
    pub state: String,
    /// The courier has still to do with it.
    pub open: bool,
    /// Why it stands so.
    pub reason: Option<String>,
    /// The message it made.
    pub message: Option<String>,
}

impl PartState {
    fn from_row(row: &SqlRow<'_>) -> rusqlite::Result<Self> {
        let (state, open) = (row.get(0)?, row.get(1)?);
        Ok(Self { state, open, reason: row.get(2)?, message: row.get(3)? })
    }

    fn arrived(&self) -> bool {
        self.state == "sent" || self.state == "repeated"
    }
}

/// Derives where an outbound stands from its parts: open before unclear before refused before
/// expired before withdrawn, and "partly" as soon as one arrived.
pub fn derive(parts: &[PartState]) -> Standing {
    if parts.iter().any(|p| p.open) {
        return Standing::Open;
    }
    if parts.iter().all(PartState::arrived) {
        let message = parts.iter().find_map(|p| p.message.clone()).map(MessageRef::new);
        return Standing::Delivered { message };
    }
    if parts.iter().any(|p| p.state == "unclear") {
        return Standing::Unclear;
    }
    let some = parts.iter().any(PartState::arrived);
    let of = |state: &str| parts.iter().find(|p| p.state == state);
    if let Some(part) = of("refused") {
        let reason = part.reason.clone().unwrap_or_else(|| "refused".to_owned());
        return if some { Standing::Partly { reason } } else { Standing::Refused { reason } };
    }
    let (end, reason) = match of("expired") {
        Some(_) => (Standing::Expired, "its time had passed"),
        None => (Standing::Cancelled, "withdrawn before it was sent"),
    };
    if some { Standing::Partly { reason: reason.to_owned() } } else { end }
}
