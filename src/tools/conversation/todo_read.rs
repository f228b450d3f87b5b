//! `todo_read`: the conversation's todo list.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::todo::{load, print};
use crate::domain::tool::{Also, Class, Recovery, ToolSpec};
use crate::tools::args::parameters;
use crate::tools::paths::Roots;
use crate::tools::scope::Scope;
use crate::tools::shown::Preview;
use crate::tools::{Output, Tool, ToolError};

/// The tool.
pub(in crate::tools) struct TodoRead(Arc<ToolSpec>);

#[derive(Deserialize, JsonSchema)]
struct Args {}

impl TodoRead {
    pub(in crate::tools) fn new() -> Self {
        Self(Arc::new(ToolSpec {
            name: "todo_read",
            description:
                "Read this conversation's todo list. Look here before planning next steps."
                    .to_owned(),
            parameters: parameters::<Args>(),
            class: Class::Note,
            group: "conversation",
            sources: &["S0"],
            doing: "looking at this chat's own list",
            also: Also::default(),
            recovery: Recovery::CallAgain,
        }))
    }
}

#[async_trait]
impl Tool for TodoRead {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    async fn call(&self, scope: &Scope, _args: Value) -> Result<Output, ToolError> {
        let (todos, level) = load(scope).await?;
        Ok(Output { level, ..Output::ok(print(&todos)) })
    }

    fn preview(&self, _roots: &Roots, _args: &Value) -> Option<Preview> {
        None
    }
}
