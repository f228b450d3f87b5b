//! `sessions_list`: the conversations that there are.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{looking, most};
use crate::args::typed;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError};
use selkie_domain::tool::ToolSpec;

/// Conversations that are listed when no number is given, and at most.
const USUAL: u32 = 20;
const MAX: u32 = 100;

/// The tool.
pub(crate) struct SessionsList;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Default: 20.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
}

#[async_trait]
impl Handler for SessionsList {
    fn spec(&self) -> ToolSpec {
        looking::<Args>(
            "sessions_list",
            "List your conversations (sessions), the last active first. An owner sees all in private, everybody \
             else their own.",
        )
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { limit } = typed(args)?;
        scope.sessions.list(&scope.visitor(), most(limit, USUAL, MAX)).await.map(Output::told)
    }
}
