//! What a server offers, page by page: bounded in tools, bytes and pages, and what cannot be taken is left out by itself.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::McpError;
use crate::param_headers;
use crate::pins::{PinnedList, PinnedTool};
use crate::sequence::Sequence;
use crate::text::short;

/// Tools that are kept, and that are looked at.
const MAX_TOOLS: usize = 1_000;
const MAX_SEEN: usize = 10_000;
const MAX_PAGES: usize = 100;
/// Bytes of one tool as it is written, and of all that are kept.
const MAX_TOOL: usize = 128 * 1024;
const MAX_ALL: usize = 4 * 1024 * 1024;
/// Bytes of a description and characters of a name.
const MAX_DESCRIPTION: usize = 32 * 1024;
const MAX_NAME: usize = 128;
const MAX_CURSOR: usize = 16 * 1024;
/// Tools that are named as left out; more are counted.
const MAX_UNLISTED: usize = 100;

/// What a server offers. All of it is foreign, and as the server wrote it: nothing is cleaned here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerList {
    /// The name that the server gives itself, with its version.
    pub server: String,
    /// What can be agreed to: instructions of at most 32 KiB, and at most 1,000 tools.
    pub offer: PinnedList,
    /// Tools that were left out, at most 100 of them.
    pub unlisted: Vec<UnlistedTool>,
    /// Tools that were left out in all. After 10,000 tools nothing more is read.
    pub unlisted_count: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenTool {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default = "no_schema")]
    input_schema: Value,
    output_schema: Option<Value>,
}

fn no_schema() -> Value {
    Value::Object(Map::new())
}

/// A tool that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedTool {
    /// Its name, cleaned and cut.
    pub name: String,
    /// Why.
    pub why: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    tools: Sequence<MAX_SEEN>,
    next_cursor: Option<String>,
}

#[derive(Default)]
pub(crate) struct Listing {
    list: ServerList,
    /// Whether arguments go into headers.
    has_headers: bool,
    names: HashSet<String>,
    cursors: HashSet<String>,
    seen: usize,
    bytes: usize,
}

impl Listing {
    pub(crate) fn new(list: ServerList, has_headers: bool) -> Self {
        Self { list, has_headers, ..Self::default() }
    }

    /// Takes a page, and returns the cursor of the next one.
    pub(crate) fn page(&mut self, page: &RawValue) -> Result<Option<String>, McpError> {
        let page: Page = serde_json::from_str(page.get())
            .map_err(|error| McpError::Protocol(format!("sent no list of tools: {error}")))?;
        let room = MAX_SEEN.saturating_sub(self.seen);
        let more = page.tools.more + page.tools.items.len().saturating_sub(room);
        for tool in page.tools.items.iter().take(room) {
            self.seen += 1;
            self.tool(tool);
        }
        self.list.unlisted_count += more;
        let Some(cursor) = page.next_cursor else { return Ok(None) };
        if more > 0 || self.seen >= MAX_SEEN {
            return Ok(None);
        }
        if cursor.len() > MAX_CURSOR || self.cursors.len() + 1 >= MAX_PAGES {
            return Err(McpError::Protocol(format!(
                "lists its tools on more than {MAX_PAGES} pages"
            )));
        }
        match self.cursors.insert(cursor.clone()) {
            true => Ok(Some(cursor)),
            false => Err(McpError::Protocol("lists the same page of tools again".to_owned())),
        }
    }

    /// Returns what was listed, by name.
    pub(crate) fn done(mut self) -> ServerList {
        self.list.offer.tools.sort_by(|a, b| a.name.cmp(&b.name));
        self.list
    }

    fn tool(&mut self, written: &RawValue) {
        let length = written.get().len();
        let read = match length > MAX_TOOL {
            true => Err(format!("it has more than {} KiB", MAX_TOOL / 1024)),
            false => serde_json::from_str::<WrittenTool>(written.get())
                .map_err(|error| format!("it is no tool: {}", short(&error.to_string(), 200))),
        };
        let unlisted = match read {
            Err(why) => UnlistedTool { name: "?".to_owned(), why },
            Ok(tool) => match self.fault(&tool, length) {
                Some(why) => UnlistedTool { name: short(&tool.name, MAX_NAME), why },
                None => {
                    self.bytes += length;
                    self.names.insert(tool.name.clone());
                    return self.list.offer.tools.push(PinnedTool {
                        name: tool.name,
                        description: tool.description,
                        schema: tool.input_schema,
                        answers: tool.output_schema,
                    });
                }
            },
        };
        self.list.unlisted_count += 1;
        if self.list.unlisted.len() < MAX_UNLISTED {
            self.list.unlisted.push(unlisted);
        }
    }

    fn fault(&self, tool: &WrittenTool, length: usize) -> Option<String> {
        let WrittenTool { name, description, input_schema, .. } = tool;
        let is_named = !name.is_empty() && name.chars().count() <= MAX_NAME;
        if !is_named || name.chars().any(char::is_control) {
            return Some(format!("its name is none, or has more than {MAX_NAME} characters"));
        }
        if description.len() > MAX_DESCRIPTION {
            return Some(format!("its description has more than {} KiB", MAX_DESCRIPTION / 1024));
        }
        if !input_schema.is_object() {
            return Some("its schema is no object".to_owned());
        }
        if let Some(why) = param_headers::fault(input_schema).filter(|_| self.has_headers) {
            return Some(why);
        }
        if self.names.contains(name) {
            return Some("its name is another tool's, too".to_owned());
        }
        if self.list.offer.tools.len() >= MAX_TOOLS {
            return Some(format!("no more than {MAX_TOOLS} tools of a server are taken"));
        }
        let is_too_much = self.bytes + length > MAX_ALL;
        is_too_much
            .then(|| format!("no more than {} MiB of tools are taken", MAX_ALL / 1024 / 1024))
    }
}
