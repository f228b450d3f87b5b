//! What a run knows of the tools that its calls name, and of what people typed.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use selkie_channel_core::locked;

use super::Drive;
use crate::messages;
use selkie_domain::course::{Kind, Step};
use selkie_domain::metrics::Phase;
use selkie_domain::tool::{Class, Recovery, ToolSpec};
use selkie_domain::transcript::{Answer, Call, Item};
use selkie_tools::dispatch::CallResult;
use selkie_tools::registry::NameLookup;
use selkie_tools::scope::Outward;

impl Drive<'_> {
    /// The answer to a call that is not made after a death of the process; `None`: it is made.
    pub(super) fn not_again(&self, call: &Call, resumed: bool) -> Option<Answer> {
        let text = match self.recovery(&call.name) {
            Recovery::Unknown
                if resumed && !self.waits_for_its_start(call) && !self.run.goes_on(call) =>
            {
                messages::outcome_unknown(&call.name)
            }
            Recovery::NotTwice if resumed && self.run.has_started(call) => {
                messages::not_read_again(&call.name)
            }
            _ => return None,
        };
        Some(Answer::error(&call.id, text))
    }

    pub(super) fn spec(&self, name: &str) -> Option<Arc<ToolSpec>> {
        match self.registry.find(name) {
            NameLookup::Tool(tool) => Some(Arc::clone(tool.spec())),
            NameLookup::Hidden(_) | NameLookup::Unknown(_) => None,
        }
    }

    /// A call that will be refused changes nothing.
    pub(super) fn recovery(&self, name: &str) -> Recovery {
        self.spec(name).map_or(Recovery::CallAgain, |spec| spec.recovery)
    }

    pub(super) fn runs_beside_others(&self, name: &str) -> bool {
        self.spec(name).is_none_or(|spec| matches!(spec.class, Class::Read | Class::Network))
    }

    /// Counts a call that was answered. A name that is no tool of this task is the model's own word.
    pub(super) fn counted(
        &self,
        call: &Call,
        at: DateTime<Utc>,
        took: Duration,
        done: &CallResult,
    ) {
        let name = self.spec(&call.name).map_or("unknown", |_| call.name.as_str());
        self.agent.metrics.tool(name, done.answer.is_error);
        self.agent.metrics.took(Phase::Tools, took);
        let is_well = !done.answer.is_error;
        locked(&self.course).note(Step { kind: Kind::Tool(name.to_owned()), at, took, is_well });
    }

    /// What the network gets of this task: anything, or while words of others are in play only what people
    /// typed.
    pub(super) fn outward(&self) -> Outward {
        if !self.facts.taint.is_any() {
            return Outward::Free;
        }
        let all = self.task.claimed.history.iter().flat_map(|task| &task.items);
        let all = all.chain(self.run.items());
        let typed = all.flat_map(|item| match item {
            Item::Received(heard) => heard.own_words().map(str::to_owned).into_iter().collect(),
            Item::Answered { answers } => answers.iter().flat_map(|a| a.typed.clone()).collect(),
            _ => Vec::new(),
        });
        Outward::Only(typed.collect())
    }
}
