//! `todo_read`: the conversation's todo list.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::todo::{load, print};
use selkie_domain::tool::{Also, Class, Recovery, ToolSpec};
use crate::args::parameters;
use crate::paths::Roots;
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Output, Tool, ToolError};

/// The tool.
pub(crate) struct TodoRead(Arc<ToolSpec>);

#[derive(Deserialize, JsonSchema)]
struct Args {}

impl TodoRead {
    pub(crate) fn new() -> Self {
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
