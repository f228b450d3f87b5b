//! `sessions_status`: what this conversation has come to.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde_json::Value;

use super::looking;
use selkie_domain::tool::ToolSpec;
use crate::args::parameters;
use crate::scope::Scope;
use crate::{Output, Tool, ToolError};

/// The tool.
pub(crate) struct SessionsStatus(Arc<ToolSpec>);

/// It takes nothing.
#[derive(JsonSchema)]
struct Args {}

impl SessionsStatus {
    pub(crate) fn new() -> Self {
        Self(looking(
            "sessions_status",
            "This conversation's (session's) id, messages, tokens and money since its last reset.",
            parameters::<Args>(),
        ))
    }
}

#[async_trait]
impl Tool for SessionsStatus {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    async fn call(&self, scope: &Scope, _: Value) -> Result<Output, ToolError> {
        scope.sessions.status(&scope.visitor()).await.map(Output::ok)
    }
}
