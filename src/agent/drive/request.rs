//! What the model is asked: the prompt, as much of the conversation as fits, and the tools.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::Drive;
use crate::agent::context::Context;
use crate::agent::run::AskModel;
use crate::agent::{budget, earlier, history, prompt};
use crate::domain::tool::ToolBlock;
use crate::domain::transcript::Turn;
use crate::llm::Request;

impl Drive<'_> {
    pub(super) fn request(&mut self, ask: AskModel) -> Request {
        let system = prompt::system(&self.task.persona, &self.facts);
        let tools = Arc::clone(&self.listed);
        let context = Context::of(&self.task.context);
        let max_output = self.agent.settings.max_output_tokens;
        let fixed = history::tokens(&system)
            + tools_tokens(&tools)
            + u64::from(max_output)
            + context.tokens();
        let room = self.model.card().context.saturating_sub(fixed).max(1_000);
        let mut turns = self.turns(ask, room);
        context.before(self.run.items(), &mut turns);
        let claimed = self.task.claimed;
        Request {
            system: system.into(),
            turns,
            tools,
            may_call: ask.may_call,
            effort: None,
            max_output,
            deadline: self.time_left(),
            cache_key: format!("c{}", claimed.conversation_row),
            may_end: ask.may_end,
            has_next: false,
            pictures: HashMap::new(),
        }
    }

    /// The conversation in at most `room` tokens: as much of its history as there is room for, and the task's own turns,
    /// which stay; only their older answers are shrunk when they alone are too much.
    fn turns(&mut self, ask: AskModel, room: u64) -> Vec<Turn> {
        let mut own = history::turns(self.run.items());
        history::put_back(&mut own, self.run.own_forms());
        let size = history::size(&own);
        let before = if ask.history { self.window.at_first() } else { 0 };
        // A model that takes less than its card says: what was refused is the measure.
        let room = match ask.fittings {
            0 => room,
            times => room.min(history::tokens_of(before + size)) >> times,
        };
        if history::tokens_of(size) > room {
            history::shrink(&mut own);
        }
        if !ask.history {
            return own;
        }
        let history = &self.task.claimed.history;
        let before = self.window.cut_now();
        let most = self.agent.settings.max_history_tokens;
        self.window.fit(if most == 0 { room } else { most.min(room) });
        self.window.squeeze(room, history::size(&own));
        if self.window.cut_now() != before {
            self.earlier = earlier::collect(history, self.window.short());
        }
        let mut turns = self.window.turns(history);
        turns.append(&mut own);
        turns
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
