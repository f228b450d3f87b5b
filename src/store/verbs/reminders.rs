//! The rows of reminders: times of schedules that say fixed words to be reminded of, and what became of them.

use chrono::{DateTime, Utc};
use selkie_channel_core::MessageRef;

use super::locks;
use super::outbox::{self, SaidFor};
use super::rows::{millis, time};
use super::schedules::{self, RawKept};
use super::standing::parts_of;
use crate::error::{Result, StoreError};
use crate::reminder::{ReminderRow, Settle, SettleResult};
use crate::schedule::NewSchedule;
use crate::tx::Tx;
use crate::value::{Row, params};
use selkie_domain::ids::{OutboundId, ScheduleId};
use selkie_domain::reminder::{ReminderId, ReminderState};

/// Times `o` that were said as reminders. The layout of a schedule is the program's own: inside of a text its quotes
/// would be escaped.
macro_rules! said {
    ($rest:literal) => {
        concat!(
            "SELECT o.schedule, o.at, o.settled, o.again_at, o.task
             FROM occurrence o JOIN schedule s ON s.id = o.schedule JOIN task t ON t.id = o.task
             WHERE o.why IS NULL AND t.state = 'done' AND s.schedule LIKE '%\"does\":\"remind\"%' AND ",
            $rest
        )
    };
}

/// The newest of a conversation.
const NEWEST: &str = said!("s.conversation = ?1 ORDER BY o.fired_at DESC, o.at DESC LIMIT ?2");

/// Finds one.
pub fn by_id(tx: &mut dyn Tx, id: ReminderId) -> Result<Option<ReminderRow>> {
    let sql = said!("o.schedule = ?1 AND o.at = ?2");
    let found =
        tx.optional(sql, params![id.schedule.0, millis(id.at)], ReminderRecord::from_row)?;
    found.map_or(Ok(None), |found| found.whole(tx))
}

/// Returns the newest of a conversation, the newest first.
pub fn newest(tx: &mut dyn Tx, conversation: i64, most: usize) -> Result<Vec<ReminderRow>> {
    let found = tx.all(NEWEST, params![conversation, most], ReminderRecord::from_row)?;
    found.into_iter().filter_map(|found| found.whole(tx).transpose()).collect()
}

/// What of a reminder its own row says.
struct ReminderRecord {
    id: ReminderId,
    settled: Option<ReminderState>,
    task: i64,
}

impl ReminderRecord {
    fn from_row(row: &dyn Row) -> Result<Self> {
        let id = ReminderId { schedule: ScheduleId(row.get(0)?), at: time(row.get(1)?) };
        let settled: Option<&str> = row.get(2)?;
        let again: Option<i64> = row.get(3)?;
        let settled = match (settled, again) {
            (None, _) => None,
            (Some(DONE), _) => Some(ReminderState::Done),
            (Some(AGAIN), Some(at)) => Some(ReminderState::Again { at: time(at) }),
            (Some(other), _) => {
                let id = id.key();
                return Err(StoreError::Corrupt(format!(
                    "the reminder {id} is settled by {other:?}"
                )));
            }
        };
        Ok(Self { id, settled, task: row.get(4)? })
    }

    /// With its schedule and its message; the buttons are in the last part.
    fn whole(self, tx: &mut dyn Tx) -> Result<Option<ReminderRow>> {
        let Self { id, settled, task } = self;
        let Some(schedule) = schedules::by_id(tx, id.schedule)? else { return Ok(None) };
        let said: Option<i64> = tx
            .only("SELECT MAX(id) FROM outbound WHERE task = ?1 AND call IS NULL", params![task])?;
        let message = match said.map(parts_of) {
            Some([first, last]) => tx.first::<Option<String>>(
                "SELECT message FROM part WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
                params![first, last],
            )?,
            None => None,
        };
        let said = said.map(OutboundId);
        let message = message.flatten().map(MessageRef::new);
        Ok(Some(ReminderRow { id, schedule: schedule.read()?, settled, said, message }))
    }
}

/// In the column: it is done.
const DONE: &str = "done";
/// In the column: it is said again.
const AGAIN: &str = "again";

/// How a reminder is settled, written as text before it reaches the writer.
#[derive(Debug)]
pub struct SettleText {
    row: Option<i64>,
    id: ReminderId,
    again: Option<Again>,
    revision: Option<outbox::DraftText>,
}

/// What says it again, with its text.
#[derive(Debug)]
struct Again {
    new: Box<NewSchedule>,
    contents: String,
}

impl SettleText {
    /// Writes the texts.
    pub fn new(settle: Settle) -> Result<Self> {
        let Settle { row, id, again, revision } = settle;
        let again = again.map(|new| -> Result<Again> {
            Ok(Again { contents: schedules::written(&new.schedule)?, new })
        });
        let revision = revision.map(outbox::DraftText::new).transpose()?;
        Ok(Self { row: row.map(|row| row.0), id, again: again.transpose()?, revision })
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        let again = self.again.as_ref().map_or(0, |again| again.contents.len());
        again + self.revision.as_ref().map_or(0, outbox::DraftText::bytes)
    }

    /// Returns the number of its schedule.
    pub fn of(&self) -> i64 {
        self.id.schedule.0
    }
}

/// Settles a reminder; see [`crate::Reminders::settle_reminder`].
pub fn settle(tx: &mut dyn Tx, settle: &SettleText, now: DateTime<Utc>) -> Result<SettleResult> {
    let SettleText { row, id, again, revision } = settle;
    let also = revision.iter().map(outbox::DraftText::conversation);
    let also = also.chain(again.iter().map(|again| &again.new.location.conversation));
    match row {
        Some(row) => locks::of_row(tx, *row, also)?,
        None => locks::named(tx, also)?,
    }
    if let Some(row) = row
        && !is_fresh(tx, *row, now)?
    {
        return Ok(SettleResult::Repeated);
    }
    let open = tx.exists(
        "SELECT 1 FROM occurrence WHERE schedule = ?1 AND at = ?2 AND settled IS NULL",
        params![id.schedule.0, millis(id.at)],
    )?;
    if !open {
        return Ok(SettleResult::Late);
    }
    if let Some(Again { new, contents }) = again
        && matches!(schedules::keep(tx, new, contents)?, RawKept::Full)
    {
        return Ok(SettleResult::Full);
    }
    let again_at = again.as_ref().and_then(|again| again.new.next_at);
    let settled = if again.is_some() { AGAIN } else { DONE };
    tx.execute_later(
        "UPDATE occurrence SET settled = ?3, again_at = ?4 WHERE schedule = ?1 AND at = ?2",
        params![id.schedule.0, millis(id.at), settled, again_at.map(millis)],
    )?;
    let said = match (row, revision) {
        (Some(row), Some(revision)) => Some(outbox::say(tx, revision, SaidFor::Change(*row), now)?),
        _ => None,
    };
    Ok(SettleResult::Settled(said))
}

/// Notes that a tap is carried out; `false` when it was before.
fn is_fresh(tx: &mut dyn Tx, row: i64, now: DateTime<Utc>) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE inbox SET done_at = ?2 WHERE id = ?1 AND disposition = 'tap' AND done_at IS NULL",
        params![row, millis(now)],
    )?;
    Ok(changed > 0)
}
