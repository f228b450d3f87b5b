//! `memory_get`: reads lines of a file of memory.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::asker::rememberer;
use super::port::WantedLines;
use selkie_domain::tool::{Also, Class, Recovery, ToolSpec};
use crate::args::{parameters, typed};
use crate::ports::Told;
use crate::scope::Scope;
use crate::{Output, Tool, ToolError};

/// Lines when the call does not say.
const USUALLY: usize = 200;
/// The most lines of one call.
const MOST: usize = 1_000;

/// The tool.
pub(crate) struct MemoryGet(Arc<ToolSpec>);

#[derive(Deserialize, JsonSchema)]
struct Args {
    path: String,
    #[schemars(range(min = 1))]
    from: Option<usize>,
    /// Default: 200.
    #[schemars(range(min = 1, max = 1000))]
    lines: Option<usize>,
}

impl MemoryGet {
    pub(crate) fn new() -> Self {
        Self(Arc::new(ToolSpec {
            name: "memory_get",
            description: "Read lines of a file of memory that memory_search names.".to_owned(),
            parameters: parameters::<Args>(),
            class: Class::Read,
            group: "memory",
            sources: &["S4"],
            doing: "reading what it remembers",
            also: Also::default(),
            recovery: Recovery::CallAgain,
        }))
    }
}

#[async_trait]
impl Tool for MemoryGet {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { path, from, lines } = typed(args)?;
        let (from, lines) = (from.unwrap_or(1).max(1), lines.unwrap_or(USUALLY).clamp(1, MOST));
        let wanted = WantedLines { path: path.trim().to_owned(), from, lines };
        let Told { text, level } = scope.memory.get(&rememberer(scope), wanted).await?;
        Ok(Output { level, ..Output::ok(text) })
    }
}
