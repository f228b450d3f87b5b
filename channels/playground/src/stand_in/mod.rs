//! The stand-in: no model and no network, a table of phrases, real tool calls. Stateless: what is done of a person's
//! words it reads from the turns.

mod compare;
mod decide;
mod files;
mod heard;
mod heartbeat;
mod known;
mod later;
mod messages;
mod parse;
mod phrases;
mod plan;
mod planner;
mod summary;
mod todo;
mod words;

pub use self::plan::Step;
use crate::model::{ListedTool, TalkTurn, Turn};

/// Answers a talk. `advice` says how to get a real model.
pub fn answer(turns: &[TalkTurn], tools: &[ListedTool], advice: &str) -> Step {
    let planned = planner::planned(turns)
        .or_else(|| decide::answer(turns))
        .or_else(|| todo::answer(turns))
        .or_else(|| summary::answer(turns));
    planned.map_or_else(|| plan::next(turns, tools, advice), Step::Say)
}

impl From<Step> for Turn {
    fn from(step: Step) -> Self {
        match step {
            Step::Say(text) => Self::text(text),
            Step::Call { name, arguments } => Self::call(&name, arguments),
            Step::CallEach { name, all } => {
                Self::calls(all.into_iter().map(|each| (name.as_str(), each.to_string())))
            }
        }
    }
}

#[cfg(test)]
mod tests;
