//! `peek_agent`: what an agent knows and does, without a word to it.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::args::typed;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// The tool.
pub(crate) struct PeekAgent;

#[derive(Deserialize, JsonSchema)]
struct Args {
    name: String,
}

#[async_trait]
impl Handler for PeekAgent {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "See what an agent knows and does.".to_owned(),
            group: "agents",
            sources: &["S2"],
            doing: "looking at an agent",
            ..spec::<Args>("peek_agent", Class::Read, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { name } = typed(args)?;
        scope.agents.peek(&scope.visitor(), name.trim()).await.map(Output::told)
    }
}
