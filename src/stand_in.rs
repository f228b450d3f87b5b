//! What answers where no model does: the playground's phrases, in the agent's words.

use std::sync::Arc;

use selkie::domain::tool::ToolSpec;
use selkie::domain::transcript::Turn;
use selkie::llm::Step;
use selkie_playground::model::{AnsweredCall, ListedTool, TalkTurn};
use selkie_playground::stand_in;

/// Decides about the stand-in's next step in a talk of the agent.
pub fn step(turns: &[Turn], tools: &[Arc<ToolSpec>], advice: &str) -> Step {
    let turns: Vec<TalkTurn> = turns.iter().map(spoken).collect();
    let tool = |spec: &Arc<ToolSpec>| ListedTool {
        name: spec.name.to_owned(),
        description: spec.description.clone(),
    };
    let tools: Vec<ListedTool> = tools.iter().map(tool).collect();
    match stand_in::answer(&turns, &tools, advice) {
        stand_in::Step::Say(text) => Step::Say(text),
        stand_in::Step::Call { name, arguments } => Step::Call { name, arguments },
        stand_in::Step::CallEach { name, all } => Step::CallEach { name, all },
    }
}

/// A turn of the agent as the playground knows it.
fn spoken(turn: &Turn) -> TalkTurn {
    match turn {
        Turn::User(text) | Turn::Shown { text, .. } => TalkTurn::User(text.clone()),
        Turn::Assistant(text) => TalkTurn::Assistant(text.clone()),
        Turn::Calls { text, calls, .. } => {
            let calls = calls.iter().map(|(call, answer)| AnsweredCall {
                name: call.name.clone(),
                arguments: call.arguments.to_string(),
                answer: answer.text.clone(),
                is_error: answer.is_error,
            });
            TalkTurn::Calls { text: text.clone(), calls: calls.collect() }
        }
    }
}
