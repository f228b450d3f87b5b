//! `think`: records reasoning and does nothing else.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use selkie_domain::tool::{Also, Class, Recovery, ToolSpec};
use crate::args::parameters;
use crate::scope::Scope;
use crate::{Output, Tool, ToolError};

/// The tool.
pub(crate) struct Think(Arc<ToolSpec>);

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the record is the call itself, in the transcript")]
struct Args {
    thought: String,
}

impl Think {
    pub(crate) fn new() -> Self {
        Self(Arc::new(ToolSpec {
            name: "think",
            description: "Record reasoning or a plan without doing anything.".to_owned(),
            parameters: parameters::<Args>(),
            class: Class::Note,
            group: "conversation",
            sources: &["S1"],
            doing: "thinking",
            also: Also::default(),
            recovery: Recovery::CallAgain,
        }))
    }
}

#[async_trait]
impl Tool for Think {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    async fn call(&self, _scope: &Scope, _args: Value) -> Result<Output, ToolError> {
        Ok(Output::ok("Thought recorded. Continue with your plan."))
    }
}
