//! The history of a conversation: the transcripts of its newest finished tasks.

use std::ops::ControlFlow;

use super::facts;
use super::rows::load_item;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::{Row, params};
use crate::work::Past;
use selkie_domain::facts::Trust;
use selkie_domain::transcript::Item;

/// How many finished tasks make the history at most. Whoever reads it cuts it long before (`agent/window.rs`), so that
/// it does not lose its first one with every new one.
pub const HISTORY: i64 = 36;

/// A transcript row: its task, its layout, its text.
pub type RawItem = (i64, u16, String);

/// What finished tasks have left.
#[derive(Debug, Default)]
pub struct RawHistory {
    /// Their items, oldest first.
    pub items: Vec<RawItem>,
    /// Of which task the items are, one for each.
    ends: Vec<RawEnd>,
    /// The least trust in whom those tasks asked; `None` without a history.
    pub asked_by: Option<Trust>,
}

/// When a task ended, and whether it is shown short.
#[derive(Clone, Copy, Debug)]
struct RawEnd {
    finish: i64,
    is_short: bool,
}

/// The newest finished tasks of a conversation and epoch, from where its history is cut, each row of their transcripts
/// with its task; in no order.
pub const NEWEST: &str =
    "SELECT t.finish, t.id, t.facts, i.seq, i.v, i.item, t.finish < t.short FROM
         (SELECT finish, id, facts, (SELECT short FROM conversation WHERE id = ?1) AS short FROM task
          WHERE conversation = ?1 AND epoch = ?2 AND finish IS NOT NULL
              AND finish >= (SELECT cut FROM conversation WHERE id = ?1)
          ORDER BY finish DESC LIMIT ?3) t
     LEFT JOIN transcript i ON i.task = t.id";

/// The transcript of a task.
pub const ITEMS: &str = "SELECT task, v, item FROM transcript WHERE task = ?1 ORDER BY seq";

/// A row of a transcript.
pub fn item(row: &dyn Row) -> Result<RawItem> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

/// Takes the rows of [`NEWEST`].
#[derive(Debug, Default)]
pub struct Newest {
    /// Whose trust is known.
    tasks: Vec<i64>,
    asked_by: Option<Trust>,
    items: Vec<PlacedItem>,
}

/// An item, by the end of its task and its place there.
#[derive(Debug)]
struct PlacedItem {
    end: RawEnd,
    seq: i64,
    item: RawItem,
}

impl Newest {
    /// Takes a row.
    pub fn take(&mut self, row: &dyn Row) -> Result<ControlFlow<()>> {
        let task = row.get(1)?;
        if self.tasks.last() != Some(&task) && !self.tasks.contains(&task) {
            let trust = facts::trust(row.get(2)?);
            self.asked_by = Some(self.asked_by.map_or(trust, |least| least.min(trust)));
            self.tasks.push(task);
        }
        // A task may have left nothing.
        if let Some(seq) = row.get(3)? {
            let item = (task, row.get(4)?, row.get(5)?);
            let end = RawEnd { finish: row.get(0)?, is_short: row.get(6)? };
            self.items.push(PlacedItem { end, seq, item });
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Puts what was taken in order.
    pub fn put_in_order(mut self) -> RawHistory {
        self.items.sort_unstable_by_key(|placed| (placed.end.finish, placed.seq));
        let ends = self.items.iter().map(|placed| placed.end).collect();
        let items = self.items.into_iter().map(|placed| placed.item).collect();
        RawHistory { items, ends, asked_by: self.asked_by }
    }
}

/// Returns the newest finished tasks of a conversation and epoch.
pub fn finished(tx: &mut dyn Tx, conversation: i64, epoch: i64, most: i64) -> Result<RawHistory> {
    let mut newest = Newest::default();
    tx.query(NEWEST, params![conversation, epoch, most], &mut |row| newest.take(row))?;
    Ok(newest.put_in_order())
}

impl RawHistory {
    /// Reads the tasks; what cannot be read of them is left out.
    pub fn read(&self) -> Vec<Past> {
        let mut ends = self.ends.iter();
        let tasks = self.items.chunk_by(|a, b| a.0 == b.0);
        let tasks = tasks.filter_map(|rows| {
            let RawEnd { finish, is_short } = *ends.nth(rows.len() - 1)?;
            let items = readable(rows.iter().map(|(task, v, text)| load_item(*task, *v, text)));
            Some(Past { finish, is_short, items })
        });
        tasks.collect()
    }
}

/// Reads items task by task; what cannot be read is left out.
pub fn read(rows: &[RawItem]) -> Vec<Vec<Item>> {
    rows.chunk_by(|a, b| a.0 == b.0)
        .map(|rows| readable(rows.iter().map(|(task, v, text)| load_item(*task, *v, text))))
        .collect()
}

/// Keeps what can be read.
pub fn readable<T>(rows: impl Iterator<Item = Result<T>>) -> Vec<T> {
    rows.filter_map(|row| row.inspect_err(|e| tracing::error!(error = %e, "left out")).ok())
        .collect()
}
