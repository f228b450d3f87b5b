//! What the model is asked: the prompt, as much of the conversation as fits, and the tools.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::Drive;
use crate::context::Context;
use crate::run::AskModel;
use crate::{budget, earlier, history, narrow, prompt};
use selkie_domain::share::Share;
use selkie_domain::tokens;
use selkie_domain::transcript::Turn;
use selkie_llm::Request;

/// Tokens that a conversation has in any window.
const LEAST: u64 = 256;

impl Drive<'_> {
    pub(super) fn request(&mut self, ask: AskModel) -> Request {
        let window = self.model.card().context;
        let share = Share::of(window);
        let listing = (self.task.fit)(&self.listed, window);
        let most = tokens::bytes(share.system);
        let system = prompt::system(&self.task.persona, &self.facts, &listing.left, most);
        let most = tokens::bytes(share.fixed).saturating_sub(system.len());
        let context = Context::within(&self.task.context, most);
        let most = u32::try_from(share.answer).unwrap_or(u32::MAX);
        let max_output = self.agent.settings.max_output_tokens.min(most);
        let fixed = tokens::of_text(&system)
            + tokens::of_bytes(listing.block.size())
            + u64::from(max_output)
            + context.tokens();
        let room = window.saturating_sub(fixed).max(LEAST);
        let tools = Arc::clone(&listing.block);
        let turns = self.turns(ask, room, &context);
        let claimed = self.task.claimed;
        Request {
            system: system.into(),
            turns,
            tools,
            may_call: ask.may_call,
            effort: self.facts.pick.effort,
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
    fn turns(&mut self, ask: AskModel, room: u64, context: &Context) -> Vec<Turn> {
        let mut own = history::turns(self.run.items());
        history::put_back(&mut own, self.run.own_forms());
        let size = history::size(&own);
        let before = if ask.history { self.window.at_first() } else { 0 };
        // A model that takes less than its card says: what was refused is the measure.
        let room = match ask.fittings {
            0 => room,
            times => room.min(tokens::of_bytes(before + size)) >> times,
        };
        if tokens::of_bytes(size) > room {
            history::shrink(&mut own);
            narrow::cut(&mut own, tokens::bytes(room));
        }
        let mut turns = if ask.history { self.past(room, &own) } else { Vec::new() };
        context.push_to(&mut turns);
        turns.append(&mut own);
        turns
    }

    /// As much of the history as the task's own turns leave room for.
    fn past(&mut self, room: u64, own: &[Turn]) -> Vec<Turn> {
        let history = &self.task.claimed.history;
        let before = self.window.cut_now();
        let most = self.agent.settings.max_history_tokens;
        self.window.fit(if most == 0 { room } else { most.min(room) });
        self.window.squeeze(room, history::size(own));
        if self.window.cut_now() != before {
            self.earlier = earlier::collect(history, self.window.short());
        }
        self.window.turns(history)
    }

    /// How much of the task's time is left.
    pub(super) fn time_left(&self) -> Duration {
        let since = self.run.ledger().since;
        budget::time_left(&self.settings, since, self.agent.clock.now())
    }
}
