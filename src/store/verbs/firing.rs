//! One time of a schedule: carried out or passed over, in the write that sets the next one.

use chrono::{DateTime, Utc};

use super::locks;
use super::month::{self, Time};
use super::outbox::{self, SaidFor};
use super::requests::{self, RawRequested};
use super::rows::{count, millis, time};
use super::standing::{PARTS, standing};
use crate::delivery::QueuedOutbound;
use crate::error::{Result, StoreError};
use crate::intake::Fuse;
use crate::schedule::{
    FiringRecord, LastTime, MissedTimes, Occurrence, OccurrenceAction, Turn, Version, Wait,
};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::{ScheduleId, TaskId};
use selkie_domain::schedule::{OccurrenceState, PASSED_OVER};
use selkie_domain::task::TaskState;

/// Why a time is passed over while the one before it has not begun.
const COALESCED: &str = "the one before it has not begun yet";

/// A firing, written as text before it reaches the writer.
#[derive(Debug)]
pub struct FiringText {
    of: Version,
    turn: Option<ReadyTurn>,
    missed: Vec<MissedTimes>,
    last: Option<LastTime>,
    next_at: Option<DateTime<Utc>>,
    wait: Option<Wait>,
    by_hand: bool,
}

/// A time that has come, with the texts of what is done.
#[derive(Debug)]
struct ReadyTurn {
    at: DateTime<Utc>,
    does: Ready,
}

/// What is done, with its texts.
#[derive(Debug)]
enum Ready {
    Task(Box<requests::RequestText>),
    Say(outbox::DraftText),
    Skip(String),
}

impl FiringText {
    /// Writes a firing's texts.
    pub fn new(firing: FiringRecord) -> Result<Self> {
        let FiringRecord { of, turn, missed, last, next_at, wait, by_hand } = firing;
        let turn = turn.map(ReadyTurn::new).transpose()?;
        Ok(Self { of, turn, missed, last, next_at, wait, by_hand })
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        match self.turn.as_ref().map(|turn| &turn.does) {
            Some(Ready::Task(request)) => request.bytes(),
            Some(Ready::Say(draft)) => draft.bytes(),
            Some(Ready::Skip(why)) => why.len(),
            None => 0,
        }
    }

    /// Returns which schedule it is of.
    pub fn schedule(&self) -> ScheduleId {
        self.of.id
    }
}

impl ReadyTurn {
    fn new(turn: Turn) -> Result<Self> {
        let does = match turn.does {
            OccurrenceAction::Task(request) => {
                Ready::Task(Box::new(requests::RequestText::new(*request)?))
            }
            OccurrenceAction::Say(draft) => Ready::Say(outbox::DraftText::new(*draft)?),
            OccurrenceAction::Skip(why) => Ready::Skip(why),
        };
        Ok(Self { at: turn.at, does })
    }
}

/// What a firing came to, with a claim that is not read yet.
#[derive(Debug)]
pub enum RawFired {
    Stale,
    UnderWay,
    CarriedOut,
    Skipped(String),
    Missed,
    Task(Box<RawRequested>),
    Said(QueuedOutbound),
}

/// Carries out one time of a schedule; see [`crate::DueSchedules::fire`].
pub fn fire(tx: &mut dyn Tx, firing: &FiringText, fuse: &Fuse) -> Result<RawFired> {
    let id = firing.of.id.0;
    let now = fuse.now;
    if firing.by_hand && is_under_way(tx, id)? {
        return Ok(RawFired::UnderWay);
    }
    if !advance(tx, firing)? {
        return Ok(RawFired::Stale);
    }
    for missed in &firing.missed {
        let mut line = TimeNote::missed(missed);
        if was_carried_out(tx, id, missed.first)? {
            line = line.but_the_first(missed);
        }
        note(tx, id, &line, now)?;
    }
    let Some(turn) = &firing.turn else { return Ok(RawFired::Missed) };
    if was_carried_out(tx, id, turn.at)? {
        return Ok(RawFired::CarriedOut);
    }
    let mut noted = TimeNote::at(turn.at);
    let fired = match &turn.does {
        Ready::Skip(why) => RawFired::Skipped(why.clone()),
        Ready::Task(_) if waits(tx, id)? => RawFired::Skipped(COALESCED.to_owned()),
        Ready::Task(request) => RawFired::Task(Box::new(requests::request(tx, request, fuse)?)),
        Ready::Say(draft) => {
            locks::named(tx, [draft.conversation()])?;
            let queued = outbox::say(tx, draft, SaidFor::Notice, now)?;
            month::of_time(tx, queued.outbound, Time { schedule: id, at: turn.at })?;
            RawFired::Said(queued)
        }
    };
    match &fired {
        RawFired::Skipped(why) => noted.why = Some(why),
        RawFired::Task(made) => noted.task = Some(made.task.0),
        RawFired::Said(queued) => noted.outbound = Some(queued.outbound.0),
        RawFired::Stale | RawFired::UnderWay | RawFired::CarriedOut | RawFired::Missed => {}
    }
    note(tx, id, &noted, now)?;
    if noted.why.is_none() {
        tx.execute_later(
            "UPDATE schedule SET fired = fired + 1, task = ?2 WHERE id = ?1",
            params![id, noted.task],
        )?;
    }
    Ok(fired)
}

/// Sets the schedule's next time, where it stands as it was read.
fn advance(tx: &mut dyn Tx, firing: &FiringText) -> Result<bool> {
    let FiringText { of, next_at, wait, last, by_hand, .. } = firing;
    let (state, why) = match (wait, next_at) {
        (Some(Wait::ForSomebody(why)), _) => ("paused", why.as_str()),
        (Some(Wait::ForItsTime(why)), Some(_)) => ("active", why.as_str()),
        (None, Some(_)) => ("active", ""),
        (_, None) => ("ended", ""),
    };
    let last_at = last.as_ref().map(|last| millis(last.at));
    let last_local = last.as_ref().map(|last| last.local.as_str());
    let changed = tx.execute(
        "UPDATE schedule SET version = version + 1, next_at = ?3, state = ?4, why = ?5,
             last_at = COALESCE(?6, last_at), last_local = COALESCE(?7, last_local)
         WHERE id = ?1 AND version = ?2 AND state = 'active'",
        params![of.id.0, of.number, next_at.map(millis), state, why, last_at, last_local],
    )?;
    if changed > 0 || !by_hand {
        return Ok(changed > 0);
    }
    let is_done = |turn: &ReadyTurn| !matches!(turn.does, Ready::Skip(_));
    let ends = firing.turn.as_ref().is_some_and(is_done);
    // It waits, or is over, and stays so; one that waited for its only time has had it now.
    let stays = tx.execute(
        "UPDATE schedule SET version = version + 1, last_at = COALESCE(?3, last_at),
             last_local = COALESCE(?4, last_local),
             why = CASE WHEN CAST(?5 AS BIGINT) = 1 AND next_at IS NULL THEN '' ELSE why END,
             state = CASE WHEN CAST(?5 AS BIGINT) = 1 AND next_at IS NULL THEN 'ended' ELSE state END
         WHERE id = ?1 AND version = ?2 AND state IN ('paused', 'ended')",
        params![of.id.0, of.number, last_at, last_local, ends],
    )?;
    Ok(stays > 0)
}

/// Whether this very time has its task or its words: a clock that was ahead has brought it already.
fn was_carried_out(tx: &mut dyn Tx, id: i64, at: DateTime<Utc>) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM occurrence
         WHERE schedule = ?1 AND at = ?2 AND (task IS NOT NULL OR outbound IS NOT NULL)",
        params![id, millis(at)],
    )
}

/// Whether a time of it has not ended yet: its task, or what it has to say.
fn is_under_way(tx: &mut dyn Tx, id: i64) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM occurrence o JOIN task t ON t.id = o.task
         WHERE o.schedule = ?1 AND t.ended_at IS NULL
         UNION ALL SELECT 1 FROM occurrence o CROSS JOIN part p
                 ON p.id BETWEEN o.outbound * ?2 AND o.outbound * ?2 + ?2 - 1
         WHERE o.schedule = ?1 AND p.open = 1",
        params![id, PARTS],
    )
}

/// Whether the task of the time before still waits.
fn waits(tx: &mut dyn Tx, id: i64) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM schedule s JOIN task t ON t.id = s.task WHERE s.id = ?1 AND t.state = 'waiting'",
        params![id],
    )
}

/// What is noted of one time, or of several that were missed.
struct TimeNote<'a> {
    at: DateTime<Utc>,
    until: Option<DateTime<Utc>>,
    times: u32,
    task: Option<i64>,
    outbound: Option<i64>,
    why: Option<&'a str>,
}

impl<'a> TimeNote<'a> {
    fn at(at: DateTime<Utc>) -> Self {
        Self { at, until: None, times: 1, task: None, outbound: None, why: None }
    }

    fn missed(missed: &'a MissedTimes) -> Self {
        let MissedTimes { first, last, times, why } = missed;
        Self { until: Some(*last), times: *times, why: Some(why), ..Self::at(*first) }
    }

    /// The same, where the first of them was carried out by a clock that was ahead.
    fn but_the_first(self, missed: &MissedTimes) -> Self {
        Self { at: missed.last, until: None, times: self.times.saturating_sub(1).max(1), ..self }
    }
}

fn note(tx: &mut dyn Tx, id: i64, noted: &TimeNote<'_>, now: DateTime<Utc>) -> Result<()> {
    let TimeNote { at, until, times, task, outbound, why } = noted;
    tx.execute_later(
        "INSERT INTO occurrence (schedule, at, until, times, task, outbound, why, fired_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (schedule, at) DO UPDATE SET until = excluded.until, times = excluded.times,
             task = excluded.task, outbound = excluded.outbound, why = excluded.why, fired_at = excluded.fired_at
         WHERE occurrence.why IS NOT NULL AND excluded.why IS NULL",
        params![
            id,
            millis(*at),
            until.map(millis),
            i64::from(*times),
            *task,
            *outbound,
            *why,
            millis(now)
        ],
    )
}

/// Returns the newest times of a schedule.
pub fn history(tx: &mut dyn Tx, id: ScheduleId, limit: usize) -> Result<Vec<Occurrence>> {
    let rows = tx.all(
        "SELECT o.at, o.until, o.times, o.fired_at, o.task, o.outbound, o.why, t.state, t.why
         FROM occurrence o LEFT JOIN task t ON t.id = o.task
         WHERE o.schedule = ?1 ORDER BY o.at DESC LIMIT ?2",
        params![id.0, limit],
        |row| {
            let because: Option<String> = row.get(6)?;
            let state: Option<&str> = row.get(7)?;
            let why: Option<String> = row.get(8)?;
            let occurrence = Occurrence {
                at: time(row.get(0)?),
                until: row.get::<Option<i64>>(1)?.map(time),
                times: u32::try_from(count(row.get(2)?)).unwrap_or(u32::MAX),
                fired_at: time(row.get(3)?),
                state: match because {
                    Some(why) => OccurrenceState::Skipped { why },
                    None => of_task(state, why)?,
                },
                task: row.get::<Option<i64>>(4)?.map(TaskId),
                delivered: None,
            };
            Ok(UnresolvedFiring { occurrence, outbound: row.get(5)? })
        },
    )?;
    rows.into_iter().map(|told| told.delivered(tx)).collect()
}

/// Where a time stands by the task that it made; without one its words went out by themselves.
fn of_task(state: Option<&str>, why: Option<String>) -> Result<OccurrenceState> {
    let Some(state) = state else { return Ok(OccurrenceState::Ran) };
    let unknown = || StoreError::Corrupt(format!("a task is in the state {state}"));
    Ok(match TaskState::parse(state).ok_or_else(unknown)? {
        TaskState::Waiting => OccurrenceState::Due,
        TaskState::Running | TaskState::Parked => OccurrenceState::Running,
        TaskState::Done => OccurrenceState::Ran,
        TaskState::Failed => {
            let why = why.unwrap_or_default();
            match why.strip_prefix(PASSED_OVER) {
                Some(why) => OccurrenceState::Skipped { why: why.to_owned() },
                None => OccurrenceState::Failed { why },
            }
        }
        TaskState::Stopped => {
            let why = why.unwrap_or_else(|| "somebody stopped it".to_owned());
            OccurrenceState::Failed { why }
        }
    })
}

/// A time whose delivery is not looked up yet.
struct UnresolvedFiring {
    occurrence: Occurrence,
    outbound: Option<i64>,
}

impl UnresolvedFiring {
    fn delivered(self, tx: &mut dyn Tx) -> Result<Occurrence> {
        let Self { mut occurrence, outbound } = self;
        let said = match (outbound, occurrence.task) {
            (Some(outbound), _) => Some(outbound),
            (None, Some(task)) => tx
                .first::<Option<i64>>(
                    "SELECT MAX(id) FROM outbound WHERE task = ?1 AND call IS NULL",
                    params![task.0],
                )?
                .flatten(),
            (None, None) => None,
        };
        if let Some(outbound) = said {
            occurrence.delivered = Some(standing(tx, outbound)?);
        }
        Ok(occurrence)
    }
}
