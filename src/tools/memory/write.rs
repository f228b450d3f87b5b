//! `memory_write`: remembers something beyond the history of the conversation.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::asker::rememberer;
use super::port::NewMemory;
use selkie_domain::tool::{Also, Class, Recovery, ToolSpec};
use crate::args::{parameters, typed};
use crate::ports::Told;
use crate::scope::Scope;
use crate::{Output, Tool, ToolError};

/// The tool.
pub(crate) struct MemoryWrite(Arc<ToolSpec>);

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// One line that stands by itself: who, what, since when.
    text: String,
    /// Heading. Default: Notes.
    section: Option<String>,
}

impl MemoryWrite {
    pub(crate) fn new() -> Self {
        Self(Arc::new(ToolSpec {
            name: "memory_write",
            description: "Remember something about the people here or what they want: what they ask you to, and \
                          what will matter later. What is to be done belongs on a list."
                .to_owned(),
            parameters: parameters::<Args>(),
            class: Class::Note,
            group: "memory",
            sources: &[],
            doing: "remembering something",
            also: Also::default(),
            // A line that stands there is not written again.
            recovery: Recovery::CallAgain,
        }))
    }
}

#[async_trait]
impl Tool for MemoryWrite {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { text, section } = typed(args)?;
        let new = NewMemory { text, section };
        let Told { text, level } = scope.memory.write(&rememberer(scope), new).await?;
        Ok(Output { level, ..Output::ok(text) })
    }
}
