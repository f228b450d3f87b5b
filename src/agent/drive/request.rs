//! What the model is asked: the prompt, as much of the conversation as fits, and the tools.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::Drive;
use crate::agent::run::AskModel;
use crate::agent::{budget, history, prompt};
use crate::domain::tool::ToolBlock;
use crate::llm::Request;

impl Drive<'_> {
    pub(super) fn request(&self, ask: AskModel) -> Request {
        let claimed = self.task.claimed;
        let system = prompt::system(&self.task.persona, &self.facts);
        let tools =
            if ask.tools { Arc::clone(&self.listed) } else { Arc::new(ToolBlock::new(Vec::new())) };
        let max_output = self.agent.settings.max_output_tokens;
        let fixed = history::tokens(&system) + tools_tokens(&tools) + u64::from(max_output);
        let history = if ask.history { claimed.history.as_slice() } else { &[] };
        let room = self.model.card().context.saturating_sub(fixed).max(1_000);
        // A model that takes less than its card says: what was refused is the measure.
        let room = match ask.fittings {
            0 => room,
            times => room.min(history::needed(history, self.run.items())) >> times,
        };
        Request {
            system: system.into(),
            turns: history::fit(history, self.run.items(), room),
            tools,
            max_output,
            deadline: self.time_left(),
            cache_key: format!("c{}", claimed.conversation_row),
            has_next: false,
            pictures: HashMap::new(),
        }
    }

    /// How much of the task's time is left.
    pub(super) fn time_left(&self) -> Duration {
        let since = self.run.ledger().since;
        budget::time_left(&self.agent.settings, since, self.agent.clock.now())
    }
}

fn tools_tokens(block: &ToolBlock) -> u64 {
    block.specs().iter().map(|s| (s.description.len() as u64 + 400) / 3).sum()
}
