//! An agent that somebody has work by hand: no task has begun it, and whoever called waits for it.

use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};

use crate::intake::receive::PlacedTask;
use crate::terminal::ask::{Counter, location};
use selkie_agent::messages;
use selkie_domain::cause::Cause;
use selkie_domain::choice::Pick;
use selkie_domain::command_line;
use selkie_domain::facts::Facts;
use selkie_domain::ids::TaskId;
use selkie_domain::parent::{Parent, agent_conversation};
use selkie_domain::taint::Taint;
use selkie_domain::task::TaskState;
use selkie_domain::transcript::Item;
use selkie_domain::words::Words;
use selkie_store::{ChildEnd, Location, NewTask, StoreError, TaskRequest};
use selkie_tools::agents::{ChildOrder, MAIN, Start};

/// What an agent has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentAnswer {
    /// What it says, or what is said of it.
    pub text: String,
    /// It has not done what it was to do.
    pub is_error: bool,
    /// The level of what it says.
    pub level: Taint,
}

impl Counter {
    /// Lets an agent of a folder's conversation work, with the facts of who calls by hand; waits for it where that is wanted.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn run_agent(
        &self,
        workspace: &Path,
        order: &ChildOrder,
        facts: &Facts,
    ) -> Result<AgentAnswer, StoreError> {
        let now = self.context.runtime.clock.now();
        let request = request(workspace, order, facts, now);
        let PlacedTask { task, stored, .. } = self.intake.request(request).await?;
        let ended = self.task_waiters.expect(task);
        self.intake.begin(stored);
        if !order.awaited {
            self.task_waiters.forget(task);
            let text = messages::agent_begun(&order.name, order.start == Start::Joins);
            return Ok(AgentAnswer { text, is_error: false, level: Taint::Clean });
        }
        let in_time = tokio::time::timeout(order.timeout, ended).await.is_ok();
        self.task_waiters.forget(task);
        if !in_time {
            self.intake.commands.abandon(task).await;
        }
        self.answer_of(task, &order.name).await
    }

    async fn answer_of(&self, task: TaskId, name: &str) -> Result<AgentAnswer, StoreError> {
        let Some(detail) = self.context.storage.ledger.task(task).await? else {
            let text = messages::agent_ended(name, None, false);
            return Ok(AgentAnswer { text, is_error: true, level: Taint::Clean });
        };
        let said = detail.transcript.iter().rev().find_map(|item| match item {
            Item::Said { text, .. } => Some(text.clone()),
            _ => None,
        });
        let state = detail.row.state;
        let level = detail.facts.taint;
        let end = ChildEnd {
            task,
            call: String::new(),
            state,
            why: detail.row.why.clone(),
            text: said.unwrap_or_default(),
            level,
        };
        let text = messages::agent_ended(name, Some(&end), false);
        Ok(AgentAnswer { text, is_error: state != TaskState::Done, level })
    }
}

fn request(workspace: &Path, order: &ChildOrder, facts: &Facts, now: DateTime<Utc>) -> TaskRequest {
    let Location { conversation, place, .. } = location(workspace);
    let span = TimeDelta::from_std(order.timeout).unwrap_or(TimeDelta::hours(24));
    let parent = Parent {
        task: TaskId(0),
        key: conversation.key().to_owned(),
        name: order.name.clone(),
        until: now + span,
        schema: order.schema.clone(),
    };
    let facts = Facts {
        parent: Some(Box::new(parent)),
        narrowed: order.narrowed.clone(),
        pick: Pick::named(order.choice.clone()),
        message: None,
        at: now,
        ..facts.clone()
    };
    let own = agent_conversation(&conversation, &order.name);
    let words = Words {
        note: messages::agent_brief(&order.name, order.schema.as_deref()),
        agent: Some(MAIN.to_owned()),
        ..Words::said(command_line::person(), now, order.task.clone())
    };
    TaskRequest {
        location: Location { conversation: own, place, title: String::new() },
        order: now.timestamp_micros(),
        task: NewTask::new(Cause::CommandLine { id: uuid::Uuid::now_v7().to_string() }, facts),
        words,
    }
}
