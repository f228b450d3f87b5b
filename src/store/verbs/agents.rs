//! Agents, as the task that has begun them sees them: which there are, and what they have come to.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, PersonId};

use super::rows::{millis, time};
use super::usage::usage;
use super::{conversations, facts, history, lanes, locks, stopped_agents};
use crate::agents::{AgentRow, Agents, StopOutcome};
use crate::error::Result;
use crate::sql::{Plan, SqlLedger};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::facts::Facts;
use selkie_domain::ids::TaskId;
use selkie_domain::parent::agent_name;
use selkie_domain::task::TaskState;

/// So many agents are listed.
const MAX: i64 = 200;

/// The agents of a conversation, each by what it does or has done last.
const OF_CONVERSATION: &str =
    "SELECT c.key, t.id, t.state, t.created_at, t.ended_at, t.why, w.text, t.facts,
         (SELECT place FROM whereabouts p WHERE p.id = t.whereabouts),
         t.calls, t.input, t.cached, t.output, t.micro_usd
     FROM conversation c
     JOIN task t ON t.id = COALESCE(
         (SELECT r.id FROM task r WHERE r.conversation = c.id AND r.state = 'running' LIMIT 1),
         (SELECT r.id FROM task r WHERE r.conversation = c.id AND r.state = 'parked' LIMIT 1),
         (SELECT MIN(r.id) FROM task r WHERE r.conversation = c.id AND r.state = 'waiting'),
         (SELECT r.id FROM task r WHERE r.conversation = c.id AND r.epoch = c.epoch AND r.finish IS NOT NULL
          ORDER BY r.finish DESC LIMIT 1))
     LEFT JOIN task_words w ON w.task = t.id
     WHERE c.parent = ?1 AND (t.ended_at IS NULL OR t.ended_at >= ?2)
     ORDER BY t.id DESC LIMIT ?3";

#[async_trait]
impl Agents for SqlLedger {
    async fn agents(
        &self,
        conversation: &ConversationId,
        since: DateTime<Utc>,
    ) -> Result<Vec<AgentRow>> {
        let id = conversation.clone();
        let raw = self.read(move |tx| list(tx, &id, since)).await?;
        let rows = raw.into_iter().map(|raw| {
            let RawAgent { row, facts } = raw;
            let facts: Facts = facts::read(row.task.0, &facts)?;
            Ok(AgentRow { facts: Some(Box::new(facts)), ..row })
        });
        Ok(history::readable(rows))
    }

    async fn stop_agent(
        &self,
        conversation: &ConversationId,
        name: &str,
        by: Option<&PersonId>,
    ) -> Result<StopOutcome> {
        let by = by.map(|by| by.as_str().to_owned());
        let id = conversation.clone();
        let name = name.to_owned();
        let now = self.now();
        let plan = Plan::DURABLE;
        self.write(plan, move |tx| stop(tx, &id, &name, by.as_deref(), now)).await
    }
}

struct RawAgent {
    row: AgentRow,
    facts: facts::RawFacts,
}

fn list(tx: &mut dyn Tx, id: &ConversationId, since: DateTime<Utc>) -> Result<Vec<RawAgent>> {
    let Some(conversation) = conversations::find(tx, id)? else { return Ok(Vec::new()) };
    let rows = tx.all(OF_CONVERSATION, params![conversation, millis(since), MAX], |row| {
        let key: String = row.get(0)?;
        let state: String = row.get(2)?;
        let row_of = AgentRow {
            name: agent_name(&key).unwrap_or_default().to_owned(),
            conversation: ConversationId::new(id.account().clone(), key),
            task: TaskId(row.get(1)?),
            state: TaskState::parse(&state).unwrap_or(TaskState::Failed),
            made_at: time(row.get(3)?),
            ended_at: row.get::<Option<i64>>(4)?.map(time),
            why: row.get(5)?,
            text: row.get::<Option<String>>(6)?.unwrap_or_default(),
            usage: usage(row, 9)?,
            facts: None,
        };
        Ok(RawAgent { row: row_of, facts: (row.get(7)?, row.get(8)?) })
    })?;
    Ok(rows)
}

fn stop(
    tx: &mut dyn Tx,
    id: &ConversationId,
    name: &str,
    by: Option<&str>,
    now: DateTime<Utc>,
) -> Result<StopOutcome> {
    locks::named(tx, [id])?;
    let Some(conversation) = conversations::find(tx, id)? else {
        return Ok(StopOutcome::default());
    };
    let tasks = stopped_agents::stop_in(tx, conversation, by, Some(name), now)?;
    // What waited for them, or for their turn.
    let ready = lanes::of_family(tx, conversation)?;
    Ok(StopOutcome { tasks, ready: lanes::ready_names(tx, &ready, now)? })
}
