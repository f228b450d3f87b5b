//! Stores a batch of events with what becomes of each, and claims what may start at once.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use selkie_channel_core::{Cursor, Inbound};

use super::claimed::RawClaimed;
use super::rows::{lean, millis};
use super::{
    answered, approvals, claiming, closing, conversations, facts, keys, lanes, late, locks, moved,
    stop, tasks, texts, unsend,
};
use crate::domain::ids::InboxId;
use crate::domain::task::Lane;
use crate::store::arrival::{Arrival, Disposition, NewTask};
use crate::store::error::{Result, StoreError};
use crate::store::intake::{Accepted, Fresh, Fuse};
use crate::store::tx::Tx;
use crate::store::value::params;

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
    pub fn new(mut arrival: Arrival) -> Result<Self> {
        keys::shorten(&mut arrival);
        let text = lean(&arrival.inbound)?;
        let facts = match &arrival.disposition {
            Disposition::Task(task) | Disposition::MeantNow(task) => {
                Some(facts::Written::new(&task.facts)?)
            }
            _ => None,
        };
        Ok(Self { arrival, text, facts })
    }

    /// Returns the account that brought it.
    pub fn account(&self) -> &str {
        self.arrival.inbound.conversation.account().as_str()
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
    tx: &mut dyn Tx,
    rows: &[Row],
    cursor: Option<&Cursor>,
    fuse: &Fuse,
) -> Result<RawAccepted> {
    locks::named(tx, rows.iter().map(|row| &row.arrival.inbound.conversation))?;
    // Beside others of the batch the platform's order decides who is first; alone it may start at once.
    let alone = rows.iter().filter(|r| r.is_task()).count() == 1;
    let mut out = RawAccepted { may_start: alone && fuse.permits > 0, ..RawAccepted::default() };
    for (index, row) in rows.iter().enumerate() {
        store(tx, index, row, fuse.now, &mut out)?;
    }
    if let Some(task) = out.started {
        out.claimed.push(claiming::start(tx, task, &fuse.instance, fuse.now)?);
    }
    if let Some(cursor) = cursor {
        tx.execute_later(
            "INSERT INTO cursor (account, value, at) VALUES (?1, ?2, ?3)
             ON CONFLICT (account) DO UPDATE SET value = excluded.value, at = excluded.at",
            params![cursor.account.as_str(), &cursor.value, millis(fuse.now)],
        )?;
    }
    for lane in std::mem::take(&mut out.touched) {
        if out.claimed.len() < fuse.permits
            && let Some(claimed) = claiming::take(tx, lane, &fuse.instance, fuse.now)?
        {
            out.claimed.push(claimed);
            continue;
        }
        out.accepted.ready.extend(lanes::ready_name(tx, lane, fuse.now)?);
    }
    Ok(out)
}

fn store(
    tx: &mut dyn Tx,
    index: usize,
    row: &Row,
    now: DateTime<Utc>,
    out: &mut RawAccepted,
) -> Result<()> {
    let inbound = &row.arrival.inbound;
    let known = tx.exists(
        "SELECT 1 FROM inbox WHERE account = ?1 AND key = ?2",
        params![row.account(), &inbound.key],
    )?;
    if known {
        if let Disposition::Earlier(task) = row.arrival.disposition {
            late::adopt(tx, inbound, task)?;
        }
        out.accepted.known += 1;
        return Ok(());
    }
    let conversation = conversations::find(tx, &inbound.conversation)?;
    if let Some(here) = conversation
        && let Some(question) = answers(tx, here, &row.arrival)?
    {
        let to = Belongs { conversation, question, ..Belongs::default() };
        let id = insert(tx, row, "answer", to, now)?;
        out.accepted.fresh.push(Fresh { index, row: id });
        out.accepted.commands.push((id, inbound.clone()));
        return Ok(());
    }
    let edit = Disposition::Edit;
    let disposition = match &row.arrival.disposition {
        Disposition::MeantNow(_) if late::is_answered(tx, inbound)? => &edit,
        other => other,
    };
    let to = carry_out(tx, row, conversation, disposition, now, out)?;
    let name = if to.applied { Cow::Borrowed(APPLIED) } else { name(disposition) };
    let id = insert(tx, row, &name, to, now)?;
    out.accepted.fresh.push(Fresh { index, row: id });
    if matches!(disposition, Disposition::Command | Disposition::Tap) {
        out.accepted.commands.push((id, inbound.clone()));
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

/// The open question that a message answers, if it does; no question for words that decide an approval.
fn answers(tx: &mut dyn Tx, here: i64, arrival: &Arrival) -> Result<Option<Option<i64>>> {
    if !arrival.may_answer() {
        return Ok(None);
    }
    let inbound = &arrival.inbound;
    let question = answered::answered_by(tx, here, inbound)?;
    if question.is_none() && approvals::meant(tx, inbound)?.is_none() {
        return Ok(None);
    }
    conversations::hear(tx, Some(here), inbound)?;
    Ok(Some(question))
}

/// The message of a question that was not open any more becomes what it would have been without it.
/// Returns the lane that got work.
pub fn after_all(
    tx: &mut dyn Tx,
    inbox: i64,
    row: &Row,
    now: DateTime<Utc>,
) -> Result<Option<Lane>> {
    let mut out = RawAccepted::default();
    let disposition = &row.arrival.disposition;
    let known = conversations::find(tx, &row.arrival.inbound.conversation)?;
    let Belongs { task, .. } = carry_out(tx, row, known, disposition, now, &mut out)?;
    tx.execute_later(
        "UPDATE inbox SET disposition = ?2, task = ?3, question = NULL WHERE id = ?1",
        params![inbox, name(disposition).as_ref(), task],
    )?;
    match out.touched.first() {
        Some(lane) => lanes::ready_name(tx, *lane, now),
        None => Ok(None),
    }
}

/// Does what the disposition says; returns where the row belongs. `known`: its conversation, where there is one.
fn carry_out(
    tx: &mut dyn Tx,
    row: &Row,
    known: Option<i64>,
    disposition: &Disposition,
    now: DateTime<Utc>,
    out: &mut RawAccepted,
) -> Result<Belongs> {
    let inbound = &row.arrival.inbound;
    let conversation = match disposition {
        // Nothing comes of these: a stranger's line makes no conversation.
        Disposition::Ignored(_)
        | Disposition::Unparsed
        | Disposition::Edit
        | Disposition::Unsent
        | Disposition::Tap
        | Disposition::Earlier(_) => known,
        _ => Some(conversations::hear(tx, known, inbound)?),
    };
    let Some(here) = conversation else { return Ok(Belongs::default()) };
    let (mut task, mut applied) = (None, false);
    match disposition {
        Disposition::Task(new) | Disposition::MeantNow(new) => {
            task = Some(begin(tx, row, new, here, now, out)?);
        }
        Disposition::Command | Disposition::Opened => conversations::open(tx, here)?,
        Disposition::Edit => applied = edit(tx, here, inbound)?,
        Disposition::Unsent => {
            if let Some(message) = &inbound.message {
                out.accepted.stopping.extend(unsend::unsend(tx, here, message, now)?);
            }
        }
        Disposition::Closed(reason) => closing::close(tx, here, reason, millis(now))?,
        Disposition::Moved(to) => {
            let account = inbound.place.account().as_str();
            moved::move_place(tx, account, inbound.place.key(), to.key())?;
        }
        Disposition::Gate => {
            if !out.accepted.gated.contains(&inbound.conversation) {
                out.accepted.gated.push(inbound.conversation.clone());
            }
        }
        Disposition::Earlier(of) => task = Some(of.0),
        Disposition::Context
        | Disposition::Tap
        | Disposition::Ignored(_)
        | Disposition::Unparsed => {}
    }
    Ok(Belongs { conversation, task, question: None, applied })
}

/// Makes or joins the task of a row, and stops what it interrupts.
fn begin(
    tx: &mut dyn Tx,
    row: &Row,
    new: &NewTask,
    here: i64,
    now: DateTime<Utc>,
    out: &mut RawAccepted,
) -> Result<i64> {
    conversations::open(tx, here)?;
    let made = push(tx, row, new, here, now, out)?;
    if new.interrupts {
        // Its own claim is not written yet: it interrupts others, never itself.
        let stopped = stop::interrupt(tx, here, made.task, &new.facts, now)?;
        out.accepted.stopping.extend(stopped);
    }
    if out.started.is_none() {
        lanes::refresh(tx, made.lane)?;
        if !out.touched.contains(&made.lane) {
            out.touched.push(made.lane);
        }
    }
    let later = new.not_before.filter(|at| *at > now);
    out.accepted.wake_at = [out.accepted.wake_at, later].into_iter().flatten().min();
    Ok(made.task)
}

/// Makes the task, or finds the one of the same album or cause.
fn push(
    tx: &mut dyn Tx,
    row: &Row,
    new: &NewTask,
    conversation: i64,
    now: DateTime<Utc>,
    out: &mut RawAccepted,
) -> Result<tasks::Made> {
    let inbound = &row.arrival.inbound;
    if let Some(joined) = tasks::join(tx, inbound, new, conversation, now)? {
        return Ok(joined);
    }
    let (lane, is_idle) = lanes::idle_of(tx, conversation)?;
    // A task that starts at once never waits: that spares the indices of those that do.
    let starts = out.may_start && new.not_before.is_none() && is_idle;
    let Some(facts) = &row.facts else {
        return Err(StoreError::Corrupt("a task without its facts: a defect".to_owned()));
    };
    let made = tasks::Row {
        account: row.account(),
        key: Some(&inbound.key),
        lane,
        order: inbound.order,
        gathers: new.gathers.as_deref(),
        facts,
        starts,
    };
    let made = tasks::make(tx, new, conversation, &made, now)?;
    if made.is_new {
        out.started = starts.then_some(made.task);
    }
    Ok(made)
}

/// Changes the stored text of a message that waits: of a task, or as context for one. Returns whether it
/// did.
fn edit(tx: &mut dyn Tx, conversation: i64, inbound: &Inbound) -> Result<bool> {
    let Some(message) = &inbound.message else { return Ok(false) };
    let waiting: Vec<(i64, String)> = tx.all(
        "SELECT id, inbound FROM inbox
         WHERE message = ?1 AND conversation = ?2 AND
             (disposition = 'gate' OR (disposition = 'context' AND task IS NULL) OR
              (disposition = 'task' AND (SELECT state FROM task WHERE id = inbox.task) = 'waiting'))",
        params![message.as_str(), conversation],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let mut applied = false;
    for (row, before) in waiting {
        let Some(text) = texts::with_text(&before, &inbound.text) else {
            // Its task ends as failed when it is claimed: nobody answers the words before the edit.
            tracing::warn!(
                row,
                "a waiting message that was edited cannot be read: the edit is kept"
            );
            continue;
        };
        tx.execute_later("UPDATE inbox SET inbound = ?2 WHERE id = ?1", params![row, &text])?;
        applied = true;
    }
    Ok(applied)
}

fn insert(
    tx: &mut dyn Tx,
    row: &Row,
    disposition: &str,
    to: Belongs,
    now: DateTime<Utc>,
) -> Result<InboxId> {
    let inbound = &row.arrival.inbound;
    let stored = tx.insert(
        "INSERT INTO inbox (account, key, conversation, ord, message, inbound, disposition, task,
             question, stored_at, album, quotes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            row.account(),
            &inbound.key,
            to.conversation,
            inbound.order,
            inbound.message.as_ref().map(|m| m.as_str()),
            &row.text,
            disposition,
            to.task,
            to.question,
            millis(now),
            &inbound.album,
            inbound.quote.as_ref().map(|quote| quote.message.as_str())
        ],
    )?;
    let not_stored = || StoreError::Corrupt("an event was not stored: a defect".to_owned());
    stored.map(InboxId).ok_or_else(not_stored)
}

/// Returns a disposition's name in rows.
fn name(disposition: &Disposition) -> Cow<'static, str> {
    Cow::Borrowed(match disposition {
        Disposition::Task(_) | Disposition::MeantNow(_) => "task",
        Disposition::Command => "command",
        Disposition::Tap => "tap",
        Disposition::Edit => "edit",
        Disposition::Gate => "gate",
        Disposition::Unsent => "unsend",
        Disposition::Context | Disposition::Earlier(_) => "context",
        Disposition::Ignored(reason) => return Cow::Owned(format!("ignored: {reason}")),
        Disposition::Unparsed => "unparsed",
        Disposition::Moved(_) => "moved",
        Disposition::Closed(_) => "closed",
        Disposition::Opened => "opened",
    })
}
