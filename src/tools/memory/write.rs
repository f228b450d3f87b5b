//! `memory_write`: remembers something beyond the history of the conversation.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::asker::rememberer;
use super::port::NewMemory;
use crate::args::typed;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// The tool.
pub(crate) struct MemoryWrite;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// One line that stands by itself: who, what, since when.
    text: String,
    /// Heading. Default: Notes.
    section: Option<String>,
}

#[async_trait]
impl Handler for MemoryWrite {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Remember something about the people here or what they want: what they ask you to, and \
                          what will matter later. What is to be done belongs on a list."
                .to_owned(),
            group: "memory",
            doing: "remembering something",
            // A line that stands there is not written again.
            ..spec::<Args>("memory_write", Class::Note, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { text, section } = typed(args)?;
        let new = NewMemory { text, section };
        scope.memory.write(&rememberer(scope), new).await.map(Output::told)
    }
}
