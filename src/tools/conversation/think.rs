//! `think`: records reasoning and does nothing else.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// The tool.
pub(crate) struct Think;

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the record is the call itself, in the transcript")]
struct Args {
    thought: String,
}

#[async_trait]
impl Handler for Think {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Record reasoning or a plan without doing anything.".to_owned(),
            group: "conversation",
            sources: &["S1"],
            doing: "thinking",
            ..spec::<Args>("think", Class::Note, Recovery::CallAgain)
        }
    }

    async fn call(&self, _scope: &Scope, _args: Value) -> Result<Output, ToolError> {
        Ok(Output::ok("Thought recorded. Continue with your plan."))
    }
}
