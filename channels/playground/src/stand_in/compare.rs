//! Files that agents read at once, for a stand-in that compares them.

use serde_json::json;

use super::messages;
use super::plan::{Step, Walk};
use crate::model::AnsweredCall;

/// Lets an agent work.
const SPAWN: &str = "spawn";

impl Walk<'_> {
    /// Lets an agent read each file, and compares what they say.
    pub(super) fn compare(&mut self, names: &[String]) -> Step {
        let answers: Vec<&AnsweredCall> = self.answers.take(names.len()).collect();
        if answers.len() < names.len() {
            let task = |name: &String| json!({ "task": format!("read {name}"), "name": name });
            return Step::CallEach {
                name: SPAWN.to_owned(),
                all: names.iter().map(task).collect(),
            };
        }
        match answers.iter().find(|answer| answer.is_error) {
            Some(failed) => Step::Say(messages::failed(SPAWN, &failed.answer)),
            None => Step::Say(messages::compared(names, answers.iter().map(|a| a.answer.as_str()))),
        }
    }
}
