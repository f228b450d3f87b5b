//! What a run knows of the tools that its calls name.

use std::sync::Arc;

use super::Drive;
use crate::agent::messages;
use crate::domain::tool::{Class, Recovery, ToolSpec};
use crate::domain::transcript::{Answer, Call};
use crate::tools::Tool;
use crate::tools::registry::Found;

impl Drive<'_> {
    /// The answer to a call that is not made after a death of the process; `None`: it is made.
    pub(super) fn not_again(&self, call: &Call, resumed: bool) -> Option<Answer> {
        let text = match self.recovery(&call.name) {
            Recovery::Unknown if resumed && !self.waits_for_its_start(call) => {
                messages::outcome_unknown(&call.name)
            }
            Recovery::NotTwice if resumed && self.run.has_started(call) => {
                messages::not_read_again(&call.name)
            }
            _ => return None,
        };
        Some(Answer::error(&call.id, text))
    }

    pub(super) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        match self.registry.find(name) {
            Found::Tool(tool) => Some(tool),
            Found::Hidden(_) | Found::Unknown(_) => None,
        }
    }

    pub(super) fn spec(&self, name: &str) -> Option<Arc<ToolSpec>> {
        self.tool(name).map(|tool| Arc::clone(tool.spec()))
    }

    /// A call that will be refused changes nothing.
    pub(super) fn recovery(&self, name: &str) -> Recovery {
        self.spec(name).map_or(Recovery::CallAgain, |spec| spec.recovery)
    }

    pub(super) fn runs_beside_others(&self, name: &str) -> bool {
        self.spec(name).is_none_or(|spec| matches!(spec.class, Class::Read | Class::Network))
    }
}
