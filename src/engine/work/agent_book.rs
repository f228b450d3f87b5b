//! Agents over the ledger: who works for a conversation, what they know, and their end.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::ConversationId;

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::work::agents::{AgentAsker, Agents as OwnAgents};
use crate::work::conversation_log;
use crate::work::messages::agents as messages;
use crate::work::rights::Rights;
use crate::work::running_tasks::RunningTasks;
use selkie_domain::choice::{Choice, Pick};
use selkie_domain::command_line;
use selkie_domain::facts::{Facts, Trust};
use selkie_domain::ids::TaskId;
use selkie_domain::live::Live;
use selkie_domain::narrowing::Narrowing;
use selkie_domain::parent::is_agent;
use selkie_domain::span::Span;
use selkie_domain::taint::Taint;
use selkie_domain::task::TaskState;
use selkie_store::read::{SaidTask, TaskDetail, TaskRow};
use selkie_store::{AgentRow, StoreError};
use selkie_tools::ToolError;
use selkie_tools::agents::MAIN;
use selkie_tools::ports::{Agents, KnownAgent, Role, TodoReport, Visitor};

/// So many of the newest tasks are looked through for peers.
const PEERS: usize = 200;
/// So many of an agent's newest entries are told.
const ENTRIES: usize = 30;

/// Agents over the ledger.
pub struct AgentBook {
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) running: Arc<RunningTasks>,
    pub(crate) rights: Arc<Rights>,
    /// Those of the config.
    pub own: Live<OwnAgents>,
    /// How long an agent that has ended is known.
    pub(crate) keep: Span,
}

#[async_trait]
impl Agents for AgentBook {
    async fn list(&self, by: &Visitor) -> Result<Vec<KnownAgent>, ToolError> {
        let now = self.context.runtime.now();
        let own = self.task(by.task).await?;
        let parent = own.as_ref().and_then(|own| own.facts.parent.clone());
        let begun = own.as_ref().map_or(now, |own| own.row.created_at);
        let name = parent.as_ref().map_or(MAIN, |parent| parent.name.as_str());
        let mut all = vec![known(name, Role::Own, &own_status(), "", now - begun)];
        if parent.is_some() {
            all.push(known(MAIN, Role::Parent, &own_status(), "", now - begun));
            return Ok(all);
        }
        let rows = self.rows(&by.conversation).await?;
        all.extend(rows.iter().map(|row| of_row(row, now)));
        all.extend(self.peers(by, now).await?);
        Ok(all)
    }

    fn own(&self, by: &Visitor, name: &str) -> Result<(), ToolError> {
        let place = self.context.accounts.place(&by.conversation);
        let bound = self.rights.here(&by.conversation, &place).agent;
        let asker = AgentAsker { trust: by.trust, bound: bound.as_deref() };
        let given = self.own.now().given(name, asker);
        given.map(drop).map_err(|why| ToolError::tell(format!("invalid agent: {why}")))
    }

    async fn peek(&self, by: &Visitor, name: &str) -> Result<TodoReport, ToolError> {
        let row = self.agent(by, name).await?;
        let said = self.context.storage.ledger.said(&row.conversation, false, ENTRIES).await;
        let mut tasks = said.map_err(|error| self.failed(&error))?;
        let open = if row.ended_at.is_none() { self.task(row.task).await? } else { None };
        tasks.extend(open.map(said_so_far));
        let entries = conversation_log::entries(tasks);
        let newest = &entries[entries.len().saturating_sub(ENTRIES)..];
        let text = messages::peeked(&row, messages::age(&row, self.context.runtime.now()), newest);
        let level = row.facts.as_ref().map_or(Taint::Raw, |facts| facts.taint);
        Ok(TodoReport { text, level })
    }

    async fn stop(&self, by: &Visitor, name: &str) -> Result<String, ToolError> {
        let row = self.agent(by, name).await?;
        if row.ended_at.is_some() {
            return Ok(messages::over(name, row.state));
        }
        let ledger = Arc::clone(&self.context.storage.ledger);
        let conversation = by.conversation.clone();
        let name = row.name;
        // As by /stop: whoever it works for, and owners.
        let person = match (by.trust, &by.person) {
            (Trust::Owner, _) => None,
            (_, None) => return Err(ToolError::Tell(messages::not_theirs(&name))),
            (_, person) => person.clone(),
        };
        let outbox = Arc::clone(&self.outbox);
        let running = Arc::clone(&self.running);
        let stop = async move {
            let stopped = ledger.stop_agent(&conversation, &name, person.as_ref()).await;
            if let Ok(stopped) = &stopped {
                stopped.tasks.iter().for_each(|task| running.stop(*task));
            }
            outbox.wake();
            stopped.map(|stopped| match person.is_some() && stopped.tasks.is_empty() {
                true => Err(ToolError::Tell(messages::not_theirs(&name))),
                false => Ok(messages::stopped(&name)),
            })
        };
        let stopped = self.context.runtime.to_the_end(stop).await;
        stopped.map_err(|error| self.failed(&error))?
    }
}

impl AgentBook {
    /// Lists the agents of a conversation that are known, the last begun first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn of(&self, conversation: &ConversationId) -> Result<Vec<AgentRow>, StoreError> {
        let keep = TimeDelta::from_std(self.keep.0).unwrap_or(TimeDelta::days(365));
        let since = self.context.runtime.now() - keep;
        self.context.storage.ledger.agents(conversation, since).await
    }

    async fn rows(&self, conversation: &ConversationId) -> Result<Vec<AgentRow>, ToolError> {
        self.of(conversation).await.map_err(|error| self.failed(&error))
    }

    /// The agent of this name that works for the task's conversation.
    async fn agent(&self, by: &Visitor, name: &str) -> Result<AgentRow, ToolError> {
        let own = self.task(by.task).await?;
        let is_agent = own.is_some_and(|own| own.facts.parent.is_some());
        let mut rows = if is_agent { Vec::new() } else { self.rows(&by.conversation).await? };
        match rows.iter().position(|row| row.name == name) {
            Some(at) => Ok(rows.swap_remove(at)),
            None => {
                let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
                Err(ToolError::Tell(messages::unknown(name, &names)))
            }
        }
    }

    /// The tasks of other conversations that run in the same workspace, for an owner alone.
    async fn peers(&self, by: &Visitor, now: DateTime<Utc>) -> Result<Vec<KnownAgent>, ToolError> {
        if !by.sees_all {
            return Ok(Vec::new());
        }
        let tasks = self.context.storage.ledger.tasks(None, PEERS).await;
        let tasks = tasks.map_err(|error| self.failed(&error))?;
        let runs = |task: &&TaskRow| {
            task.state == TaskState::Running
                && task.conversation != by.conversation
                && task.conversation.account() == by.conversation.account()
                && !command_line::is_at(&task.conversation)
                && !is_agent(&task.conversation)
        };
        let peer = |task: &TaskRow| {
            let id = task.conversation.to_string();
            known(&id, Role::Peer, &messages::status(task.state, None), "", now - task.created_at)
        };
        Ok(tasks.iter().filter(runs).map(peer).collect())
    }

    async fn task(&self, task: TaskId) -> Result<Option<TaskDetail>, ToolError> {
        self.context.storage.ledger.task(task).await.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &StoreError) -> ToolError {
        self.context.storage.trouble(error);
        ToolError::Abort(error.to_string())
    }
}

/// What is there of a task that has not ended.
fn said_so_far(detail: TaskDetail) -> SaidTask {
    let TaskDetail { row, transcript, .. } = detail;
    let TaskRow { id, created_at, .. } = row;
    SaidTask { id, epoch: 0, created_at, ended_at: None, items: transcript, schedule: None }
}

fn own_status() -> String {
    messages::status(TaskState::Running, None)
}

fn of_row(row: &AgentRow, now: DateTime<Utc>) -> KnownAgent {
    let status = messages::status(row.state, row.why.as_deref());
    let agent =
        known(&row.name, Role::Child, &status, &messages::task(&row.text), TimeDelta::zero());
    let (choice, narrowed) = row.facts.as_deref().map(as_begun).unwrap_or_default();
    KnownAgent {
        is_open: row.ended_at.is_none(),
        age: messages::age(row, now),
        choice,
        narrowed,
        ..agent
    }
}

/// What an agent was begun with, besides what its task had.
fn as_begun(facts: &Facts) -> (Choice, Vec<Narrowing>) {
    let Pick { agent, model, effort, .. } = facts.pick.clone();
    let own = facts.narrowed.iter().filter(|narrowing| !narrowing.is_of_parent());
    (Choice { agent, model, effort }, own.cloned().collect())
}

fn known(name: &str, role: Role, status: &str, task: &str, age: TimeDelta) -> KnownAgent {
    KnownAgent {
        name: name.to_owned(),
        role,
        is_open: true,
        status: status.to_owned(),
        task: task.to_owned(),
        age: span(age),
        choice: Choice::default(),
        narrowed: Vec::new(),
    }
}

fn span(age: TimeDelta) -> Span {
    Span::seconds(u64::try_from(age.num_seconds()).unwrap_or_default())
}
