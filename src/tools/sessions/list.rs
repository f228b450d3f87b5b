//! `sessions_list`: the conversations that there are.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{looking, most, told};
use selkie_domain::tool::ToolSpec;
use crate::args::{parameters, typed};
use crate::scope::Scope;
use crate::{Output, Tool, ToolError};

/// Conversations that are listed when no number is given, and at most.
const USUAL: u32 = 20;
const MOST: u32 = 100;

/// The tool.
pub(crate) struct SessionsList(Arc<ToolSpec>);

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Default: 20.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
}

impl SessionsList {
    pub(crate) fn new() -> Self {
        Self(looking(
            "sessions_list",
            "List your conversations (sessions), the last active first. An owner sees all in private, everybody \
             else their own.",
            parameters::<Args>(),
        ))
    }
}

#[async_trait]
impl Tool for SessionsList {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { limit } = typed(args)?;
        scope.sessions.list(&scope.visitor(), most(limit, USUAL, MOST)).await.map(told)
    }
}
