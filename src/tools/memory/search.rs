//! `memory_search`: finds what is remembered by words of it.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::asker::rememberer;
use super::port::MemoryQuery;
use crate::args::typed;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// Results when the call does not say, and how well they fit.
const USUALLY: usize = 6;
const LEAST: f64 = 0.35;
/// The most results of one call.
const MAX: usize = 50;

/// The tool.
pub(crate) struct MemorySearch;

#[derive(Deserialize, JsonSchema)]
struct Args {
    query: String,
    /// Default: 6.
    #[schemars(range(min = 1, max = 50))]
    max_results: Option<usize>,
    /// Default: 0.35.
    #[schemars(range(min = 0, max = 1))]
    min_score: Option<f64>,
}

#[async_trait]
impl Handler for MemorySearch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Search what was remembered about this conversation and its people: path, lines, score, \
                          text."
                .to_owned(),
            group: "memory",
            sources: &["S4"],
            doing: "looking up what it remembers",
            ..spec::<Args>("memory_search", Class::Read, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { query, max_results, min_score } = typed(args)?;
        if query.trim().is_empty() {
            return Err(ToolError::tell("query is required"));
        }
        let most = max_results.unwrap_or(USUALLY).clamp(1, MAX);
        let least = min_score.unwrap_or(LEAST).clamp(0.0, 1.0);
        let sought = MemoryQuery { query, most, least };
        scope.memory.search(&rememberer(scope), sought).await.map(Output::told)
    }
}
