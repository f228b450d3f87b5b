//! `sessions_status`: what this conversation has come to.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde_json::Value;

use super::looking;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError};
use selkie_domain::tool::ToolSpec;

/// The tool.
pub(crate) struct SessionsStatus;

/// It takes nothing.
#[derive(JsonSchema)]
struct Args {}

#[async_trait]
impl Handler for SessionsStatus {
    fn spec(&self) -> ToolSpec {
        looking::<Args>(
            "sessions_status",
            "This conversation's (session's) id, messages, tokens and money since its last reset.",
        )
    }

    async fn call(&self, scope: &Scope, _: Value) -> Result<Output, ToolError> {
        scope.sessions.status(&scope.visitor()).await.map(Output::ok)
    }
}
