//! The chain of one message, of one task that came from none, or of what was said without either: what began it, task,
//! what was said, receipts.

use super::named::Names;
use super::rows::{load, read_json, time};
use super::shown::detail;
use super::stored_words::{RawBody, body, raw_body, read_body};
use super::{approvals, spoken, standing, words};
use chrono::{DateTime, Utc};

use crate::error::Result;
use crate::read::{AgentChain, Chain, Event, Origin, OutboundChain, PartChain};
use crate::tx::Tx;
use crate::value::{Row, params};
use selkie_domain::ids::{InboxId, OutboundId, PartId};
use selkie_domain::parent::agent_name;

/// How many chains one name may stand for.
const MAX: i64 = 20;
/// How many agents of a task are told.
const MAX_AGENTS: i64 = 100;

/// Returns the chains that `name` names, newest first, tasks with words of their own before events: the id of a
/// task, the key of its cause or of an event, or the platform's id of a message or of one that was said about it.
pub fn trace(tx: &mut dyn Tx, name: &str) -> Result<Vec<Chain>> {
    let task: Option<i64> = name.parse().ok();
    let events = tx.all(
        "SELECT id, disposition, inbound, stored_at, task FROM inbox
         WHERE id IN (SELECT id FROM inbox WHERE message = ?1
                      UNION SELECT id FROM inbox WHERE task = ?2
                      UNION SELECT id FROM inbox WHERE key = ?1
                      UNION SELECT i.id FROM part p JOIN outbound o ON o.id = p.outbound
                            JOIN inbox i ON i.id = o.inbox OR i.task = o.task
                            WHERE p.id IN (SELECT id FROM part WHERE message = ?1
                                           UNION SELECT part FROM part_also WHERE message = ?1))
         ORDER BY id DESC LIMIT ?3",
        params![name, task, MAX],
        StoredRow::from_row,
    )?;
    let worded = tx.all(
        "SELECT t.id, t.cause, t.created_at FROM task_words w CROSS JOIN task t ON t.id = w.task
         WHERE w.task IN (SELECT id FROM task WHERE id = ?2
                          UNION SELECT id FROM task
                                WHERE account IN (SELECT account FROM conversation) AND cause = ?1 AND cause <> ''
                          UNION SELECT o.task FROM part p JOIN outbound o ON o.id = p.outbound
                                WHERE p.id IN (SELECT id FROM part WHERE message = ?1
                                               UNION SELECT part FROM part_also WHERE message = ?1))
         ORDER BY w.task DESC LIMIT ?3",
        params![name, task, MAX],
        |row| Ok(WordedTask { task: row.get(0)?, cause: row.get(1)?, created_at: row.get(2)? }),
    )?;
    let alone: Vec<i64> = tx.column(
        "SELECT o.id FROM outbound o
         WHERE o.id IN (SELECT outbound FROM part WHERE message = ?1
                        UNION SELECT p.outbound FROM part_also a JOIN part p ON p.id = a.part WHERE a.message = ?1)
             AND o.task IS NULL AND o.inbox IS NULL
         ORDER BY o.id DESC LIMIT ?2",
        params![name, MAX],
    )?;
    let mut chains = Vec::with_capacity(events.len() + worded.len() + alone.len());
    for worded in worded {
        chains.extend(worded.chain(tx)?);
    }
    for event in events {
        chains.push(event.chain(tx)?);
    }
    for outbound in alone {
        chains.extend(of_nothing(tx, outbound)?);
    }
    Ok(chains)
}

/// The chain of what was said for neither a message nor a task.
fn of_nothing(tx: &mut dyn Tx, outbound: i64) -> Result<Option<Chain>> {
    let Some(found) = spoken::one(tx, outbound)? else { return Ok(None) };
    let outbounds = outbounds(tx, Which::One(outbound))?;
    Ok(Some(Chain {
        origin: Origin::Spoken { spoken: found.said_for, title: found.title },
        stored_at: found.at,
        task: None,
        approvals: Vec::new(),
        agents: Vec::new(),
        outbounds,
    }))
}

/// A task that came from no message.
struct WordedTask {
    task: i64,
    cause: String,
    created_at: i64,
}

impl WordedTask {
    fn chain(self, tx: &mut dyn Tx) -> Result<Option<Chain>> {
        let Self { task, cause, created_at } = self;
        let Some(words) = words::of_task(tx, task)? else { return Ok(None) };
        Ok(Some(Chain {
            stored_at: time(created_at),
            task: detail(tx, task)?,
            approvals: approvals::chains(tx, task)?,
            agents: agents(tx, task)?,
            outbounds: outbounds(tx, Which::Because(Some(task), None))?,
            origin: Origin::Words { schedule: Names::default().behind(tx, &cause)?, cause, words },
        }))
    }
}

struct StoredRow {
    row: i64,
    disposition: String,
    inbound: String,
    stored_at: i64,
    task: Option<i64>,
}

impl StoredRow {
    fn from_row(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            row: row.get(0)?,
            disposition: row.get(1)?,
            inbound: row.get(2)?,
            stored_at: row.get(3)?,
            task: row.get(4)?,
        })
    }

    fn chain(self, tx: &mut dyn Tx) -> Result<Chain> {
        let task = match self.task {
            Some(id) => detail(tx, id)?,
            None => None,
        };
        let approvals = match self.task {
            Some(id) => approvals::chains(tx, id)?,
            None => Vec::new(),
        };
        let agents = self.task.map(|id| agents(tx, id)).transpose()?.unwrap_or_default();
        let event = Event {
            inbox: InboxId(self.row),
            inbound: load(self.row, &self.inbound)?,
            disposition: self.disposition,
        };
        Ok(Chain {
            origin: Origin::Event(Box::new(event)),
            stored_at: time(self.stored_at),
            task,
            approvals,
            agents,
            outbounds: outbounds(tx, Which::Because(self.task, Some(self.row)))?,
        })
    }
}

/// What the agents of a task did.
fn agents(tx: &mut dyn Tx, task: i64) -> Result<Vec<AgentChain>> {
    let begun: Vec<BegunAgent> = tx.all(
        "SELECT t.id, c.key, t.started_at, t.ended_at FROM task t JOIN conversation c ON c.id = t.conversation
         WHERE t.parent = ?1 ORDER BY t.id LIMIT ?2",
        params![task, MAX_AGENTS],
        |row| {
            let name = agent_name(row.get(1)?).unwrap_or_default().to_owned();
            let started_at = row.get::<Option<i64>>(2)?.map(time);
            let ended_at = row.get::<Option<i64>>(3)?.map(time);
            Ok(BegunAgent { task: row.get(0)?, name, started_at, ended_at })
        },
    )?;
    let mut agents = Vec::with_capacity(begun.len());
    for BegunAgent { task, name, started_at, ended_at } in begun {
        let Some(detail) = detail(tx, task)? else { continue };
        let approvals = approvals::chains(tx, task)?;
        agents.push(AgentChain { name, started_at, ended_at, task: detail, approvals });
    }
    Ok(agents)
}

/// An agent that a task has had work.
struct BegunAgent {
    task: i64,
    name: String,
    started_at: Option<DateTime<Utc>>,
    ended_at: Option<DateTime<Utc>>,
}

/// Which outbounds a chain ends with.
enum Which {
    /// Those of a task, and those of a row of the inbox.
    Because(Option<i64>, Option<i64>),
    /// This one.
    One(i64),
}

fn outbounds(tx: &mut dyn Tx, which: Which) -> Result<Vec<OutboundChain>> {
    let rows: Vec<RawBody> = match which {
        Which::Because(task, inbox) => tx.all(
            body!("FROM outbound o WHERE o.task = ?1 OR o.inbox = ?2 ORDER BY o.id"),
            params![task, inbox],
            raw_body,
        )?,
        Which::One(row) => {
            tx.all(body!("FROM outbound o WHERE o.id = ?1"), params![row], raw_body)?
        }
    };
    rows.iter()
        .map(|raw| {
            Ok(OutboundChain {
                id: OutboundId(raw.0),
                outbound: read_body(raw)?,
                standing: standing::standing(tx, raw.0)?,
                parts: parts(tx, raw.0)?,
            })
        })
        .collect()
}

fn parts(tx: &mut dyn Tx, outbound: i64) -> Result<Vec<PartChain>> {
    let [first, last] = standing::parts_of(outbound);
    tx.all(
        "SELECT p.id, p.state, r.text, p.attempts, p.receipt, p.reason, p.updated_at
         FROM part p LEFT JOIN rendered r ON r.part = p.id
         WHERE p.id BETWEEN ?1 AND ?2 ORDER BY p.id",
        params![first, last],
        part,
    )
}

fn part(row: &dyn Row) -> Result<PartChain> {
    let id: i64 = row.get(0)?;
    let text: Option<&str> = row.get(2)?;
    let receipt: Option<&str> = row.get(4)?;
    Ok(PartChain {
        id: PartId(id),
        state: row.get(1)?,
        part: text.map(|text| load(id, text)).transpose()?,
        attempts: row.get(3)?,
        receipt: receipt.map(|text| read_json("receipt", id, text)).transpose()?,
        reason: row.get(5)?,
        updated_at: time(row.get(6)?),
    })
}
