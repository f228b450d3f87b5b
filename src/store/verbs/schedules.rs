//! The rows of schedules: kept, changed, listed.

use std::ops::Range;

use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, ConversationId, PlaceId};

use super::rows::{count, json, load, millis, time};
use super::{approving, command, conversations, locks, usage};
use crate::error::{Result, StoreError};
use crate::schedule::{LastTime, NewSchedule, ScheduleRow, States, Usual, Version, Which};
use crate::tx::Tx;
use crate::value::{Row, Value, params};
use selkie_domain::ids::{OutboundId, ScheduleId, TaskId};
use selkie_domain::schedule::{Schedule, ScheduleState};
use selkie_domain::usage::Usage;

/// Schedules `s`, with what follows their columns.
macro_rules! schedule {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.version, s.key, c.account, c.key, c.place, c.title, c.closed, s.schedule, s.state,
                    s.why, s.next_at, s.fired, s.created_at, s.counts_from, s.last_at, s.last_local
             FROM schedule s JOIN conversation c ON c.id = s.conversation ",
            $rest
        )
    };
}

/// What became of a schedule that was to be kept, with a row that is not read yet.
#[derive(Debug)]
pub enum RawKept {
    New(RawSchedule),
    Known(RawSchedule),
    Full,
}

/// Keeps a schedule; `contents`: what [`written`] made of it.
pub fn keep(tx: &mut dyn Tx, new: &NewSchedule, contents: &str) -> Result<RawKept> {
    let NewSchedule { key, location, schedule, next_at, most, now } = new;
    locks::named(tx, [&location.conversation])?;
    if let Some(known) = by_key(tx, key)? {
        return Ok(RawKept::Known(known));
    }
    let person = schedule.maker.person.as_str();
    let has: i64 = tx.only(
        "SELECT COUNT(*) FROM schedule WHERE person = ?1 AND state IN ('active', 'paused')",
        params![person],
    )?;
    if has >= i64::from(*most) {
        return Ok(RawKept::Full);
    }
    let conversation = match conversations::find(tx, &location.conversation)? {
        Some(row) => row,
        None => {
            let site = conversations::Site::of(location, *now);
            conversations::hear(tx, None, site)?
        }
    };
    tx.insert(
        "INSERT INTO schedule (key, conversation, person, state, next_at, schedule, created_at)
         VALUES (?1, ?2, ?3, 'active', ?4, ?5, ?6) ON CONFLICT (key) DO NOTHING",
        params![key, conversation, person, next_at.map(millis), contents, millis(*now)],
    )?;
    let gone = || StoreError::Corrupt("a schedule was not stored: a defect".to_owned());
    Ok(RawKept::New(by_key(tx, key)?.ok_or_else(gone)?))
}

/// Writes what a schedule's row holds of it.
pub fn written(schedule: &Schedule) -> Result<String> {
    json(schedule)
}

/// Returns the newest that a schedule said and that is on its way.
pub fn on_its_way(tx: &mut dyn Tx, id: ScheduleId) -> Result<Option<OutboundId>> {
    let found: Option<i64> = tx.only(
        "SELECT MAX(o.outbound) FROM occurrence o CROSS JOIN part q
             ON q.id BETWEEN o.outbound * 4096 AND o.outbound * 4096 + 4095
         WHERE o.schedule = ?1 AND q.open = 1",
        params![id.0],
    )?;
    Ok(found.map(OutboundId))
}

/// Why the tasks of a schedule end that is taken away.
const REMOVED: &str = "its schedule was removed";

/// Ends the tasks of a schedule that was taken away, but for the one that took it away, with all that they have asked.
pub fn withdraw(
    tx: &mut dyn Tx,
    id: ScheduleId,
    spared: Option<TaskId>,
    now: DateTime<Utc>,
) -> Result<()> {
    let open: Vec<i64> = tx.column(
        "SELECT t.id FROM occurrence o JOIN task t ON t.id = o.task
         WHERE o.schedule = ?1 AND t.ended_at IS NULL ORDER BY t.id",
        params![id.0],
    )?;
    for task in open.into_iter().filter(|task| spared != Some(TaskId(*task))) {
        approving::withdraw_for(tx, task, REMOVED, millis(now))?;
        command::withdraw(tx, task, REMOVED, now)?;
    }
    Ok(())
}

/// Finds a schedule by its id.
pub fn by_id(tx: &mut dyn Tx, id: ScheduleId) -> Result<Option<RawSchedule>> {
    tx.optional(schedule!("WHERE s.id = ?1"), params![id.0], RawSchedule::from_row)
}

fn by_key(tx: &mut dyn Tx, key: &str) -> Result<Option<RawSchedule>> {
    tx.optional(schedule!("WHERE s.key = ?1"), params![key], RawSchedule::from_row)
}

/// Which schedules are listed, by the values of [`ScheduleFilter`].
macro_rules! of_which {
    () => {
        "WHERE (CAST(?1 AS BIGINT) IS NULL OR s.conversation = ?1)
             AND (CAST(?2 AS TEXT) IS NULL OR s.person = ?2)
             AND ((CAST(?3 AS BIGINT) = 1 AND s.state IN ('active', 'paused'))
                 OR (CAST(?4 AS BIGINT) = 1 AND s.state = 'ended')
                 OR (CAST(?5 AS BIGINT) = 1 AND s.state = 'removed')) "
    };
}

/// What narrows a list, as the store knows it.
struct ScheduleFilter<'a> {
    here: Option<i64>,
    person: Option<&'a str>,
}

/// Reads what narrows a list; `None` when nothing was ever heard in that conversation.
fn narrowed<'a>(tx: &mut dyn Tx, which: &'a Which) -> Result<Option<ScheduleFilter<'a>>> {
    let person = which.person.as_ref().map(selkie_channel_core::PersonId::as_str);
    let Some(conversation) = &which.conversation else {
        return Ok(Some(ScheduleFilter { here: None, person }));
    };
    let here = conversations::find(tx, conversation)?;
    Ok(here.map(|here| ScheduleFilter { here: Some(here), person }))
}

/// Lists schedules: the next to come due first, then those that are paused, then those that are over, the newest first.
pub fn list(tx: &mut dyn Tx, which: &Which) -> Result<Vec<RawSchedule>> {
    const SQL: &str = concat!(
        schedule!(""),
        of_which!(),
        "ORDER BY CASE WHEN s.state = 'active' AND s.next_at IS NOT NULL THEN 0
                  WHEN s.state IN ('active', 'paused') THEN 1 ELSE 2 END,
             CASE WHEN s.state IN ('active', 'paused') THEN s.next_at END,
             CASE WHEN s.state IN ('active', 'paused') THEN s.id ELSE -s.id END LIMIT ?6"
    );
    let Some(ScheduleFilter { here, person }) = narrowed(tx, which)? else { return Ok(Vec::new()) };
    let States { open, ended, removed } = which.states;
    tx.all(SQL, params![here, person, open, ended, removed, which.limit], RawSchedule::from_row)
}

/// Counts the schedules that would be listed without a limit.
pub fn how_many(tx: &mut dyn Tx, which: &Which) -> Result<u64> {
    const SQL: &str = concat!("SELECT COUNT(*) FROM schedule s ", of_which!());
    let Some(ScheduleFilter { here, person }) = narrowed(tx, which)? else { return Ok(0) };
    let States { open, ended, removed } = which.states;
    let counted: i64 = tx.only(SQL, params![here, person, open, ended, removed])?;
    Ok(count(counted))
}

/// The active schedules that are due, the earliest first.
pub const DUE: &str = schedule!(
    "WHERE s.state = 'active' AND s.next_at IS NOT NULL AND s.next_at <= ?1 ORDER BY s.next_at, s.id LIMIT ?2"
);

/// When the next active schedule comes due.
pub const NEXT: &str = "SELECT next_at FROM schedule INDEXED BY schedule_due
     WHERE state = 'active' AND next_at IS NOT NULL ORDER BY next_at LIMIT 1";

/// The schedule whose time a task is.
pub const BEHIND: &str =
    schedule!("WHERE s.id = (SELECT o.schedule FROM occurrence o WHERE o.task = ?1)");

/// The schedules whose keys lie between two.
pub const KEYED: &str = schedule!("WHERE s.key >= ?1 AND s.key < ?2 ORDER BY s.id");

/// Active schedules behind one, by their numbers.
pub const ACTIVE: &str = schedule!("WHERE s.state = 'active' AND s.id > ?1 ORDER BY s.id LIMIT ?2");

/// Active and paused schedules behind one that were made, resumed or carried out later than a moment.
pub const DATED_AFTER: &str = schedule!(
    "WHERE s.id > ?2 AND s.state IN ('active', 'paused') AND s.id IN (
         SELECT id FROM schedule INDEXED BY schedule_begun WHERE created_at > ?1 OR counts_from > ?1
         UNION ALL SELECT o.schedule FROM occurrence o INDEXED BY occurrence_fired
             CROSS JOIN schedule d ON d.id = o.schedule
             WHERE o.fired_at > ?1 AND d.last_at > ?1)
     ORDER BY s.id LIMIT ?3"
);

/// Returns what the tasks of a schedule have used that were made within a time.
pub fn used(tx: &mut dyn Tx, id: ScheduleId, within: &Range<DateTime<Utc>>) -> Result<Usage> {
    tx.one(
        "SELECT CAST(COALESCE(SUM(t.calls), 0) AS BIGINT), CAST(COALESCE(SUM(t.input), 0) AS BIGINT),
                CAST(COALESCE(SUM(t.cached), 0) AS BIGINT), CAST(COALESCE(SUM(t.output), 0) AS BIGINT),
                CAST(COALESCE(SUM(t.micro_usd), 0) AS BIGINT)
         FROM occurrence o JOIN task t ON t.id = o.task
         WHERE o.schedule = ?1 AND o.fired_at >= ?2 AND o.fired_at < ?3 AND o.task IS NOT NULL",
        params![id.0, millis(within.start), millis(within.end)],
        |row| usage::usage(row, 0),
    )
}

/// Returns what the newest tasks of a conversation have used that asked a model.
pub fn usual(tx: &mut dyn Tx, conversation: i64, most: usize) -> Result<Usual> {
    let epoch: i64 =
        tx.only("SELECT epoch FROM conversation WHERE id = ?1", params![conversation])?;
    let tasks: Vec<Usage> = tx.all(
        "SELECT calls, input, cached, output, micro_usd FROM task
         WHERE conversation = ?1 AND epoch = ?2 AND finish IS NOT NULL AND calls > 0
         ORDER BY finish DESC LIMIT ?3",
        params![conversation, epoch, most],
        |row| usage::usage(row, 0),
    )?;
    let mut usual = Usual::default();
    for used in tasks {
        usual.tasks += 1;
        usual.usage.add(used);
    }
    Ok(usual)
}

/// Reads rows of a list.
pub fn listed(tx: &mut dyn Tx, sql: &'static str, by: &[Value<'_>]) -> Result<Vec<RawSchedule>> {
    tx.all(sql, by, RawSchedule::from_row)
}

/// A stored schedule: one that cannot be read is still known by its version.
#[derive(Debug)]
pub struct RawSchedule {
    version: Version,
    row: Result<ScheduleRow>,
}

impl RawSchedule {
    fn from_row(row: &dyn Row) -> Result<Self> {
        let version = Version { id: ScheduleId(row.get(0)?), number: row.get(1)? };
        Ok(Self { version, row: read(version, row) })
    }

    /// Returns which it is, as it stands.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns what it holds.
    pub fn read(self) -> Result<ScheduleRow> {
        self.row
    }
}

fn read(version: Version, row: &dyn Row) -> Result<ScheduleRow> {
    let account = AccountId::new(row.get::<&str>(3)?);
    let id: i64 = version.id.0;
    let state: &str = row.get(9)?;
    let unknown = || StoreError::Corrupt(format!("schedule {id} is in the state {state}"));
    let last_at: Option<i64> = row.get(15)?;
    let local: Option<String> = row.get(16)?;
    Ok(ScheduleRow {
        version,
        key: row.get(2)?,
        conversation: ConversationId::new(account.clone(), row.get::<&str>(4)?),
        place: PlaceId::new(account, row.get::<&str>(5)?),
        title: row.get(6)?,
        closed: row.get(7)?,
        schedule: load(id, row.get(8)?)?,
        state: ScheduleState::parse(state).ok_or_else(unknown)?,
        why: row.get(10)?,
        next_at: row.get::<Option<i64>>(11)?.map(time),
        fired: row.get(12)?,
        created_at: time(row.get(13)?),
        counts_from: time(row.get(14)?),
        last: last_at.map(|at| LastTime { at: time(at), local: local.unwrap_or_default() }),
    })
}
