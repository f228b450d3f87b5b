//! A place is forgotten: what was said there goes for good. The command marks how far; the janitor takes rows away, a few at
//! a time, so that no message waits for it, and goes on after a crash.

use chrono::{DateTime, Utc};
use selkie_channel_core::ConversationId;
use serde::Deserialize;

use super::ending::{EndRecord, end};
use super::rows::{self, millis, time};
use super::stop::{self, StopResult};
use super::{copied, lanes, locks, standing, summary, texts};
use crate::error::Result;
use crate::tx::Tx;
use crate::value::params;

/// So many tasks go in one step.
const TASKS: i64 = 5;
/// So many rows of messages are looked at in one step.
const FRONT: i64 = 500;

/// Ends what runs, is parked or waits in every conversation of a place, begins all of them anew, and marks what was said
/// there until now.
pub fn mark(tx: &mut dyn Tx, conversation: i64, now: DateTime<Utc>) -> Result<StopResult> {
    let all: Vec<i64> = tx.column(
        "SELECT o.id FROM conversation c CROSS JOIN conversation o ON o.account = c.account AND o.place = c.place
         WHERE c.id = ?1 ORDER BY o.id",
        params![conversation],
    )?;
    locks::rows(tx, all.clone())?;
    let mut ended = StopResult::default();
    for conversation in all {
        ended.join(stop::stop(tx, conversation, None, now)?);
        drop_waiting(tx, conversation, now)?;
        summary::forget(tx, conversation)?;
        tx.execute_later(
            "UPDATE conversation SET epoch = epoch + 1, cut = 0, short = 0, todos = NULL, skills = NULL,
                 plan = 0, model = NULL, effort = NULL, agent = NULL WHERE id = ?1",
            params![conversation],
        )?;
        tx.execute_later(
            "INSERT INTO forgetting (conversation, task, inbox, outbound, tasks_done, inbox_done, outbound_done, at)
             VALUES (?1, (SELECT COALESCE(MAX(id), 0) FROM task), (SELECT COALESCE(MAX(id), 0) FROM inbox),
                     (SELECT COALESCE(MAX(id), 0) FROM outbound), 0, 0, 0, ?2)
             ON CONFLICT (conversation) DO UPDATE SET task = excluded.task, inbox = excluded.inbox,
                 outbound = excluded.outbound, at = excluded.at",
            params![conversation, millis(now)],
        )?;
    }
    Ok(ended)
}

/// What was said before is not answered any more.
fn drop_waiting(tx: &mut dyn Tx, conversation: i64, now: DateTime<Utc>) -> Result<()> {
    let waiting: Vec<(i64, i64)> = tx.all(
        "SELECT id, lane FROM task WHERE conversation = ?1 AND state = 'waiting'",
        params![conversation],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    for (task, lane) in waiting {
        let why = Some("it was asked before everything here was forgotten");
        end(tx, task, EndRecord { state: "stopped", why, at: millis(now) })?;
        lanes::refresh(tx, lane)?;
    }
    Ok(())
}

/// A place that is being forgotten, and how far it has got.
struct Mark {
    conversation: i64,
    task: i64,
    inbox: i64,
    outbound: i64,
    tasks_done: i64,
    inbox_done: i64,
    outbound_done: i64,
}

/// Whether a place is marked still.
pub fn is_under_way(tx: &mut dyn Tx) -> Result<bool> {
    tx.exists("SELECT 1 FROM forgetting LIMIT 1", params![])
}

/// Lists the places that are marked still, each by the row number of its first conversation, and when they were.
pub fn places(tx: &mut dyn Tx) -> Result<Vec<(i64, DateTime<Utc>)>> {
    tx.all(
        "SELECT f.place, MAX(f.at) FROM
             (SELECT (SELECT MIN(p.id) FROM conversation p WHERE p.account = c.account AND p.place = c.place) AS place, g.at
              FROM forgetting g JOIN conversation c ON c.id = g.conversation) f
         GROUP BY f.place ORDER BY f.place",
        params![],
        |row| Ok((row.get(0)?, time(row.get(1)?))),
    )
}

/// Takes some rows away; 0 when nothing is left to do now.
pub fn step(tx: &mut dyn Tx) -> Result<u64> {
    let marks = tx.all(
        "SELECT conversation, task, inbox, outbound, tasks_done, inbox_done, outbound_done FROM forgetting
         ORDER BY conversation",
        params![],
        |row| {
            Ok(Mark {
                conversation: row.get(0)?,
                task: row.get(1)?,
                inbox: row.get(2)?,
                outbound: row.get(3)?,
                tasks_done: row.get(4)?,
                inbox_done: row.get(5)?,
                outbound_done: row.get(6)?,
            })
        },
    )?;
    for mark in marks {
        let rows = mark.step(tx)?;
        if rows > 0 {
            return Ok(rows);
        }
    }
    Ok(0)
}

impl Mark {
    fn step(&self, tx: &mut dyn Tx) -> Result<u64> {
        for part in [Self::messages, Self::tasks, Self::said, Self::copies] {
            let rows = part(self, tx)?;
            if rows > 0 {
                return Ok(rows);
            }
        }
        let left: Option<i64> = tx
            .first::<Option<i64>>(
                "SELECT MIN(id) FROM (
                     SELECT id FROM task WHERE conversation = ?1 AND state = 'running'
                     UNION ALL SELECT id FROM task WHERE conversation = ?1 AND state = 'parked'
                     UNION ALL SELECT id FROM task WHERE conversation = ?1 AND state = 'waiting'
                     UNION ALL SELECT id FROM task INDEXED BY task_finish
                               WHERE conversation = ?1 AND finish IS NOT NULL AND id > ?3) t WHERE id <= ?2",
                params![self.conversation, self.task, self.tasks_done],
            )?
            .flatten();
        match left {
            // It was told to stop, and what it writes goes when it has; or what an owner was told of it is on its way.
            Some(task) => {
                let sql = "UPDATE forgetting SET tasks_done = ?2, outbound_done = 0
                           WHERE conversation = ?1 AND tasks_done >= ?3";
                tx.execute_later(sql, params![self.conversation, task - 1, task])?;
                Ok(0)
            }
            None if self.outbound_done < self.outbound => Ok(0),
            None if copied::is_left(tx, self.conversation, self.task)? => Ok(0),
            None => tx.execute(
                "DELETE FROM forgetting WHERE conversation = ?1",
                params![self.conversation],
            ),
        }
    }

    /// What people wrote: its words go and its keys stay, since a platform may bring it once more.
    fn messages(&self, tx: &mut dyn Tx) -> Result<u64> {
        if self.inbox_done >= self.inbox {
            return Ok(0);
        }
        let rows: Vec<(i64, Option<i64>, String)> = tx.all(
            "SELECT id, conversation, inbound FROM inbox WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3",
            params![self.inbox_done, self.inbox, FRONT],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let here = id_of(tx, self.conversation)?;
        let is_here = |(_, conversation, inbound): &&(i64, Option<i64>, String)| match conversation
        {
            Some(conversation) => *conversation == self.conversation,
            // What nobody answered stands in no conversation: it says itself where it was written.
            None => says_where(inbound).is_some_and(|it| Some(it) == here),
        };
        for (id, _, inbound) in rows.iter().filter(is_here) {
            tx.execute_later(
                "UPDATE inbox SET inbound = ?2, spoken = NULL,
                     disposition = CASE WHEN disposition IN ('context', 'gate') THEN 'ignored: forgotten'
                                   ELSE disposition END
                 WHERE id = ?1",
                params![*id, &texts::forgotten(inbound)],
            )?;
        }
        let done = rows.last().map_or(self.inbox, |(id, ..)| *id);
        tx.execute(
            "UPDATE forgetting SET inbox_done = ?2 WHERE conversation = ?1",
            params![self.conversation, done],
        )
    }

    /// What tasks have read, done and asked for.
    fn tasks(&self, tx: &mut dyn Tx) -> Result<u64> {
        let ended: Vec<i64> = tx.column(
            "SELECT id FROM task INDEXED BY task_finish WHERE conversation = ?1 AND finish IS NOT NULL AND id > ?2 AND id <= ?3
             ORDER BY id LIMIT ?4",
            params![self.conversation, self.tasks_done, self.task, TASKS],
        )?;
        let mut last = None;
        for task in &ended {
            // What an owner was asked for it in their own chat holds its words, too, and is known by its rows alone: these
            // stay while it is on its way.
            let told = told_of(tx, *task)?;
            if any_is_open(tx, &told)? {
                break;
            }
            told.into_iter().try_for_each(|outbound| unsay(tx, outbound))?;
            for sql in [
                "DELETE FROM transcript WHERE task = ?1",
                "DELETE FROM copied WHERE task = ?1",
                "UPDATE task_words SET text = NULL, name = '' WHERE task = ?1",
                "DELETE FROM question WHERE task = ?1",
                "DELETE FROM approval_asked WHERE approval IN (SELECT id FROM approval WHERE task = ?1)",
                "DELETE FROM approval WHERE task = ?1",
            ] {
                tx.execute_later(sql, params![*task])?;
            }
            last = Some(*task);
        }
        let Some(last) = last else { return Ok(0) };
        tx.execute(
            "UPDATE forgetting SET tasks_done = ?2 WHERE conversation = ?1",
            params![self.conversation, last],
        )
    }

    /// What tasks of other conversations have read here.
    fn copies(&self, tx: &mut dyn Tx) -> Result<u64> {
        copied::forget(tx, self.conversation, self.task)
    }

    /// What the bot has said, up to what is on its way: that goes when it is settled.
    fn said(&self, tx: &mut dyn Tx) -> Result<u64> {
        if self.outbound_done >= self.outbound {
            return Ok(0);
        }
        let rows: Vec<(i64, i64)> = tx.all(
            "SELECT id, conversation FROM outbound WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3",
            params![self.outbound_done, self.outbound, FRONT],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let mut done = rows.last().map_or(self.outbound, |(id, _)| *id);
        for (id, _) in rows.iter().filter(|(_, conversation)| *conversation == self.conversation) {
            if is_open(tx, *id)? {
                done = id - 1;
                break;
            }
            unsay(tx, *id)?;
        }
        if done <= self.outbound_done {
            return Ok(0);
        }
        tx.execute(
            "UPDATE forgetting SET outbound_done = ?2 WHERE conversation = ?1",
            params![self.conversation, done],
        )
    }
}

/// A conversation's id, as events name it.
fn id_of(tx: &mut dyn Tx, conversation: i64) -> Result<Option<ConversationId>> {
    let sql = "SELECT account, key FROM conversation WHERE id = ?1";
    tx.optional(sql, params![conversation], |row| rows::conversation(row, 0))
}

/// Where an event happened, by its own words.
fn says_where(inbound: &str) -> Option<ConversationId> {
    /// Of an event only this is looked at.
    #[derive(Deserialize)]
    struct Place {
        conversation: ConversationId,
    }
    serde_json::from_str::<Place>(inbound).ok().map(|place| place.conversation)
}

/// Returns what asked owners for a task, and what told them what came of it: that repeats what they were asked.
fn told_of(tx: &mut dyn Tx, task: i64) -> Result<Vec<i64>> {
    let sql = "SELECT a.conversation FROM approval p JOIN approval_asked a ON a.approval = p.id WHERE p.task = ?1";
    let asked_in = tx.column(sql, params![task])?;
    if asked_in.is_empty() {
        return Ok(Vec::new());
    }
    // Nobody tells them more of it from here on: that is written under the lock of their chat.
    locks::rows(tx, asked_in)?;
    let sql = "SELECT a.outbound FROM approval p JOIN approval_asked a ON a.approval = p.id WHERE p.task = ?1";
    let mut told: Vec<i64> = tx.column(sql, params![task])?;
    let keys: Vec<String> = tx.column("SELECT key FROM approval WHERE task = ?1", params![task])?;
    for key in keys {
        let from = format!("approval:{key}:");
        let to = format!("approval:{key};");
        let sql = "SELECT outbound FROM notice WHERE key >= ?1 AND key < ?2";
        told.extend(tx.column::<i64>(sql, params![&from, &to])?);
    }
    Ok(told)
}

/// Whether something of it is not settled yet.
fn any_is_open(tx: &mut dyn Tx, said: &[i64]) -> Result<bool> {
    for outbound in said {
        if is_open(tx, *outbound)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_open(tx: &mut dyn Tx, outbound: i64) -> Result<bool> {
    let [first, last] = standing::parts_of(outbound);
    let sql = "SELECT 1 FROM part WHERE id BETWEEN ?1 AND ?2 AND open = 1";
    tx.exists(sql, params![first, last])
}

/// Takes away what was said once and is settled, with its parts.
fn unsay(tx: &mut dyn Tx, outbound: i64) -> Result<()> {
    let [first, last] = standing::parts_of(outbound);
    tx.execute_later("DELETE FROM rendered WHERE part BETWEEN ?1 AND ?2", params![first, last])?;
    tx.execute_later("DELETE FROM part_also WHERE part BETWEEN ?1 AND ?2", params![first, last])?;
    tx.execute_later("DELETE FROM part WHERE id BETWEEN ?1 AND ?2", params![first, last])?;
    tx.execute_later("DELETE FROM post WHERE outbound = ?1", params![outbound])?;
    // The newest row of a table stays, without its words: ids are never given twice.
    tx.execute_later(
        "DELETE FROM outbound WHERE id = ?1 AND id < (SELECT MAX(id) FROM outbound)",
        params![outbound],
    )?;
    let newest: Option<String> =
        tx.first("SELECT body FROM outbound WHERE id = ?1", params![outbound])?;
    match newest {
        Some(body) => tx.execute_later(
            "UPDATE outbound SET body = ?2 WHERE id = ?1",
            params![outbound, &texts::unsaid(&body)],
        ),
        None => Ok(()),
    }
}
