//! Stores a batch of events with what becomes of each, and claims what may start at once.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use selkie_channel_core::{Cursor, Inbound};

use super::claimed::{self, RawClaimed};
use super::event::{Row, TASK, name};
use super::gathering::{self, Request};
use super::precheck::{Glance, Here};
use super::rows::millis;
use super::{
    answered, approvals, claiming, closing, conversations, lanes, late, locks, moved, stop, tasks,
    unsend,
};
use crate::arrival::{Arrival, Disposition, NewTask};
use crate::error::{Result, StoreError};
use crate::intake::{AcceptResult, Fresh, Fuse, JoinedRequest};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::{InboxId, Instance, TaskId};
use selkie_domain::task::Lane;

/// What was accepted, with claims that are not read yet.
#[derive(Debug, Default)]
pub struct RawAccepted {
    accepted: AcceptResult,
    claimed: Vec<RawClaimed>,
    /// Lanes that got work, each once.
    touched: Vec<i64>,
    /// Who claims the task of the batch, which may be stored as running.
    claimer: Option<Instance>,
    /// It was: it is still to be gathered.
    started: Option<StartedTask>,
}

/// A task that was stored as running.
#[derive(Debug)]
struct StartedTask {
    task: i64,
    /// Its conversation, while it is as it was looked at.
    here: Option<Here>,
}

impl RawAccepted {
    /// Returns what was accepted, and the claims that are still to be read.
    pub fn parts(self) -> (AcceptResult, Vec<RawClaimed>) {
        (self.accepted, self.claimed)
    }
}

/// Stores the batch and its cursor; see [`crate::Intake::accept`].
pub fn accept(
    tx: &mut dyn Tx,
    rows: &[Row],
    cursor: Option<&Cursor>,
    fuse: &Fuse,
) -> Result<RawAccepted> {
    locks::named(tx, rows.iter().map(|row| &row.arrival.inbound.conversation))?;
    // Beside others of the batch the platform's order decides who is first; alone it may start at once.
    let alone = rows.iter().filter(|r| r.may_ask()).count() == 1;
    let claimer = (alone && fuse.permits > 0).then(|| fuse.instance.clone());
    let mut out = RawAccepted { claimer, ..RawAccepted::default() };
    for (index, row) in rows.iter().enumerate() {
        store(tx, index, row, fuse.now, &mut out)?;
    }
    if let Some(started) = out.started.take() {
        let claimed = gather(tx, rows, &out, started)?;
        out.claimed.push(claimed);
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

/// Gathers the task that was stored as running: nothing has to be read again when all of the batch is its message.
fn gather(
    tx: &mut dyn Tx,
    rows: &[Row],
    out: &RawAccepted,
    started: StartedTask,
) -> Result<RawClaimed> {
    let StartedTask { task, here } = started;
    match (rows, here, &out.claimer, &out.accepted.fresh[..]) {
        ([Row { text, facts: Some(facts), arrival }], Some(here), Some(instance), [fresh])
            if arrival.inbound.album.is_none() =>
        {
            let account = arrival.inbound.conversation.account().as_str();
            let inbox = fresh.row;
            let new = claimed::New { task, instance, account, here, facts, inbox, text };
            claimed::gather_new(tx, new)
        }
        _ => claimed::gather(tx, task),
    }
}

fn store(
    tx: &mut dyn Tx,
    index: usize,
    row: &Row,
    now: DateTime<Utc>,
    out: &mut RawAccepted,
) -> Result<()> {
    let inbound = &row.arrival.inbound;
    let glance = row.glance(tx)?;
    if glance.known {
        if let Disposition::Earlier(task) = row.arrival.disposition {
            late::adopt(tx, inbound, task)?;
        }
        out.accepted.known += 1;
        return Ok(());
    }
    if glance.unsent && inbound.what.is_said() && unsend::came_first(tx, inbound)? {
        let to = Belongs { conversation: glance.row(), ..Belongs::default() };
        let id = insert(tx, &row.taken_back(), "unsent", to, now)?;
        out.accepted.fresh.push(Fresh { index, row: id });
        return Ok(());
    }
    if let Some(here) = &glance.here
        && let Some(question) = answers(tx, here, &row.arrival)?
    {
        let to = Belongs { conversation: Some(here.row), question, ..Belongs::default() };
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
    let to = carry_out(tx, row, &glance, disposition, now, out)?;
    let name = match to {
        Belongs { applied: true, .. } => Cow::Borrowed(APPLIED),
        Belongs { taken: true, .. } => Cow::Borrowed(TASK),
        _ => name(disposition),
    };
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
    /// A line that speaks to nobody belongs to its speaker's request.
    taken: bool,
}

/// The open question that a message answers, if it does; no question for words that decide an approval.
fn answers(tx: &mut dyn Tx, here: &Here, arrival: &Arrival) -> Result<Option<Option<i64>>> {
    if !arrival.may_answer() {
        return Ok(None);
    }
    let inbound = &arrival.inbound;
    let question = match here.untold.asked {
        true => answered::answered_by(tx, here.row, inbound)?,
        false => None,
    };
    if question.is_none() && approvals::meant(tx, inbound)?.is_none() {
        return Ok(None);
    }
    hear(tx, Some(here), inbound)?;
    Ok(Some(question))
}

/// Returns the conversation of an event, and notes what the event adds to what is known of it.
fn hear(tx: &mut dyn Tx, known: Option<&Here>, inbound: &Inbound) -> Result<i64> {
    match known {
        Some(here) if here.has_noted(inbound) => Ok(here.row),
        known => conversations::hear(tx, known.map(|here| here.row), inbound),
    }
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
    let glance = row.glance(tx)?;
    let Belongs { task, .. } = carry_out(tx, row, &glance, disposition, now, &mut out)?;
    tx.execute_later(
        "UPDATE inbox SET disposition = ?2, task = ?3, question = NULL WHERE id = ?1",
        params![inbox, name(disposition).as_ref(), task],
    )?;
    match out.touched.first() {
        Some(lane) => lanes::ready_name(tx, *lane, now),
        None => Ok(None),
    }
}

/// Does what the disposition says; returns where the row belongs.
fn carry_out(
    tx: &mut dyn Tx,
    row: &Row,
    glance: &Glance,
    disposition: &Disposition,
    now: DateTime<Utc>,
    out: &mut RawAccepted,
) -> Result<Belongs> {
    let inbound = &row.arrival.inbound;
    if matches!(disposition, Disposition::Unsent) {
        out.accepted.stopping.extend(unsend::unsend(tx, inbound, now)?);
        out.accepted.unsent = true;
    }
    let conversation = match disposition {
        // Nothing comes of these: a stranger's line makes no conversation.
        Disposition::Ignored(_)
        | Disposition::Unparsed
        | Disposition::Edit
        | Disposition::Unsent
        | Disposition::Tap
        | Disposition::Earlier(_) => glance.row(),
        _ => Some(hear(tx, glance.here.as_ref(), inbound)?),
    };
    let Some(here) = conversation else { return Ok(Belongs::default()) };
    let mut task = None;
    let mut applied = false;
    let lane = glance.here.as_ref().and_then(|here| here.lane).filter(|lane| !lane.is_idle);
    let taken = match (&row.arrival.belongs, lane) {
        (Some(new), Some(lane)) => {
            let piece = gathering::Piece { inbound, new, conversation: here, lane: lane.row, now };
            gathering::find(tx, piece)?.map(|_| Disposition::Task(new.clone()))
        }
        _ => None,
    };
    let disposition = taken.as_ref().unwrap_or(disposition);
    match disposition {
        Disposition::Task(new) | Disposition::MeantNow(new) => {
            task = Some(begin(tx, At { row, new, here, glance, now }, out)?);
        }
        Disposition::Command | Disposition::Opened => conversations::open(tx, here)?,
        Disposition::Edit => applied = late::edit(tx, here, inbound)?,
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
        | Disposition::Unsent
        | Disposition::Ignored(_)
        | Disposition::Unparsed => {}
    }
    Ok(Belongs { conversation, task, question: None, applied, taken: taken.is_some() })
}

/// What a task is made of.
#[derive(Clone, Copy)]
struct At<'a> {
    row: &'a Row,
    new: &'a NewTask,
    here: i64,
    glance: &'a Glance,
    now: DateTime<Utc>,
}

/// Makes or joins the task of a row, and stops what it interrupts.
fn begin(tx: &mut dyn Tx, at: At<'_>, out: &mut RawAccepted) -> Result<i64> {
    let At { new, here, glance, now, .. } = at;
    if glance.here.as_ref().is_none_or(|known| known.is_closed) {
        conversations::open(tx, here)?;
    }
    let Placement { row: made, joins } = push(tx, at, out)?;
    if new.interrupts && !joins {
        // It interrupts others, never itself.
        let stopped = stop::interrupt(tx, here, made.task, &new.facts, now)?;
        out.accepted.stopping.extend(stopped);
    }
    if out.started.as_ref().is_none_or(|started| started.task != made.task) {
        lanes::refresh(tx, made.lane)?;
        if !out.touched.contains(&made.lane) {
            out.touched.push(made.lane);
        }
    }
    let later = new.not_before.filter(|at| *at > now);
    out.accepted.wake_at = [out.accepted.wake_at, later].into_iter().flatten().min();
    Ok(made.task)
}

/// Makes the task, or finds the one that its message belongs to, or the one of the same cause.
fn push(tx: &mut dyn Tx, at: At<'_>, out: &mut RawAccepted) -> Result<Placement> {
    let At { row, new, here, glance, now } = at;
    let inbound = &row.arrival.inbound;
    let (lane, is_idle) = match glance.here.as_ref().and_then(|here| here.lane) {
        Some(lane) => (lane.row, lane.is_idle),
        None => lanes::idle_of(tx, here)?,
    };
    let piece = gathering::Piece { inbound, new, conversation: here, lane, now };
    let request = if is_idle { None } else { gathering::find(tx, piece)? };
    let running = match request {
        Some(Request::Waits(task)) => {
            return Ok(Placement { row: task.take(tx, piece)?, joins: true });
        }
        Some(Request::Runs(running)) => Some(running),
        None => None,
    };
    if let Some(running) = &running {
        let until = new.not_before.filter(|_| gathering::is_expected(new));
        out.accepted.joining.push(JoinedRequest { task: TaskId(running.task), until });
    }
    let joins = running.is_some();
    let new = &match &running {
        Some(_) => Cow::Owned(NewTask { not_before: None, ..new.clone() }),
        None => Cow::Borrowed(new),
    };
    // A task that starts at once never waits: that spares the indices of those that do.
    let may_start = out.started.is_none() && new.not_before.is_none() && is_idle;
    let starts = out.claimer.as_ref().filter(|_| may_start);
    let Some(facts) = &row.facts else {
        return Err(StoreError::Corrupt("a task without its facts: a defect".to_owned()));
    };
    let own = new.gathers.as_ref().map(|gathers| gathers.word.as_str());
    let made = tasks::Row {
        account: row.account(),
        key: Some(&inbound.key),
        lane,
        order: inbound.order,
        gathers: running.as_ref().map(|running| running.word.as_str()).or(own),
        facts,
        whereabouts: glance.whereabouts,
        starts,
    };
    let made = tasks::make(tx, new, here, &made, now)?;
    if made.is_new && starts.is_some() {
        let known = glance.here.clone();
        let here = known.filter(|here| here.place == inbound.place.key());
        out.started = Some(StartedTask { task: made.task, here });
    }
    Ok(Placement { row: made, joins })
}

/// The task that a message has become.
struct Placement {
    row: tasks::TaskRow,
    /// The message belongs to a request that was there.
    joins: bool,
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
