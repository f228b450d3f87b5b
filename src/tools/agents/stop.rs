//! `stop_agent`: ends what an agent does.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::args::typed;
use crate::paths::Roots;
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// The tool.
pub(crate) struct StopAgent;

#[derive(Deserialize, JsonSchema)]
struct Args {
    name: String,
}

#[async_trait]
impl Handler for StopAgent {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "End what an agent of yours does.".to_owned(),
            group: "agents",
            sources: &["S2"],
            doing: "stopping an agent",
            ..spec::<Args>("stop_agent", Class::Agent, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { name } = typed(args)?;
        scope.agents.stop(&scope.visitor(), name.trim()).await.map(Output::ok)
    }

    fn preview(&self, _: &Roots, args: &Value) -> Option<Preview> {
        let name = args.get("name").and_then(Value::as_str).unwrap_or_default();
        Some(Preview::of("stop an agent", &["name"]).noting("agent", name))
    }
}
