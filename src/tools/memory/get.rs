//! `memory_get`: reads lines of a file of memory.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::asker::rememberer;
use super::port::WantedLines;
use crate::args::typed;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// Lines when the call does not say.
const USUALLY: usize = 200;
/// The most lines of one call.
const MAX: usize = 1_000;

/// The tool.
pub(crate) struct MemoryGet;

#[derive(Deserialize, JsonSchema)]
struct Args {
    path: String,
    #[schemars(range(min = 1))]
    from: Option<usize>,
    /// Default: 200.
    #[schemars(range(min = 1, max = 1000))]
    lines: Option<usize>,
}

#[async_trait]
impl Handler for MemoryGet {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Read lines of a file of memory that memory_search names.".to_owned(),
            group: "memory",
            sources: &["S4"],
            doing: "reading what it remembers",
            ..spec::<Args>("memory_get", Class::Read, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { path, from, lines } = typed(args)?;
        let from = from.unwrap_or(1).max(1);
        let lines = lines.unwrap_or(USUALLY).clamp(1, MAX);
        let wanted = WantedLines { path: path.trim().to_owned(), from, lines };
        scope.memory.get(&rememberer(scope), wanted).await.map(Output::told)
    }
}
