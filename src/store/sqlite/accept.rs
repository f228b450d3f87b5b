//! Stores a batch of events with what becomes of each, and claims what may start at once.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, params};
use selkie_channel_core::{Cursor, Inbound};

use super::claimed::RawClaimed;
use super::rows::{lean, millis};
use super::{command, conversations, facts, lanes, late, moved, questions, tasks, unsend};
use crate::domain::ids::InboxId;
use crate::domain::task::Lane;
use crate::store::{Accepted, Arrival, Disposition, Fresh, Fuse, NewTask, Result, StoreError};

/// An arrival, written as text before it reaches the writer.
#[derive(Debug)]
pub struct Row {
    arrival: Arrival,
    text: String,
    /// Of the task that it may become.
    facts: Option<facts::Written>,
}

impl Row {
    /// Writes an arrival's texts.
    pub fn new(arrival: Arrival) -> Result<Self> {
        let text = lean(&arrival.inbound)?;
        let facts = match &arrival.disposition {
            Disposition::Task(task) | Disposition::MeantNow(task) => {
                Some(facts::Written::new(&task.facts)?)
            }
            _ => None,
        };
        Ok(Self { arrival, text, facts })
    }

    fn is_task(&self) -> bool {
        matches!(self.arrival.disposition, Disposition::Task(_))
    }

    /// Whether a message is taken back: its text must not stay in the log.
    pub fn takes_back(&self) -> bool {
        matches!(self.arrival.disposition, Disposition::Unsent)
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.facts.as_ref().map_or(0, facts::Written::bytes)
    }
}

/// What was accepted, with claims that are not read yet.
#[derive(Debug, Default)]
pub struct RawAccepted {
    accepted: Accepted,
    claimed: Vec<RawClaimed>,
    /// Lanes that got work, each once.
    touched: Vec<i64>,
    /// The task of the batch may be stored as running.
    may_start: bool,
    /// It was: its claim is still to be written.
    started: Option<i64>,
}

impl RawAccepted {
    /// Returns what was accepted, and the claims that are still to be read.
    pub fn parts(self) -> (Accepted, Vec<RawClaimed>) {
        (self.accepted, self.claimed)
    }
}

/// Stores the batch and its cursor; see [`crate::store::Intake::accept`].
pub fn accept(
    conn: &Connection,
    rows: Vec<Row>,
    cursor: Option<Cursor>,
    fuse: &Fuse,
) -> Result<RawAccepted> {
    // Beside others of the batch the platform's order decides who is first; alone it may start at once.
    let alone = rows.iter().filter(|r| r.is_task()).count() == 1;
    let mut out = RawAccepted { may_start: alone && fuse.permits > 0, ..RawAccepted::default() };
    for (index, row) in rows.into_iter().enumerate() {
        store(conn, (index, row), fuse.now, &mut out)?;
    }
    if let Some(task) = out.started {
        out.claimed.push(lanes::start(conn, task, &fuse.boot, fuse.now)?);
    }
    if let Some(cursor) = cursor {
        conn.prepare_cached(
            "INSERT OR REPLACE INTO cursor (account, value, at) VALUES (?1, ?2, ?3)",
        )?
        .execute(params![cursor.account.as_str(), cursor.value, millis(fuse.now)])?;
    }
    for lane in std::mem::take(&mut out.touched) {
        if out.claimed.len() < fuse.permits
            && let Some(claimed) = lanes::take(conn, lane, &fuse.boot, fuse.now)?
        {
            out.claimed.push(claimed);
            continue;
        }
        out.accepted.ready.extend(lanes::ready_name(conn, lane, fuse.now)?);
    }
    Ok(out)
}

fn store(
    conn: &Connection,
    (index, mut row): (usize, Row),
    now: DateTime<Utc>,
    out: &mut RawAccepted,
) -> Result<()> {
    let inbound = &row.arrival.inbound;
    let known = conn
        .prepare_cached("SELECT 1 FROM inbox WHERE account = ?1 AND key = ?2")?
        .exists([inbound.conversation.account().as_str(), &inbound.key])?;
    if known {
        if let Disposition::Earlier(task) = row.arrival.disposition {
            late::adopt(conn, inbound, task)?;
        }
        out.accepted.known += 1;
        return Ok(());
    }
    if let Some((conversation, question)) = answers(conn, &row.arrival)? {
        let (conversation, question) = (Some(conversation), Some(question));
        let to = Belongs { conversation, question, ..Belongs::default() };
        let id = insert(conn, &row, "answer", to, now)?;
        out.accepted.fresh.push(Fresh { index, row: id });
        out.accepted.commands.push((id, row.arrival.inbound));
        return Ok(());
    }
    row.arrival.disposition = late::decide(conn, row.arrival.disposition, &row.arrival.inbound)?;
    let to = carry_out(conn, &row, now, out)?;
    let name = if to.applied { APPLIED.to_owned() } else { name(&row.arrival.disposition) };
    let id = insert(conn, &row, &name, to, now)?;
    out.accepted.fresh.push(Fresh { index, row: id });
    if matches!(row.arrival.disposition, Disposition::Command | Disposition::Tap) {
        out.accepted.commands.push((id, row.arrival.inbound));
    }
    Ok(())
}

/// An edit that has changed what waits.
const APPLIED: &str = "edit: applied";

/// What a row of the inbox belongs to.
#[derive(Clone, Copy, Default)]
struct Belongs {
    conversation: Option<i64>,
    task: Option<i64>,
    question: Option<i64>,
    /// The edit has changed what waits.
    applied: bool,
}

/// The conversation and the open question that a message answers, if it does.
fn answers(conn: &Connection, arrival: &Arrival) -> Result<Option<(i64, i64)>> {
    if !arrival.may_answer() {
        return Ok(None);
    }
    let inbound = &arrival.inbound;
    let Some(conversation) = conversations::find(conn, &inbound.conversation)? else {
        return Ok(None);
    };
    let Some(question) = questions::answered_by(conn, conversation, inbound)? else {
        return Ok(None);
    };
    conversations::hear(conn, inbound)?;
    Ok(Some((conversation, question)))
}

/// The message of a question that was not open any more becomes what it would have been without it.
/// Returns the lane that got work.
pub fn after_all(
    conn: &Connection,
    inbox: i64,
    row: &Row,
    now: DateTime<Utc>,
) -> Result<Option<Lane>> {
    let mut out = RawAccepted::default();
    let Belongs { task, .. } = carry_out(conn, row, now, &mut out)?;
    conn.prepare_cached(
        "UPDATE inbox SET disposition = ?2, task = ?3, question = NULL WHERE id = ?1",
    )?
    .execute(params![inbox, name(&row.arrival.disposition), task])?;
    match out.touched.first() {
        Some(lane) => lanes::ready_name(conn, *lane, now),
        None => Ok(None),
    }
}

/// Does what the disposition says; returns where the row belongs.
fn carry_out(
    conn: &Connection,
    row: &Row,
    now: DateTime<Utc>,
    out: &mut RawAccepted,
) -> Result<Belongs> {
    let inbound = &row.arrival.inbound;
    let conversation = match &row.arrival.disposition {
        // Nothing comes of these: a stranger's line makes no conversation.
        Disposition::Ignored(_)
        | Disposition::Unparsed
        | Disposition::Edit
        | Disposition::Unsent
        | Disposition::Tap
        | Disposition::MeantNow(_)
        | Disposition::Earlier(_) => conversations::find(conn, &inbound.conversation)?,
        _ => Some(conversations::hear(conn, inbound)?),
    };
    let Some(here) = conversation else { return Ok(Belongs::default()) };
    let (mut task, mut applied) = (None, false);
    match &row.arrival.disposition {
        Disposition::Task(new) => {
            conversations::open(conn, here)?;
            let (id, lane) = push(conn, row, new, here, (now, out))?;
            if new.interrupts {
                // Its own claim is not written yet: it interrupts others, never itself.
                let stopped = command::interrupt(conn, (here, id), &new.facts, now)?;
                out.accepted.stopping.extend(stopped);
            }
            task = Some(id);
            if out.started.is_none() {
                lanes::refresh(conn, lane)?;
                if !out.touched.contains(&lane) {
                    out.touched.push(lane);
                }
            }
            let later = new.not_before.filter(|at| *at > now);
            out.accepted.wake_at = [out.accepted.wake_at, later].into_iter().flatten().min();
        }
        Disposition::Command | Disposition::Opened => conversations::open(conn, here)?,
        Disposition::Edit => applied = edit(conn, here, inbound)?,
        Disposition::Unsent => {
            if let Some(message) = &inbound.message {
                out.accepted.stopping.extend(unsend::unsend(conn, here, message, now)?);
            }
        }
        Disposition::Closed(reason) => conversations::close(conn, here, reason, millis(now))?,
        Disposition::Moved(to) => {
            let account = inbound.place.account().as_str();
            moved::move_place(conn, account, inbound.place.key(), to.key())?;
        }
        Disposition::Gate => {
            if !out.accepted.gated.contains(&inbound.conversation) {
                out.accepted.gated.push(inbound.conversation.clone());
            }
        }
        Disposition::Earlier(of) => task = Some(of.0),
        // An edit that means the bot was decided before.
        Disposition::Context
        | Disposition::Tap
        | Disposition::Ignored(_)
        | Disposition::Unparsed
        | Disposition::MeantNow(_) => {}
    }
    Ok(Belongs { conversation, task, question: None, applied })
}

/// Makes the task, or finds the one of the same album or cause. Returns it with its lane.
fn push(
    conn: &Connection,
    row: &Row,
    new: &NewTask,
    conversation: i64,
    (now, out): (DateTime<Utc>, &mut RawAccepted),
) -> Result<(i64, i64)> {
    let inbound = &row.arrival.inbound;
    if let Some(joined) = tasks::join(conn, inbound, new, (conversation, now))? {
        return Ok(joined);
    }
    let lane = lanes::of_conversation(conn, conversation)?;
    // A task that starts at once never waits: that spares the indices of those that do.
    let starts = out.may_start && new.not_before.is_none() && lanes::is_idle(conn, lane)?;
    let Some(facts) = &row.facts else {
        return Err(StoreError::Corrupt("a task without its facts: a defect".to_owned()));
    };
    let row = tasks::Row {
        account: inbound.conversation.account().as_str(),
        key: Some(&inbound.key),
        lane,
        order: inbound.order,
        gathers: new.gathers.as_deref(),
        facts,
        starts,
    };
    let (id, lane, is_new) = tasks::make(conn, new, conversation, &row, now)?;
    if is_new {
        out.started = starts.then_some(id);
    }
    Ok((id, lane))
}

/// Changes the stored text of a message that waits: of a task, or as context for one. Returns whether it
/// did.
fn edit(conn: &Connection, conversation: i64, inbound: &Inbound) -> Result<bool> {
    let Some(message) = &inbound.message else { return Ok(false) };
    let changed = conn
        .prepare_cached(
            "UPDATE inbox SET inbound = json_set(inbound, '$.text', ?3)
         WHERE message = ?1 AND conversation = ?2 AND CASE disposition
             WHEN 'task' THEN (SELECT state FROM task WHERE id = inbox.task) = 'waiting'
             WHEN 'gate' THEN 1
             WHEN 'context' THEN task IS NULL END",
        )?
        .execute(params![message.as_str(), conversation, inbound.text])?;
    Ok(changed > 0)
}

fn insert(
    conn: &Connection,
    row: &Row,
    disposition: &str,
    to: Belongs,
    now: DateTime<Utc>,
) -> Result<InboxId> {
    let inbound = &row.arrival.inbound;
    conn.prepare_cached(
        "INSERT INTO inbox (account, key, conversation, ord, message, inbound, disposition, task,
             question, stored_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        inbound.conversation.account().as_str(),
        inbound.key,
        to.conversation,
        inbound.order,
        inbound.message.as_ref().map(|m| m.as_str()),
        row.text,
        disposition,
        to.task,
        to.question,
        millis(now)
    ])?;
    Ok(InboxId(conn.last_insert_rowid()))
}

/// Returns a disposition's name in rows.
fn name(disposition: &Disposition) -> String {
    let name = match disposition {
        Disposition::Task(_) => "task",
        Disposition::Command => "command",
        Disposition::Tap => "tap",
        Disposition::Edit | Disposition::MeantNow(_) => "edit",
        Disposition::Gate => "gate",
        Disposition::Unsent => "unsend",
        Disposition::Context | Disposition::Earlier(_) => "context",
        Disposition::Ignored(reason) => return format!("ignored: {reason}"),
        Disposition::Unparsed => "unparsed",
        Disposition::Moved(_) => "moved",
        Disposition::Closed(_) => "closed",
        Disposition::Opened => "opened",
    };
    name.to_owned()
}
