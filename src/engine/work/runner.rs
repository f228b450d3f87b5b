//! The way from a worker to the agent: shape and scope of the task, persona, and the drive itself.

use std::sync::Arc;

use async_trait::async_trait;

use crate::work::persona::Persona;
use crate::work::scope::{Ports, Scopes};
use selkie_agent::{Agent, Assignment, ContextSource, DriveEnd, DropReason, Inflow, Quota};
use selkie_domain::facts::{Facts, Trigger};
use selkie_domain::live::Live;
use selkie_domain::transcript::UserMessage;
use selkie_shape::{Shape, fit};
use selkie_store::TaskClaim;

/// Makes the shape of some facts.
pub type Shapes = Arc<dyn Fn(&Facts) -> Shape + Send + Sync>;

/// Answers a claimed task.
#[async_trait]
pub trait TaskRunner: Send + Sync {
    /// Works on it to its end, or to a question; see [`DropReason`] for the ways it does not get there.
    async fn answer(&self, job: Job<'_>) -> Result<DriveEnd, DropReason>;
}

/// A task with all that the runner needs besides what is its own.
pub struct Job<'a> {
    pub(crate) claimed: &'a TaskClaim,
    pub(crate) heard: Vec<UserMessage>,
    pub(crate) inflow: &'a dyn Inflow,
    pub(crate) quota: Option<&'a dyn Quota>,
    pub(crate) ports: Ports,
}

/// The agent behind its shape.
#[derive(Clone)]
pub struct AgentRunner {
    pub(crate) agent: Arc<Agent>,
    /// The same with a model of its own, for the heartbeat.
    pub heartbeat: Arc<Agent>,
    pub(crate) shapes: Shapes,
    pub(crate) scopes: Scopes,
    pub(crate) persona: Arc<Persona>,
    /// What every task reads right before its newest message, in this order.
    pub contexts: Vec<Arc<dyn ContextSource>>,
}

impl AgentRunner {
    /// Says of each model whose server has cut a prompt what an owner does about it.
    pub fn cut_prompts(&self) -> Vec<String> {
        let models = self.agent.profiles.values();
        let cut = models.filter_map(|model| Some((model.card().name, model.learnt().cut?)));
        cut.map(|(name, cut)| cut.sentence(&name)).collect()
    }

    /// Says what the main model's window does to a tool of a shape; nothing where it leaves it as it is.
    pub fn lack_of_room(&self, shape: &Shape, tool: &str) -> Option<String> {
        let (registry, card) = (&shape.registry, self.agent.model.card());
        fit::reason(registry.block(), card.context, &card.name, registry.our_name(tool))
    }
}

/// A task is worked on to its end by what stood when it began.
#[async_trait]
impl TaskRunner for Live<AgentRunner> {
    async fn answer(&self, job: Job<'_>) -> Result<DriveEnd, DropReason> {
        self.now().answer(job).await
    }
}

#[async_trait]
impl TaskRunner for AgentRunner {
    async fn answer(&self, job: Job<'_>) -> Result<DriveEnd, DropReason> {
        let Job { claimed, heard, inflow, quota, ports } = job;
        let shape = |facts: &Facts| (self.shapes)(facts).registry;
        let scope = |facts: &Facts, call: &str| {
            let shape = (self.shapes)(facts);
            self.scopes.make(claimed, facts, &shape, call, &ports)
        };
        let own = claimed.agent.as_ref().and_then(|agent| agent.persona.clone());
        let persona = own.unwrap_or_else(|| self.persona.now());
        let cancel = ports.cancel.clone();
        let (shape, scope) = (&shape, &scope);
        let agent = match claimed.facts.trigger {
            Trigger::Heartbeat => &self.heartbeat,
            _ => &self.agent,
        };
        let window = agent.window(claimed.facts.pick.model.as_deref());
        let mut context = Vec::new();
        // What another service sends is read by itself: nothing that is remembered can leave with it.
        let is_alone = claimed.facts.trigger == Trigger::Webhook;
        for source in self.contexts.iter().filter(|_| !is_alone) {
            context.extend(source.part(claimed, window).await);
        }
        let assignment = Assignment {
            claimed,
            heard,
            shape,
            fit: fit::fit,
            scope,
            persona,
            context,
            inflow,
            quota,
            cancel,
        };
        agent.drive(assignment).await
    }
}
