//! What the bot has said in a conversation that no transcript of a task there holds: answers to commands, questions, files,
//! the owner's own words from the command line, and what selkie tells of its own accord.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use selkie_channel_core::{Body, ConversationId};

use super::named::Names;
use super::rows::time;
use super::standing::standing;
use super::stored_words::{RawBody, read_body};
use super::{conversations, quoted};
use crate::error::Result;
use crate::spoken::{SpokenFor, Utterance};
use crate::tx::Tx;
use crate::value::{Row, params};
use selkie_domain::ids::{InboxId, OutboundId, ScheduleId, TaskId};

/// Returns the newest of it, oldest first.
pub fn spoken(tx: &mut dyn Tx, id: &ConversationId, most: usize) -> Result<Vec<Utterance>> {
    let Some(conversation) = conversations::find(tx, id)? else { return Ok(Vec::new()) };
    let mut rows = tx.all(
        "SELECT o.id, o.body, o.task, o.inbox, o.call, o.created_at, t.conversation, p.schedule
         FROM outbound o LEFT JOIN task t ON t.id = o.task LEFT JOIN post p ON p.outbound = o.id
         WHERE o.conversation = ?1 AND o.said IS NULL ORDER BY o.id DESC LIMIT ?2",
        params![conversation, most],
        Raw::from_row,
    )?;
    rows.reverse();
    // What a task elsewhere says here stands in a transcript of its own.
    rows.retain(|row| {
        !row.is_call || row.came_from.is_none_or(|elsewhere| elsewhere == conversation)
    });
    let keys = keys(tx, conversation)?;
    let mut names = Names::default();
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        let key = keys.get(&row.body.0).map(String::as_str);
        let said_for = match row.task_in(conversation) {
            Some(of_task) => of_task,
            None => row.said_for(tx, key, &mut names)?,
        };
        let outbound = match read_body(&row.body) {
            Ok(outbound) => outbound,
            Err(error) => {
                tracing::error!(outbound = row.body.0, %error, "something that was said cannot be read: it is missing here");
                continue;
            }
        };
        let text = match &outbound.body {
            body if is_change(body) => continue,
            body => quoted::words(body),
        };
        if text.trim().is_empty() {
            continue;
        }
        let standing = standing(tx, row.body.0)?;
        let id = OutboundId(row.body.0);
        all.push(Utterance { id, at: time(row.created_at), said_for, outbound, text, standing });
    }
    Ok(all)
}

/// What was said for neither a message nor a task.
pub struct Alone {
    /// Why.
    pub said_for: SpokenFor,
    /// The title of where it was said.
    pub title: String,
    /// When it was stored.
    pub at: DateTime<Utc>,
}

/// Whether it says nothing new: it changes what an earlier message shows.
fn is_change(body: &Body) -> bool {
    matches!(body, Body::Status { .. } | Body::Revision { .. })
}

/// Returns why one was said; nothing of what changes another.
pub fn one(tx: &mut dyn Tx, outbound: i64) -> Result<Option<Alone>> {
    let found: Option<(RawBody, i64, String, Option<i64>)> = tx.optional(
        "SELECT o.id, o.body, o.created_at, c.title, p.schedule FROM outbound o JOIN conversation c ON c.id = o.conversation
         LEFT JOIN post p ON p.outbound = o.id WHERE o.id = ?1",
        params![outbound],
        |row| Ok(((row.get(0)?, row.get(1)?, None), row.get(2)?, row.get(3)?, row.get(4)?)),
    )?;
    let Some((body, created_at, title, schedule)) = found else { return Ok(None) };
    if read_body(&body).is_ok_and(|outbound| is_change(&outbound.body)) {
        return Ok(None);
    }
    let key: Option<String> =
        tx.first("SELECT key FROM notice WHERE outbound = ?1 ORDER BY key", params![outbound])?;
    let said_for = match schedule {
        Some(schedule) => scheduled(tx, schedule, &mut Names::default())?,
        None => SpokenFor::of_notice(key.as_deref()),
    };
    Ok(Some(Alone { said_for, title, at: time(created_at) }))
}

/// The keys of what was to be said once, by what was said.
fn keys(tx: &mut dyn Tx, conversation: i64) -> Result<BTreeMap<i64, String>> {
    let keys: Vec<(i64, String)> = tx.all(
        "SELECT n.outbound, n.key FROM notice n CROSS JOIN outbound o ON o.id = n.outbound WHERE o.conversation = ?1",
        params![conversation],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(keys.into_iter().collect())
}

fn scheduled(tx: &mut dyn Tx, schedule: i64, names: &mut Names) -> Result<SpokenFor> {
    Ok(SpokenFor::Schedule { schedule: names.of(tx, ScheduleId(schedule))? })
}

/// A row, and what tells why it was said.
struct Raw {
    body: RawBody,
    task: Option<i64>,
    inbox: Option<i64>,
    /// A call of its task has said it.
    is_call: bool,
    created_at: i64,
    /// The conversation of its task.
    came_from: Option<i64>,
    /// The schedule that it is a post of.
    schedule: Option<i64>,
}

impl Raw {
    fn from_row(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            body: (row.get(0)?, row.get(1)?, None),
            task: row.get(2)?,
            inbox: row.get(3)?,
            is_call: row.get::<Option<&str>>(4)?.is_some(),
            created_at: row.get(5)?,
            came_from: row.get(6)?,
            schedule: row.get(7)?,
        })
    }

    /// The task that it is of.
    fn task_in(&self, conversation: i64) -> Option<SpokenFor> {
        let elsewhere = self.came_from.is_some_and(|from| from != conversation);
        self.task.map(|task| SpokenFor::Task { task: TaskId(task), elsewhere })
    }

    fn said_for(&self, tx: &mut dyn Tx, key: Option<&str>, names: &mut Names) -> Result<SpokenFor> {
        Ok(match (self.inbox, self.schedule) {
            (Some(inbox), _) => SpokenFor::Command { inbox: InboxId(inbox) },
            (None, Some(schedule)) => scheduled(tx, schedule, names)?,
            (None, None) => SpokenFor::of_notice(key),
        })
    }
}
