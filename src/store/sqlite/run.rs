//! What a run has come to, written under its claim: a step, a park, the end.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};

use super::claimed::RawClaimed;
use super::outbox;
use super::rows::{ITEM_VERSION, json, lean, millis, small};
use super::writer::Class;
use super::{delivery, facts, holds, inflow, lanes, notes, questions, read, unsend, work};
use crate::domain::facts::Mode;
use crate::domain::task::{Claim, ParkedOn};
use crate::domain::transcript::Item;
use crate::domain::usage::Usage;
use crate::store::{Advance, End, Queued, Result, Seen};

/// An advance, written as text before it reaches the writer.
#[derive(Debug)]
pub struct Prepared {
    items: Vec<String>,
    /// Absent when it stays as it is.
    header: Option<String>,
    usage: Usage,
    now: DateTime<Utc>,
    seen: Seen,
    how: How,
}

#[derive(Debug)]
enum How {
    Step {
        facts: Option<facts::Written>,
        durable: bool,
    },
    Park(Box<Parking>),
    Release,
    Finish {
        facts: Option<facts::Written>,
        end: End,
        say: Vec<outbox::Prepared>,
        set_aside: bool,
        departs: bool,
        hand_over: bool,
    },
}

#[derive(Debug)]
struct Parking {
    on: ParkedOn,
    text: String,
    wake_at: Option<i64>,
    ask: Option<questions::Prepared>,
    hand_over: bool,
}

impl Prepared {
    /// Writes the texts of an advance. `now` serves those that do not bring their own.
    pub fn new(advance: Advance, now: DateTime<Utc>) -> Result<Self> {
        let texts = |items: Vec<Item>| items.iter().map(item_text).collect::<Result<Vec<_>>>();
        let seen = Seen::default();
        Ok(match advance {
            Advance::Absorb { seen, with } => Self { seen, ..Self::new(*with, now)? },
            Advance::Step { append, header, facts, usage, durable } => {
                let facts = facts.as_ref().map(facts::Written::new).transpose()?;
                let how = How::Step { facts, durable };
                Self { items: texts(append)?, header: Some(header), usage, now, seen, how }
            }
            Advance::Park { append, header, on, ask, wake_at, usage, hand_over, now } => {
                let how = How::Park(Box::new(Parking {
                    text: json(&on)?,
                    on,
                    wake_at: wake_at.map(millis),
                    ask: ask.map(|asked| questions::Prepared::new(*asked)).transpose()?,
                    hand_over,
                }));
                Self { items: texts(append)?, header: Some(header), usage, now, seen, how }
            }
            Advance::Release => {
                let (items, usage) = (Vec::new(), Usage::default());
                Self { items, header: None, usage, now, seen, how: How::Release }
            }
            Advance::Finish {
                append,
                header,
                facts,
                end,
                say,
                usage,
                set_aside,
                departs,
                hand_over,
                now,
            } => {
                let facts = facts.as_ref().map(facts::Written::new).transpose()?;
                let said = |draft| outbox::Prepared::saying(draft, &append);
                let say = say.into_iter().map(said).collect::<Result<_>>()?;
                let how = How::Finish { facts, end, say, set_aside, departs, hand_over };
                Self { items: texts(append)?, header: Some(header), usage, now, seen, how }
            }
        })
    }

    /// Returns what a power failure may take back.
    pub fn class(&self) -> Class {
        match self.how {
            How::Step { durable: false, .. } | How::Release => Class::Relaxed,
            _ => Class::Durable,
        }
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        let said = match &self.how {
            How::Finish { say, .. } => say.iter().map(outbox::Prepared::bytes).sum(),
            How::Park(parking) => parking.ask.as_ref().map_or(0, questions::Prepared::bytes),
            _ => 0,
        };
        let header = self.header.as_ref().map_or(0, String::len);
        header + self.items.iter().map(String::len).sum::<usize>() + said
    }
}

/// What a commit came to, with a claim that is not read yet.
#[derive(Debug)]
pub enum RawCommitted {
    Continue { stop: bool, mode: Mode },
    Lost,
    Ended { queued: Vec<Queued>, next: Option<Box<RawClaimed>>, usage: Usage },
}

/// What the holder of a claim needs to know of its task.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    lane: i64,
    stop: bool,
    /// Its message was taken back.
    unsent: bool,
    mode: Mode,
}

impl Held {
    /// Returns the row of its lane.
    pub fn lane(&self) -> i64 {
        self.lane
    }
}

/// Returns the task's state when the claim still holds.
pub fn held(conn: &Connection, claim: &Claim) -> Result<Option<Held>> {
    Ok(conn
        .prepare_cached(
            "SELECT lane, stop, (SELECT plan FROM conversation WHERE id = task.conversation)
             FROM task WHERE id = ?1 AND state = 'running' AND claim = ?2 AND boot = ?3",
        )?
        .query_row(params![claim.task.0, claim.number, claim.boot.0], |row| {
            let stop: i64 = row.get(1)?;
            let unsent = stop == unsend::STOP_UNSENT;
            let (stop, mode) = (stop != 0, notes::mode(row.get(2)?));
            Ok(Held { lane: row.get(0)?, stop, unsent, mode })
        })
        .optional()?)
}

/// Writes an advance under its claim; nothing when the claim is lost.
pub fn commit(conn: &Connection, claim: &Claim, advance: Prepared) -> Result<RawCommitted> {
    let Some(held) = held(conn, claim)? else { return Ok(RawCommitted::Lost) };
    let Prepared { items, header, usage, now, seen, how } = advance;
    let task = claim.task.0;
    if !seen.is_empty() {
        inflow::absorb(conn, (task, held.lane), &seen, now)?;
    }
    let first = append(conn, task, &items)?;
    if held.unsent {
        unsend::again(conn, task)?;
    }
    let facts = match &how {
        How::Step { facts, .. } | How::Finish { facts, .. } => facts.as_ref(),
        _ => None,
    };
    let whereabouts = facts.map(|facts| facts.whereabouts(conn)).transpose()?;
    // Nobody resumes what has ended.
    let over = matches!(how, How::Finish { .. });
    let Usage { calls, input, cached, output, micro_usd } = usage;
    let [input, cached, output, money] = [input, cached, output, micro_usd].map(small);
    conn.prepare_cached(
        "UPDATE task SET header = CASE WHEN ?9 = 0 THEN COALESCE(?2, header) END,
             facts = COALESCE(?3, facts), whereabouts = COALESCE(?10, whereabouts),
             calls = calls + ?4, input = input + ?5, cached = cached + ?6, output = output + ?7,
             micro_usd = micro_usd + ?8 WHERE id = ?1",
    )?
    .execute(params![
        task,
        header,
        facts.map(facts::Written::rest),
        calls,
        input,
        cached,
        output,
        money,
        over,
        whereabouts
    ])?;
    let Held { stop, mode, .. } = held;
    match how {
        How::Step { .. } => Ok(RawCommitted::Continue { stop, mode }),
        // Somebody wants it to end: it must not fall asleep before it hears so.
        How::Park(_) if stop => Ok(RawCommitted::Continue { stop, mode }),
        How::Park(parking) => park(conn, claim, *parking, (held, now)),
        How::Release => release(conn, task, held),
        How::Finish { end, say, set_aside, departs, hand_over, .. } => {
            let usage = finish(conn, task, &end, now)?;
            let said = say.into_iter().map(|draft| draft.counted_from(first));
            let mut queued: Vec<Queued> =
                said.map(|draft| holds::say(conn, task, draft, now)).collect::<Result<_>>()?;
            let first = queued.first_mut().and_then(|said| said.parts.first_mut());
            if let Some(part) = first.filter(|_| departs) {
                part.departs = delivery::mark(conn, part.id, &claim.boot, millis(now))?;
            }
            if set_aside {
                raise_epoch(conn, task)?;
            }
            lanes::refresh(conn, held.lane)?;
            let next = match hand_over {
                true => lanes::take(conn, held.lane, &claim.boot, now)?.map(Box::new),
                false => None,
            };
            Ok(RawCommitted::Ended { queued, next, usage })
        }
    }
}

/// The conversation so far is not read any more; its todos and notes stay.
fn raise_epoch(conn: &Connection, task: i64) -> Result<()> {
    conn.prepare_cached(
        "UPDATE conversation SET epoch = epoch + 1
         WHERE id = (SELECT conversation FROM task WHERE id = ?1)",
    )?
    .execute([task])?;
    Ok(())
}

/// Writes an item. What a person said is stored without what is empty; a call's arguments stay as they
/// are.
fn item_text(item: &Item) -> Result<String> {
    match item {
        Item::Heard(_) => lean(item),
        other => json(other),
    }
}

/// Appends items and returns the number of the first.
fn append(conn: &Connection, task: i64, items: &[String]) -> Result<i64> {
    if items.is_empty() {
        return Ok(0);
    }
    let first: i64 = conn
        .prepare_cached("SELECT COALESCE(MAX(seq), 0) + 1 FROM transcript WHERE task = ?1")?
        .query_row([task], |row| row.get(0))?;
    for (seq, item) in (first..).zip(items) {
        conn.prepare_cached("INSERT INTO transcript (task, seq, v, item) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![task, seq, ITEM_VERSION, item])?;
    }
    Ok(first)
}

/// Counts what a task has cost besides its steps.
pub fn spend(conn: &Connection, task: i64, usage: Usage) -> Result<()> {
    let Usage { calls, input, cached, output, micro_usd } = usage;
    let [input, cached, output, money] = [input, cached, output, micro_usd].map(small);
    conn.prepare_cached(
        "UPDATE task SET calls = calls + ?2, input = input + ?3, cached = cached + ?4,
             output = output + ?5, micro_usd = micro_usd + ?6 WHERE id = ?1",
    )?
    .execute(params![task, calls, input, cached, output, money])?;
    Ok(())
}

/// Parks the task: its attempts begin anew, for this claim ended well. A child that has already ended
/// wakes it at once.
fn park(
    conn: &Connection,
    claim: &Claim,
    parking: Parking,
    (held, now): (Held, DateTime<Utc>),
) -> Result<RawCommitted> {
    let task = claim.task.0;
    let Parking { on, text, wake_at, ask, hand_over } = parking;
    let child = match on {
        ParkedOn::Child { task } => Some(task.0),
        _ => None,
    };
    conn.prepare_cached(
        "UPDATE task SET state = 'parked', boot = NULL, attempts = 0, parked = ?2, child = ?3,
             start_at = CASE WHEN EXISTS (SELECT 1 FROM task c WHERE c.id = ?3 AND c.finish NOT NULL)
                        THEN 0 ELSE ?4 END
         WHERE id = ?1",
    )?
    .execute(params![task, text, child, wake_at])?;
    let asked = ask.map(|ask| questions::ask(conn, task, ask, now)).transpose()?;
    let usage = given_back(conn, task, held)?;
    let next = match hand_over {
        true => lanes::take(conn, held.lane, &claim.boot, now)?.map(Box::new),
        false => None,
    };
    Ok(RawCommitted::Ended { queued: asked.into_iter().collect(), next, usage })
}

/// The task waits again as if this claim had never been.
fn release(conn: &Connection, task: i64, held: Held) -> Result<RawCommitted> {
    conn.prepare_cached(
        "UPDATE task SET state = 'waiting', boot = NULL, start_at = 0, attempts = attempts - 1
         WHERE id = ?1",
    )?
    .execute([task])?;
    let usage = given_back(conn, task, held)?;
    Ok(RawCommitted::Ended { queued: Vec::new(), next: None, usage })
}

/// The claim has ended and the task has not; returns what it cost so far.
fn given_back(conn: &Connection, task: i64, held: Held) -> Result<Usage> {
    lanes::refresh(conn, held.lane)?;
    read::cost(conn, task)
}

/// Ends the task and returns what it cost in all.
fn finish(conn: &Connection, task: i64, end: &End, now: DateTime<Utc>) -> Result<Usage> {
    let why = match end {
        End::Done => None,
        End::Failed { why } => Some(why.as_str()),
        End::Stopped => Some("stopped by a person"),
    };
    work::end(conn, task, (end.state().name(), why), millis(now))
}
