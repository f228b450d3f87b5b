//! What a run has come to, written under its claim: a step, a park, the end.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};

use super::claimed::RawClaimed;
use super::outbox::{self, Cause};
use super::rows::{ITEM_VERSION, json, millis, small};
use super::writer::Class;
use super::{inflow, lanes, read, work};
use crate::domain::task::{Claim, ParkedOn};
use crate::domain::transcript::Item;
use crate::domain::usage::Usage;
use crate::store::{Advance, Committed, End, Queued, Result, Seen};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

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
    Step { facts: Option<String>, durable: bool },
    Park { on: ParkedOn, text: String, wake_at: Option<i64> },
    Release,
    Finish { end: End, say: Vec<outbox::Prepared>, set_aside: bool, hand_over: bool },
}

impl Prepared {
    /// Writes the texts of an advance. `now` serves those that do not bring their own.
    pub fn new(advance: Advance, now: DateTime<Utc>) -> Result<Self> {
        let texts = |items: Vec<Item>| items.iter().map(json).collect::<Result<Vec<_>>>();
        let seen = Seen::default();
        Ok(match advance {
            Advance::Absorb { seen, with } => Self { seen, ..Self::new(*with, now)? },
            Advance::Step { append, header, facts, usage, durable } => {
                let facts = facts.as_ref().map(json).transpose()?;
                let how = How::Step { facts, durable };
                Self { items: texts(append)?, header: Some(header), usage, now, seen, how }
            }
            Advance::Park { append, header, on, wake_at, usage } => {
                let (text, wake_at) = (json(&on)?, wake_at.map(millis));
                let how = How::Park { on, text, wake_at };
                Self { items: texts(append)?, header: Some(header), usage, now, seen, how }
            }
            Advance::Release => {
                let (items, usage) = (Vec::new(), Usage::default());
                Self { items, header: None, usage, now, seen, how: How::Release }
            }
            Advance::Finish { append, header, end, say, usage, set_aside, hand_over, now } => {
                let say = say.into_iter().map(outbox::Prepared::new).collect::<Result<_>>()?;
                let how = How::Finish { end, say, set_aside, hand_over };
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
            _ => 0,
        };
        let header = self.header.as_ref().map_or(0, String::len);
        header + self.items.iter().map(String::len).sum::<usize>() + said
    }
}

/// What a commit came to, with a claim that is not read yet.
#[derive(Debug)]
pub enum RawCommitted {
    Continue { stop: bool },
    Lost,
    Ended { queued: Vec<Queued>, next: Option<Box<RawClaimed>>, usage: Usage },
}

impl RawCommitted {
    /// Reads the next claim. One that cannot be read is logged and left out: the end is written.
    pub fn read(self) -> Result<Committed> {
        Ok(match self {
            Self::Continue { stop } => Committed::Continue { stop },
            Self::Lost => Committed::Lost,
            Self::Ended { queued, next, usage } => {
                let next = next.and_then(|raw| {
                    raw.read()
                        .inspect_err(
                            |e| tracing::error!(error = %e, "a claimed task cannot be read"),
                        )
                        .ok()
                });
                Committed::Ended { queued, next: next.map(Box::new), usage }
            }
        })
    }
}

/// What the holder of a claim needs to know of its task.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    lane: i64,
    stop: bool,
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
            "SELECT lane, stop FROM task
             WHERE id = ?1 AND state = 'running' AND claim = ?2 AND boot = ?3",
        )?
        .query_row(params![claim.task.0, claim.number, claim.boot.0], |row| {
            Ok(Held { lane: row.get(0)?, stop: row.get(1)? })
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
    append(conn, task, &items)?;
    spend(conn, task, usage, now)?;
    let facts = match &how {
        How::Step { facts, .. } => facts.as_deref(),
        _ => None,
    };
    conn.prepare_cached(
        "UPDATE task SET header = COALESCE(?2, header), facts = COALESCE(?3, facts) WHERE id = ?1",
    )?
    .execute(params![task, header, facts])?;
    match how {
        How::Step { .. } => Ok(RawCommitted::Continue { stop: held.stop }),
        // Somebody wants it to end: it must not fall asleep before it hears so.
        How::Park { .. } if held.stop => Ok(RawCommitted::Continue { stop: true }),
        How::Park { on, text, wake_at } => park(conn, task, (&on, &text, wake_at), held),
        How::Release => release(conn, task, held),
        How::Finish { end, say, set_aside, hand_over } => {
            let usage = finish(conn, task, &end, now)?;
            let said = say.into_iter();
            let queued = said
                .map(|draft| outbox::say(conn, draft, Cause::Task(task, None), now))
                .collect::<Result<_>>()?;
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

fn append(conn: &Connection, task: i64, items: &[String]) -> Result<()> {
    for item in items {
        conn.prepare_cached(
            "INSERT INTO transcript (task, seq, v, item)
             VALUES (?1, (SELECT COALESCE(MAX(seq), 0) + 1 FROM transcript WHERE task = ?1), ?2, ?3)",
        )?
        .execute(params![task, ITEM_VERSION, item])?;
    }
    Ok(())
}

/// Counts what a task has cost, for itself and for its day.
pub fn spend(conn: &Connection, task: i64, usage: Usage, now: DateTime<Utc>) -> Result<()> {
    if usage == Usage::default() {
        return Ok(());
    }
    let Usage { calls, input, cached, output, micro_usd } = usage;
    let [input, cached, output, money] = [input, cached, output, micro_usd].map(small);
    conn.prepare_cached(
        "UPDATE task SET calls = calls + ?2, input = input + ?3, cached = cached + ?4,
             output = output + ?5, micro_usd = micro_usd + ?6 WHERE id = ?1",
    )?
    .execute(params![task, calls, input, cached, output, money])?;
    spend_day(conn, usage, now)
}

/// Counts what was spent for no task that is there, like the gate's silence.
pub fn spend_day(conn: &Connection, usage: Usage, now: DateTime<Utc>) -> Result<()> {
    if usage == Usage::default() {
        return Ok(());
    }
    let Usage { calls, input, cached, output, micro_usd } = usage;
    let [input, cached, output, money] = [input, cached, output, micro_usd].map(small);
    conn.prepare_cached(
        "INSERT INTO usage_day (day, calls, input, cached, output, micro_usd)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (day) DO UPDATE SET calls = calls + excluded.calls,
             input = input + excluded.input, cached = cached + excluded.cached,
             output = output + excluded.output, micro_usd = micro_usd + excluded.micro_usd",
    )?
    .execute(params![millis(now).div_euclid(DAY_MS), calls, input, cached, output, money])?;
    Ok(())
}

/// Parks the task: its attempts begin anew, for this claim ended well. A child that has already ended
/// wakes it at once.
fn park(
    conn: &Connection,
    task: i64,
    (on, text, wake_at): (&ParkedOn, &str, Option<i64>),
    held: Held,
) -> Result<RawCommitted> {
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
    given_back(conn, task, held)
}

/// The task waits again as if this claim had never been.
fn release(conn: &Connection, task: i64, held: Held) -> Result<RawCommitted> {
    conn.prepare_cached(
        "UPDATE task SET state = 'waiting', boot = NULL, start_at = 0, attempts = attempts - 1
         WHERE id = ?1",
    )?
    .execute([task])?;
    given_back(conn, task, held)
}

/// The claim has ended and the task has not.
fn given_back(conn: &Connection, task: i64, held: Held) -> Result<RawCommitted> {
    lanes::refresh(conn, held.lane)?;
    let usage = conn
        .prepare_cached("SELECT calls, input, cached, output, micro_usd FROM task WHERE id = ?1")?
        .query_row([task], |row| read::usage(row, 0))?;
    Ok(RawCommitted::Ended { queued: Vec::new(), next: None, usage })
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
