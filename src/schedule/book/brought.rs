//! Schedules that a clock which was ahead has dated are brought back: what becomes of them is known before it is done.

use chrono::{DateTime, Utc};

use super::{Book, BookError};
use crate::brought::{ScheduleSpec, brought_back};
use crate::jump::LEAP;
use crate::words::moment;
use crate::zone::Zone;
use selkie_domain::ids::ScheduleId;
use selkie_store::{Change, ScheduleRow};

/// So many are read at a time.
const PAGE: usize = 500;
/// So many are named.
const NAMED: usize = 10;

/// Schedules that a clock which was ahead has dated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// How many.
    pub count: u64,
    /// The first of them, with their next times from now on.
    pub first: Vec<String>,
    /// The same as long as the same schedules stand as they were read.
    pub key: String,
}

/// One of them, and what it is from now on.
struct One {
    row: ScheduleRow,
    brought: ScheduleSpec,
}

/// Where reading has come to.
struct Reader<'a> {
    book: &'a Book,
    now: DateTime<Utc>,
    behind: ScheduleId,
}

impl Book {
    /// Says which schedules were dated by a clock that was ahead.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn ahead(&self) -> Result<Ahead, BookError> {
        let mut reader = self.reader();
        let mut ahead = Ahead::default();
        while let Some(page) = reader.page().await? {
            for one in page {
                if ahead.count == 0 {
                    ahead.key = format!("{}:{}", one.row.id(), one.row.version.number);
                }
                ahead.count += 1;
                if ahead.first.len() < NAMED {
                    ahead.first.push(line(&one));
                }
            }
        }
        ahead.key = format!("{}:{}", ahead.key, ahead.count);
        Ok(ahead)
    }

    /// Brings them back. What a crash leaves undone is done the next time.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn bring_back(&self) -> Result<(), BookError> {
        let mut reader = self.reader();
        while let Some(page) = reader.page().await? {
            for One { row, brought } in page {
                let ScheduleSpec { schedule, next_at } = brought;
                let schedule = Box::new(schedule);
                let change = Change::BringBack { schedule, next_at, now: reader.now };
                self.parts.ledger.reschedule(row.version, change).await?;
            }
        }
        Ok(())
    }

    fn reader(&self) -> Reader<'_> {
        Reader { book: self, now: self.now(), behind: ScheduleId(0) }
    }
}

impl Reader<'_> {
    /// Reads the next of them; `None` behind the last.
    async fn page(&mut self) -> Result<Option<Vec<One>>, BookError> {
        let ledger = &self.book.parts.ledger;
        let rows = ledger.dated_after(self.now + LEAP, self.behind, PAGE).await?;
        let Some(last) = rows.last() else { return Ok(None) };
        self.behind = last.id();
        let read = |row: ScheduleRow| match brought_back(&row, self.now) {
            Ok(brought) => Some(One { row, brought }),
            Err(why) => {
                // It is set aside when it comes due.
                tracing::error!(schedule = %row.id(), why, "it cannot be brought back");
                None
            }
        };
        Ok(Some(rows.into_iter().filter_map(read).collect()))
    }
}

fn line(one: &One) -> String {
    let One { row, brought } = one;
    let zone = Zone::named(&row.schedule.zone).unwrap_or(Zone::UTC);
    let next = brought.next_at.map(|at| moment(at, zone));
    let comes = match next {
        Some(next) => format!("next {next}"),
        None => "it will not come due again".to_owned(),
    };
    format!("schedule {} ({}): {comes}", row.id(), row.schedule.name())
}
