//! `plan_enter`: begins plan mode, in which nothing is changed until the person approves a plan.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::facts::Mode;
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// The tool.
pub(crate) struct PlanEnter;

#[derive(Deserialize, JsonSchema)]
struct Args {}

#[async_trait]
impl Handler for PlanEnter {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Begin plan mode: nothing changes while you explore and plan, until the person approves \
                          what plan_exit shows."
                .to_owned(),
            group: "conversation",
            sources: &["S0", "S2"],
            doing: "planning",
            stands_alone: true,
            ..spec::<Args>("plan_enter", Class::Note, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, _args: Value) -> Result<Output, ToolError> {
        if scope.mode == Mode::Plan {
            return Ok(Output::ok("Already in plan mode."));
        }
        scope.modes.change(&scope.conversation, Mode::Plan).await?;
        Ok(Output::ok(
            "Plan mode is on: nothing can be changed. Explore, make a plan, then call plan_exit with it.",
        ))
    }
}
