//! The way from a worker to the agent: shape and scope of the task, persona, and the drive itself.

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::agent::{Agent, Assignment, Driven, Dropped, Inflow, Quota};
use crate::domain::facts::Facts;
use crate::domain::transcript::Heard;
use crate::flow::commands::Shapes;
use crate::flow::scope::Scopes;
use crate::store::Claimed;
use crate::tools::ports::{Progress, Reply};

/// Answers a claimed task.
#[async_trait]
pub(super) trait Mind: Send + Sync {
    /// Works on it to its end, or to a question; see [`Dropped`] for the ways it does not get there.
    async fn answer(&self, job: Job<'_>) -> Result<Driven, Dropped>;
}

/// A task with all that the mind needs besides what is its own.
pub(super) struct Job<'a> {
    pub(super) claimed: &'a Claimed,
    pub(super) heard: Vec<Heard>,
    pub(super) reply: Arc<dyn Reply>,
    pub(super) inflow: &'a dyn Inflow,
    pub(super) progress: Arc<dyn Progress>,
    pub(super) quota: Option<&'a dyn Quota>,
    pub(super) cancel: CancellationToken,
}

/// The agent behind its shape.
pub(super) struct Thinking {
    pub(super) agent: Arc<Agent>,
    pub(super) shapes: Shapes,
    pub(super) scopes: Scopes,
    pub(super) persona: String,
}

#[async_trait]
impl Mind for Thinking {
    async fn answer(&self, job: Job<'_>) -> Result<Driven, Dropped> {
        let Job { claimed, heard, reply, progress, inflow, quota, cancel } = job;
        let shape = |facts: &Facts| (self.shapes)(facts).registry;
        let scope = |facts: &Facts, call: &str| {
            let shape = (self.shapes)(facts);
            self.scopes.make(claimed, facts, &shape, call, (&reply, &progress, &cancel))
        };
        let (persona, cancel) = (self.persona.clone(), cancel.clone());
        let (shape, scope) = (&shape, &scope);
        let assignment =
            Assignment { claimed, heard, shape, scope, persona, inflow, quota, cancel };
        self.agent.drive(assignment).await
    }
}
