//! What was said in a conversation: its finished tasks without what their tools answered.

use std::ops::ControlFlow;

use selkie_channel_core::ConversationId;

use super::conversations;
use super::history::readable;
use super::named::Names;
use super::rows::{load_item, time};
use crate::error::Result;
use crate::read::SaidTask;
use crate::spoken::NamedSchedule;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::TaskId;

/// A task as it is stored.
#[derive(Debug)]
pub struct RawSaid {
    task: i64,
    epoch: i64,
    finish: i64,
    created_at: i64,
    ended_at: Option<i64>,
    cause: String,
    schedule: Option<NamedSchedule>,
    items: Vec<(i64, u16, String)>,
}

impl RawSaid {
    /// Reads the stored texts; what cannot be read is left out.
    pub fn read(self) -> SaidTask {
        let Self { task, epoch, created_at, ended_at, items, schedule, .. } = self;
        let items = readable(items.iter().map(|(_, v, text)| load_item(task, *v, text)));
        let id = TaskId(task);
        let created_at = time(created_at);
        SaidTask { id, epoch, created_at, ended_at: ended_at.map(time), items, schedule }
    }
}

/// Returns the newest finished tasks, oldest first: of the epoch of now, or of all.
pub fn said(
    tx: &mut dyn Tx,
    id: &ConversationId,
    whole: bool,
    most: usize,
) -> Result<Vec<RawSaid>> {
    let Some(conversation) = conversations::find(tx, id)? else { return Ok(Vec::new()) };
    let now: i64 =
        tx.only("SELECT epoch FROM conversation WHERE id = ?1", params![conversation])?;
    let since = if whole { 0 } else { now };
    let mut tasks: Vec<RawSaid> = Vec::new();
    tx.query(
        "SELECT t.id, t.epoch, t.finish, t.ended_at, i.seq, i.v, i.item, t.cause, t.created_at FROM
             (SELECT id, epoch, finish, ended_at, cause, created_at FROM task
              WHERE conversation = ?1 AND epoch >= ?2 AND finish IS NOT NULL
              ORDER BY epoch DESC, finish DESC LIMIT ?3) t
         LEFT JOIN transcript i ON i.task = t.id AND i.item NOT LIKE '{\"item\":\"answered\"%'",
        params![conversation, since, most],
        &mut |row| {
            let task = row.get(0)?;
            if tasks.last().is_none_or(|last| last.task != task) {
                tasks.push(RawSaid {
                    task,
                    epoch: row.get(1)?,
                    finish: row.get(2)?,
                    created_at: row.get(8)?,
                    ended_at: row.get(3)?,
                    cause: row.get(7)?,
                    schedule: None,
                    items: Vec::new(),
                });
            }
            if let (Some(seq), Some(last)) = (row.get(4)?, tasks.last_mut()) {
                last.items.push((seq, row.get(5)?, row.get(6)?));
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    tasks.sort_unstable_by_key(|said| (said.epoch, said.finish));
    // Rows of one task need not come one after the other.
    tasks.dedup_by(|later, first| {
        let is_same = later.task == first.task;
        if is_same {
            first.items.append(&mut later.items);
        }
        is_same
    });
    let mut names = Names::default();
    for said in &mut tasks {
        said.items.sort_unstable_by_key(|(seq, ..)| *seq);
        said.schedule = names.behind(tx, &said.cause)?;
    }
    Ok(tasks)
}
