//! `plan_enter`: begins plan mode, in which nothing is changed until the person approves a plan.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use selkie_domain::facts::Mode;
use selkie_domain::tool::{Also, Class, Recovery, ToolSpec};
use crate::args::parameters;
use crate::scope::Scope;
use crate::{Output, Tool, ToolError};

/// The tool.
pub(crate) struct PlanEnter(Arc<ToolSpec>);

#[derive(Deserialize, JsonSchema)]
struct Args {}

impl PlanEnter {
    pub(crate) fn new() -> Self {
        Self(Arc::new(ToolSpec {
            name: "plan_enter",
            description: "Begin plan mode: nothing changes while you explore and plan, until the person approves \
                          what plan_exit shows."
                .to_owned(),
            parameters: parameters::<Args>(),
            class: Class::Note,
            group: "conversation",
            sources: &["S0", "S2"],
            doing: "planning",
            also: Also::default(),
            recovery: Recovery::CallAgain,
        }))
    }
}

#[async_trait]
impl Tool for PlanEnter {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
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

    fn stands_alone(&self) -> bool {
        true
    }
}
