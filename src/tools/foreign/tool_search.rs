//! `tool_search` and `use_tool`: other servers' tools, where there are too many to list them with every request. A search
//! tells what it finds in its answer, so that the list which a model reads never changes.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::use_tool::{NAME as USE, UseTool};
use crate::args::typed;
use crate::registry::ToolEntry;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// The tool that finds others.
pub(super) const SEARCH: &str = "tool_search";
/// Tools that an answer names when the call does not say, and at most.
const FEW: usize = 5;
const MANY: usize = 10;
/// Bytes of a description that an answer shows.
const MAX_DESCRIPTION: usize = 1_000;

/// Makes both, where there are such servers.
pub(crate) fn search_tools(servers: &[&str]) -> Vec<ToolEntry> {
    if servers.is_empty() {
        return Vec::new();
    }
    let search = ToolSearch { servers: servers.join(", ") };
    vec![ToolEntry::new(true, search), ToolEntry::new(true, UseTool)]
}

struct ToolSearch {
    servers: String,
}

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// Words of what it is to do.
    query: String,
    /// Only this server's.
    server: Option<String>,
    #[schemars(range(min = 1, max = MANY))]
    limit: Option<usize>,
}

#[async_trait]
impl Handler for ToolSearch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: format!(
                "Find tools that are not listed, of these servers: {}. Call what is found with {USE}.",
                self.servers
            ),
            group: "search",
            doing: "looking for a tool",
            ..spec::<Query>(SEARCH, Class::Read, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Query { query, server, limit } = typed(args)?;
        let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let of = |spec: &ToolSpec| spec.foreign.as_ref().and_then(|foreign| foreign.server);
        let is_asked = |name: &str| server.as_ref().is_none_or(|server| server == name);
        let specs = scope.tools.specs().iter().filter(|spec| of(spec).is_some_and(is_asked));
        let mut found: Vec<(usize, &Arc<ToolSpec>)> =
            specs.map(|spec| (rank(spec, &words), spec)).filter(|(rank, _)| *rank > 0).collect();
        found.sort_by(|(a, first), (b, second)| b.cmp(a).then(first.name.cmp(second.name)));
        if found.is_empty() {
            return Ok(Output::ok(format!(
                "No tool found for {query:?}. Servers: {}. Try other words.",
                self.servers
            )));
        }
        let all = found.len();
        let shown = found.iter().take(limit.unwrap_or(FEW).min(MANY));
        let mut text: Vec<String> = shown.map(|(_, spec)| described(spec)).collect();
        if text.len() < all {
            text.push(format!("[{} more: use more words, or a higher limit]", all - text.len()));
        }
        // The descriptions are the servers' words, which an owner has agreed to.
        Ok(Output::ok(text.join("\n\n")))
    }
}

/// How often the words stand in a tool's name and description; its name counts more.
fn rank(spec: &ToolSpec, words: &[String]) -> usize {
    let name = spec.name.to_lowercase();
    let description = spec.description.to_lowercase();
    let of = |word: &String| {
        usize::from(name.contains(word)) * 3 + usize::from(description.contains(word))
    };
    words.iter().map(of).sum()
}

fn described(spec: &ToolSpec) -> String {
    let end = spec.description.floor_char_boundary(MAX_DESCRIPTION);
    let cut = if end < spec.description.len() { "…" } else { "" };
    format!("{}: {}{cut}\narguments: {}", spec.name, &spec.description[..end], spec.parameters)
}
