//! `todo_read`: the conversation's todo list.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::todo::{load, print};
use crate::paths::Roots;
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// The tool.
pub(crate) struct TodoRead;

#[derive(Deserialize, JsonSchema)]
struct Args {}

#[async_trait]
impl Handler for TodoRead {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description:
                "Read this conversation's todo list. Look here before planning next steps."
                    .to_owned(),
            group: "conversation",
            sources: &["S0"],
            doing: "looking at this chat's own list",
            ..spec::<Args>("todo_read", Class::Note, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, _args: Value) -> Result<Output, ToolError> {
        let (todos, level) = load(scope).await?;
        Ok(Output { level, ..Output::ok(print(&todos)) })
    }

    fn preview(&self, _roots: &Roots, _args: &Value) -> Option<Preview> {
        None
    }
}
