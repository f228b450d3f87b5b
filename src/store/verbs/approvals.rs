//! The rows of approvals: found by key, by task, by the words of a person who was asked.

use chrono::{DateTime, Utc};
use selkie_channel_core::{Audience, ConversationId, Inbound, MessageRef, PersonId};

use super::rows::{conversation, millis, person, read_json, time};
use crate::approval::{ApprovalRow, AskedPerson};
use crate::error::{Result, StoreError};
use crate::read::ApprovalChain;
use crate::tx::Tx;
use crate::value::{Row, Value, params};
use selkie_domain::approval::{ApprovalState, Mute, MuteOf, Request, Verdict};
use selkie_domain::ids::{OutboundId, TaskId};
use selkie_domain::question::Person;

/// Approvals `a`, with what follows their columns.
macro_rules! approval {
    ($rest:literal) => {
        concat!(
            "SELECT a.id, a.key, a.task, c.account, c.key, a.requester, a.requester_name, a.request,
                    a.state, a.why, a.decided_by, a.expires_at, a.muted, a.muted_until
             FROM approval a JOIN task t ON t.id = a.task JOIN conversation c ON c.id = t.conversation ",
            $rest
        )
    };
}

/// Finds an approval by its key.
pub fn by_key(tx: &mut dyn Tx, key: &str) -> Result<Option<RawApproval>> {
    Ok(list(tx, approval!("WHERE a.key = ?1"), params![key])?.pop())
}

/// Returns the approval a task sought last.
pub fn newest(tx: &mut dyn Tx, task: i64) -> Result<Option<RawApproval>> {
    let sql = approval!("WHERE a.task = ?1 ORDER BY a.id DESC LIMIT 1");
    Ok(list(tx, sql, params![task])?.pop())
}

/// Lists what is open, or all of a task; the oldest first, at most a hundred.
pub fn all(tx: &mut dyn Tx, task: Option<i64>) -> Result<Vec<RawApproval>> {
    match task {
        Some(task) => {
            list(tx, approval!("WHERE a.task = ?1 ORDER BY a.id LIMIT 100"), params![task])
        }
        None => list(tx, approval!("WHERE a.state = 'open' ORDER BY a.id LIMIT 100"), params![]),
    }
}

/// Lists the requests with which somebody was muted who still is; the oldest first, at most a hundred.
pub fn muted(tx: &mut dyn Tx, now: DateTime<Utc>) -> Result<Vec<RawApproval>> {
    list(tx, approval!("WHERE a.muted_until > ?1 ORDER BY a.id LIMIT 100"), params![millis(now)])
}

/// Lists what was settled and is not shown, among the newest thousand; the oldest first, at most a hundred. What is shown
/// has a notice, whose key [`ApprovalRow::notice`] writes.
pub fn unshown(tx: &mut dyn Tx) -> Result<Vec<RawApproval>> {
    let sql = approval!(
        "WHERE a.id > (SELECT COALESCE(MAX(id), 0) FROM approval) - 1000
           AND a.state IN ('denied', 'expired', 'lapsed', 'withdrawn')
           AND EXISTS (SELECT 1 FROM approval_asked s WHERE s.approval = a.id
               AND NOT EXISTS (SELECT 1 FROM notice n
                   WHERE n.key = 'approval:' || a.key || ':' || s.outbound || ':' || a.state)
               AND EXISTS (SELECT 1 FROM part p
                   WHERE p.id BETWEEN s.outbound * 4096 AND s.outbound * 4096 + 4095
                     AND (p.open = 1 OR p.message IS NOT NULL)))
         ORDER BY a.id LIMIT 100"
    );
    list(tx, sql, params![])
}

/// Whether this is the key of a notice of an approval, as [`ApprovalRow::notice`] writes it, that is stored no more.
pub fn is_of_none(tx: &mut dyn Tx, notice: &str) -> Result<bool> {
    let Some(of) = notice.strip_prefix("approval:") else { return Ok(false) };
    let key = of.split(':').next().unwrap_or_default();
    // What answers words that mean no request at all is of none from the start.
    if key == "none" {
        return Ok(false);
    }
    Ok(!tx.exists("SELECT 1 FROM approval WHERE key = ?1", params![key])?)
}

/// Returns what a task asked approval for, and what became of it; the oldest first.
pub fn chains(tx: &mut dyn Tx, task: i64) -> Result<Vec<ApprovalChain>> {
    tx.all(
        "SELECT id, request, requester, requester_name, created_at, state, why, decided_by, settled_at
         FROM approval WHERE task = ?1 ORDER BY id LIMIT 100",
        params![task],
        chain,
    )
}

fn chain(row: &dyn Row) -> Result<ApprovalChain> {
    let id: i64 = row.get(0)?;
    let request: Request = read_json("request", id, row.get(1)?)?;
    let requester: &str = row.get(2)?;
    let name: String = row.get(3)?;
    let settled_at: Option<i64> = row.get(8)?;
    Ok(ApprovalChain {
        call: request.call,
        tool: request.tool,
        requester: (!requester.is_empty()).then(|| Person { id: PersonId::new(requester), name }),
        asked_at: time(row.get(4)?),
        state: read_state(id, row.get(5)?)?,
        why: row.get(6)?,
        by: row.get(7)?,
        settled_at: settled_at.map(time),
    })
}

fn read_state(row: i64, name: &str) -> Result<ApprovalState> {
    ApprovalState::parse(name)
        .ok_or_else(|| StoreError::Corrupt(format!("approval {row}: the state {name:?}")))
}

/// Returns the approval that a person's words in private decide: `approve CODE`, or a word in reply to its
/// message. Never anything else, and never words that are not their own.
pub fn meant(tx: &mut dyn Tx, inbound: &Inbound) -> Result<Option<RawApproval>> {
    let coded = Verdict::with_code(&inbound.text).map(|(_, code)| code);
    let quoted = inbound.quote.as_ref().filter(|_| Verdict::of_reply(&inbound.text).is_some());
    if inbound.audience != Audience::Direct
        || inbound.forwarded
        || !inbound.aside.is_nothing()
        || (coded.is_none() && quoted.is_none())
    {
        return Ok(None);
    }
    let account = inbound.conversation.account().as_str();
    let mut found = list(
        tx,
        approval!(
            "WHERE a.id IN (SELECT approval FROM approval_asked WHERE account = ?1 AND person = ?2)
             ORDER BY a.id DESC LIMIT 100"
        ),
        params![account, inbound.speaker.id.as_str()],
    )?;
    match (coded, quoted) {
        (Some(code), _) => found.retain(|raw| selkie_domain::approval::code(&raw.key) == code),
        (None, Some(quote)) => found.retain(|raw| raw.is_asked_by(&quote.message)),
        (None, None) => found.clear(),
    }
    let open = found.iter().filter(|raw| raw.is_open()).count();
    // Two that wait under one code: neither is meant by it alone.
    Ok(if open > 1 { None } else { found.into_iter().max_by_key(|raw| (raw.is_open(), raw.row)) })
}

fn list(tx: &mut dyn Tx, sql: &'static str, by: &[Value<'_>]) -> Result<Vec<RawApproval>> {
    let mut found = tx.all(sql, by, RawApproval::from_row)?;
    for raw in &mut found {
        raw.asked = asked(tx, raw.row)?;
    }
    Ok(found)
}

/// Who was asked; the message is that of the last part: there the buttons are.
fn asked(tx: &mut dyn Tx, approval: i64) -> Result<Vec<AskedPerson>> {
    tx.all(
        "SELECT a.person, a.person_name, c.account, c.key, a.outbound,
             (SELECT message FROM part
              WHERE id BETWEEN a.outbound * 4096 AND a.outbound * 4096 + 4095 ORDER BY id DESC LIMIT 1),
             CAST(CASE WHEN a.refused = 0 AND NOT EXISTS (SELECT 1 FROM part p
                     WHERE p.id BETWEEN a.outbound * 4096 AND a.outbound * 4096 + 4095
                       AND p.state NOT IN ('sent', 'repeated')
                       AND EXISTS (SELECT 1 FROM part l
                           WHERE l.id BETWEEN p.id + 1 AND a.outbound * 4096 + 4095))
                 THEN 1 ELSE 0 END AS BIGINT)
         FROM approval_asked a JOIN conversation c ON c.id = a.conversation
         WHERE a.approval = ?1 ORDER BY a.outbound",
        params![approval],
        |row| {
            let message: Option<&str> = row.get(5)?;
            Ok(AskedPerson {
                person: person(row, 0)?,
                conversation: conversation(row, 2)?,
                outbound: OutboundId(row.get(4)?),
                message: message.map(MessageRef::new),
                whole: row.get::<i64>(6)? == 1,
            })
        },
    )
}

/// An approval as it is stored: parsed by whoever asked, not by the writer.
#[derive(Debug)]
pub struct RawApproval {
    row: i64,
    key: String,
    task: i64,
    conversation: ConversationId,
    requester: String,
    requester_name: String,
    request: String,
    state: String,
    why: Option<String>,
    by: String,
    expires_at: i64,
    muted: Option<String>,
    muted_until: Option<i64>,
    asked: Vec<AskedPerson>,
}

impl RawApproval {
    fn from_row(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            row: row.get(0)?,
            key: row.get(1)?,
            task: row.get(2)?,
            conversation: conversation(row, 3)?,
            requester: row.get(5)?,
            requester_name: row.get(6)?,
            request: row.get(7)?,
            state: row.get(8)?,
            why: row.get(9)?,
            by: row.get(10)?,
            expires_at: row.get(11)?,
            muted: row.get(12)?,
            muted_until: row.get(13)?,
            asked: Vec::new(),
        })
    }

    fn is_open(&self) -> bool {
        self.state == ApprovalState::Open.name()
    }

    /// Whether a message asks for it.
    fn is_asked_by(&self, message: &MessageRef) -> bool {
        let asks = |one: &AskedPerson| one.message.as_ref() == Some(message);
        self.asked.iter().any(asks)
    }

    /// Reads the stored texts.
    pub fn read(self) -> Result<ApprovalRow> {
        let corrupt = |what: String| StoreError::Corrupt(format!("approval {}: {what}", self.row));
        let request: Request = read_json("request", self.row, &self.request)?;
        if request.v > Request::VERSION {
            let known = Request::VERSION;
            return Err(corrupt(format!("layout {}, this selkie knows {known}", request.v)));
        }
        let state = read_state(self.row, &self.state)?;
        let of = self.muted.as_deref().and_then(MuteOf::parse);
        let mute = of.zip(self.muted_until).map(|(of, until)| Mute { of, until: time(until) });
        let requester = (!self.requester.is_empty())
            .then(|| Person { id: PersonId::new(self.requester), name: self.requester_name });
        Ok(ApprovalRow {
            key: self.key,
            task: TaskId(self.task),
            conversation: self.conversation,
            requester,
            request,
            state,
            why: self.why,
            by: self.by,
            asked: self.asked,
            expires_at: time(self.expires_at),
            mute,
        })
    }
}
