//! What became of the agents that a task has waited for.

use super::facts;
use super::history::{self, RawItem};
use super::rows::load_item;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use crate::work::ChildEnd;
use selkie_domain::cause::Cause;
use selkie_domain::ids::TaskId;
use selkie_domain::task::TaskState;
use selkie_domain::transcript::Item;

/// What a child has written last stands in one of so many of its last items.
const LAST_ITEMS: i64 = 12;

/// What became of a child, as it is stored.
#[derive(Debug)]
pub struct RawChildEnd {
    end: ChildEnd,
    items: Vec<RawItem>,
}

impl RawChildEnd {
    /// Reads what it has written last.
    pub fn read(self) -> ChildEnd {
        let items = self.items.iter().map(|(task, v, text)| load_item(*task, *v, text));
        let items = history::readable(items);
        let level = items.iter().map(Item::level).max().unwrap_or_default();
        let said = items.iter().find_map(|item| match item {
            Item::Said { text, .. } | Item::Asked { text, .. } if !text.trim().is_empty() => {
                Some(text.clone())
            }
            _ => None,
        });
        let level = self.end.level.max(level);
        ChildEnd { text: said.unwrap_or_default(), level, ..self.end }
    }
}

/// Returns what became of the children that a task has waited for.
pub fn ends(tx: &mut dyn Tx, parent: i64) -> Result<Vec<RawChildEnd>> {
    let mut ends: Vec<RawChildEnd> = tx.all(
        "SELECT id, cause, state, why, facts FROM task WHERE parent = ?1 AND awaited = 1 ORDER BY id",
        params![parent],
        |row| {
            let cause: String = row.get(1)?;
            let state: String = row.get(2)?;
            let end = ChildEnd {
                task: TaskId(row.get(0)?),
                call: Cause::call_in(&cause).unwrap_or_default().to_owned(),
                state: TaskState::parse(&state).unwrap_or(TaskState::Failed),
                why: row.get(3)?,
                text: String::new(),
                level: facts::level(row.get(4)?),
            };
            Ok(RawChildEnd { end, items: Vec::new() })
        },
    )?;
    for end in &mut ends {
        end.items = tx.all(
            "SELECT task, v, item FROM transcript WHERE task = ?1 ORDER BY seq DESC LIMIT ?2",
            params![end.end.task.0, LAST_ITEMS],
            history::item,
        )?;
    }
    Ok(ends)
}
