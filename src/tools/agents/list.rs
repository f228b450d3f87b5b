//! `list_agents`: who works here.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::ports::KnownAgent;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::taint::Taint;
use selkie_domain::tool::{Also, Class, OtherName, Recovery, ToolSpec};

/// Other harnesses' names of it.
const ALSO: &[OtherName] = &[OtherName::plain("agents_list"), OtherName::plain("subagents")];

/// The tool.
pub(crate) struct ListAgents;

#[derive(Deserialize, JsonSchema)]
struct Args {}

#[async_trait]
impl Handler for ListAgents {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "List agents: name, status, task, age.".to_owned(),
            group: "agents",
            sources: &["S2", "S4"],
            doing: "looking at agents",
            also: Also::called(ALSO),
            ..spec::<Args>("list_agents", Class::Read, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, _: Value) -> Result<Output, ToolError> {
        let known = scope.agents.list(&scope.visitor()).await?;
        let lines: Vec<String> = known.iter().map(line).collect();
        // A model has written the tasks, and may have read others' words.
        Ok(Output { level: Taint::Derived.min(scope.taint), ..Output::ok(lines.join("\n")) })
    }
}

fn line(agent: &KnownAgent) -> String {
    let KnownAgent { name, role, status, task, age, .. } = agent;
    let task = if task.is_empty() { String::new() } else { format!(": {task}") };
    match agent.is_open {
        true => format!("- {name} ({}), {status} for {}{task}", role.words(), age.in_words()),
        false => format!("- {name} ({}), {status} {} ago{task}", role.words(), age.in_words()),
    }
}
