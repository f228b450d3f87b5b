//! Agents that are begun: tasks of a task, each in a conversation of its own, which belongs to that task's.

use chrono::{DateTime, Utc};
use selkie_channel_core::ConversationId;

use super::conversations::{self, Site};
use super::requests::RequestText;
use super::rows::millis;
use super::{lanes, tasks, words};
use crate::arrival::NewChild;
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::task::Lane;

/// Children that are to begin, written as text before they reach the writer.
#[derive(Debug)]
pub struct SpawnText {
    children: Vec<ChildText>,
    side_by_side: u32,
    until: DateTime<Utc>,
}

#[derive(Debug)]
struct ChildText {
    request: RequestText,
    awaited: bool,
    fresh: bool,
    joins: bool,
}

impl SpawnText {
    /// Writes the texts of children of which so many run side by side; the others wait for one of those, until then at most.
    pub fn new(children: Vec<NewChild>, side_by_side: u32, until: DateTime<Utc>) -> Result<Self> {
        let text = |child: NewChild| {
            let NewChild { request, awaited, fresh, joins } = child;
            Ok(ChildText { request: RequestText::new(request)?, awaited, fresh, joins })
        };
        let children = children.into_iter().map(text).collect::<Result<_>>()?;
        Ok(Self { children, side_by_side, until })
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        self.children.iter().map(|child| child.request.bytes()).sum()
    }

    /// Returns the conversations of the agents.
    pub fn conversations(&self) -> impl Iterator<Item = &ConversationId> {
        self.children.iter().map(|child| child.request.conversation())
    }
}

/// Begins the children of a task, and returns the lanes in which one may start. What the task has waited for before is
/// answered.
pub fn begin(
    tx: &mut dyn Tx,
    task: i64,
    spawn: &SpawnText,
    now: DateTime<Utc>,
) -> Result<Vec<Lane>> {
    tx.execute_later(
        "UPDATE task SET awaited = 0 WHERE parent = ?1 AND awaited = 1",
        params![task],
    )?;
    let at_work: i64 = tx.only(
        "SELECT COUNT(*) FROM task WHERE parent = ?1 AND ended_at IS NULL
             AND NOT (state = 'waiting' AND attempts = 0 AND start_at > ?2)",
        params![task, millis(now)],
    )?;
    let at_work = u32::try_from(at_work).unwrap_or(u32::MAX);
    let mut room = spawn.side_by_side.saturating_sub(at_work);
    let mut ready = Vec::new();
    for child in &spawn.children {
        let starts = child.joins || room > 0;
        room = room.saturating_sub(u32::from(!child.joins));
        let lane = begin_one(tx, task, child, (!starts).then_some(spawn.until), now)?;
        if starts {
            ready.extend(lanes::ready_name(tx, lane, now)?);
        }
    }
    Ok(ready)
}

/// Begins one; `not_before` is when it starts at the latest, though none that is before it has ended. Returns its lane.
fn begin_one(
    tx: &mut dyn Tx,
    task: i64,
    child: &ChildText,
    not_before: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Result<i64> {
    let asked = &child.request;
    let known = conversations::find(tx, asked.conversation())?;
    let here = conversations::hear(tx, known, Site::of(asked.location(), now))?;
    tx.execute_later(
        "UPDATE conversation SET parent = (SELECT conversation FROM task WHERE id = ?2),
             epoch = epoch + CAST(?3 AS BIGINT), cut = cut * (1 - CAST(?3 AS BIGINT)),
             short = short * (1 - CAST(?3 AS BIGINT)),
             todos = CASE WHEN CAST(?3 AS BIGINT) = 1 THEN NULL ELSE todos END
         WHERE id = ?1",
        params![here, task, i64::from(child.fresh)],
    )?;
    let lane = lanes::of_conversation(tx, here)?;
    let mut new = asked.task().clone();
    new.not_before = not_before;
    let row = tasks::Row {
        account: asked.account(),
        key: None,
        lane,
        order: asked.order(),
        gathers: None,
        facts: asked.facts(),
        whereabouts: None,
        starts: None,
    };
    let made = tasks::make(tx, &new, here, &row, now)?;
    if made.is_new {
        words::keep(tx, made.task, asked.words())?;
        tx.execute_later(
            "UPDATE task SET parent = ?2, awaited = ?3 WHERE id = ?1",
            params![made.task, task, child.awaited],
        )?;
        lanes::refresh(tx, lane)?;
    }
    Ok(made.lane)
}
