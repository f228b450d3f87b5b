//! The agents of a conversation: what its tasks have others do.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, PersonId};

use crate::error::Result;
use selkie_domain::facts::Facts;
use selkie_domain::ids::TaskId;
use selkie_domain::task::{Lane, TaskState};
use selkie_domain::usage::Usage;

/// The agents of a conversation.
#[async_trait]
pub trait Agents: Send + Sync {
    /// Lists those that are at work, and those whose last task has ended since; the last begun first, at most 200.
    async fn agents(
        &self,
        conversation: &ConversationId,
        since: DateTime<Utc>,
    ) -> Result<Vec<AgentRow>>;

    /// Ends what an agent of this name does and what waits for it, as far as it works for `by`; for anybody where
    /// that is `None`. Durable.
    async fn stop_agent(
        &self,
        conversation: &ConversationId,
        name: &str,
        by: Option<&PersonId>,
    ) -> Result<StopOutcome>;
}

/// An agent, by what it does or has done last.
#[derive(Clone, Debug)]
pub struct AgentRow {
    /// Its name, unique in the conversation.
    pub name: String,
    /// Its own conversation.
    pub conversation: ConversationId,
    /// What it does.
    pub task: TaskId,
    /// How that stands.
    pub state: TaskState,
    /// When that was asked for.
    pub made_at: DateTime<Utc>,
    /// When that ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Why it failed or was stopped.
    pub why: Option<String>,
    /// What it is to do, in the words it was given.
    pub text: String,
    /// What that has cost.
    pub usage: Usage,
    /// What it was shaped by.
    pub facts: Option<Box<Facts>>,
}

/// What a stop came to.
#[derive(Clone, Debug, Default)]
pub struct StopOutcome {
    /// The tasks that were stopped; those that run hear of it.
    pub tasks: Vec<TaskId>,
    /// The lanes in which one may start that has waited for them.
    pub ready: Vec<Lane>,
}
