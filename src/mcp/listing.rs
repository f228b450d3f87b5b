//! What a server offers, page by page: bounded in tools, bytes and pages, and what cannot be taken is left out by itself.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::McpError;
use crate::param_headers;
use crate::sequence::Sequence;
use crate::text::{begin, short};

/// Tools that are kept, and that are looked at.
const MAX_TOOLS: usize = 1_000;
const MAX_SEEN: usize = 10_000;
/// Pages.
const MAX_PAGES: usize = 100;
/// Bytes of one tool as it is written, and of all that are kept.
const MAX_TOOL: usize = 128 * 1024;
const MAX_ALL: usize = 4 * 1024 * 1024;
/// Bytes of a description and characters of a name.
const MAX_DESCRIPTION: usize = 32 * 1024;
const MAX_NAME: usize = 128;
/// Bytes of a cursor.
const MAX_CURSOR: usize = 16 * 1024;
/// Bytes of a server's instructions.
const MAX_INSTRUCTIONS: usize = 32 * 1024;
/// Tools that are named as left out; more are counted.
const MAX_UNLISTED: usize = 100;

/// What a server offers. All of it is foreign, and as the server wrote it: nothing is cleaned here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerList {
    /// The name that the server gives itself, with its version.
    pub server: String,
    /// The version of the protocol that it is spoken with in.
    pub protocol: &'static str,
    /// What it says to every model that uses it, at most 32 KiB.
    pub instructions: Option<String>,
    /// Its tools in its own order, at most 1,000.
    pub tools: Vec<ListedTool>,
    /// Tools that were left out, at most 100 of them.
    pub unlisted: Vec<UnlistedTool>,
    /// Tools that were left out in all. After 10,000 tools nothing more is read.
    pub unlisted_count: usize,
    /// Whether it says that it tells when its list changes.
    pub tells_of_changes: bool,
}

/// A tool as its server describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    /// Its name at its server.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does; empty where the server does not say.
    pub description: String,
    /// The schema of its arguments: an object.
    pub input_schema: Value,
    /// What it says of its effects, which nobody vouches for.
    pub annotations: Option<Value>,
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenTool {
    name: String,
    title: Option<String>,
    description: Option<String>,
    input_schema: Option<Box<RawValue>>,
    annotations: Option<Value>,
}

#[derive(Deserialize)]
struct NameAlone {
    name: String,
}

/// A list that is being read.
pub(crate) struct Listing {
    list: ServerList,
    /// Whether arguments go into headers.
    has_headers: bool,
    names: HashSet<String>,
    cursors: HashSet<String>,
    seen: usize,
    bytes: usize,
    pages: usize,
}

impl Listing {
    /// Begins one.
    pub(crate) fn new(list: ServerList, has_headers: bool) -> Self {
        Self {
            list,
            has_headers,
            names: HashSet::new(),
            cursors: HashSet::new(),
            seen: 0,
            bytes: 0,
            pages: 0,
        }
    }

    /// Takes a page, and returns the cursor of the next one.
    ///
    /// # Errors
    /// It is no page, or the pages do not end.
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
        self.pages += 1;
        let Some(cursor) = page.next_cursor else { return Ok(None) };
        if more > 0 || self.seen >= MAX_SEEN {
            return Ok(None);
        }
        if cursor.len() > MAX_CURSOR || self.pages >= MAX_PAGES {
            return Err(McpError::Protocol(format!(
                "lists its tools on more than {MAX_PAGES} pages"
            )));
        }
        match self.cursors.insert(cursor.clone()) {
            true => Ok(Some(cursor)),
            false => Err(McpError::Protocol("lists the same page of tools again".to_owned())),
        }
    }

    /// Returns what was listed.
    pub(crate) fn done(self) -> ServerList {
        self.list
    }

    fn tool(&mut self, written: &RawValue) {
        match self.read(written) {
            Ok(tool) => {
                self.bytes += written.get().len();
                self.list.tools.push(tool);
            }
            Err(why) => {
                self.list.unlisted_count += 1;
                if self.list.unlisted.len() < MAX_UNLISTED {
                    let written = begin(written.get(), MAX_TOOL);
                    let name = serde_json::from_str::<NameAlone>(written).map(|named| named.name);
                    let name = name.map_or_else(|_| "?".to_owned(), |name| short(&name, MAX_NAME));
                    self.list.unlisted.push(UnlistedTool { name, why });
                }
            }
        }
    }

    fn read(&mut self, written: &RawValue) -> Result<ListedTool, String> {
        if written.get().len() > MAX_TOOL {
            return Err(format!("it has more than {} KiB", MAX_TOOL / 1024));
        }
        let tool: WrittenTool = serde_json::from_str(written.get())
            .map_err(|error| format!("it is no tool: {}", short(&error.to_string(), 200)))?;
        let WrittenTool { name, title, description, input_schema, annotations } = tool;
        if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control)
        {
            return Err(format!("its name is none, or has more than {MAX_NAME} characters"));
        }
        let description = description.unwrap_or_default();
        if description.len() > MAX_DESCRIPTION {
            return Err(format!("its description has more than {} KiB", MAX_DESCRIPTION / 1024));
        }
        let schema = input_schema.as_ref().map_or("{}", |schema| schema.get());
        let input_schema: Value = serde_json::from_str(schema)
            .map_err(|error| format!("its schema cannot be read: {error}"))?;
        if !input_schema.is_object() {
            return Err("its schema is no object".to_owned());
        }
        let fault = param_headers::fault(&input_schema).filter(|_| self.has_headers);
        if let Some(why) = fault {
            return Err(why);
        }
        if !self.names.insert(name.clone()) {
            return Err("its name is another tool's, too".to_owned());
        }
        if self.list.tools.len() >= MAX_TOOLS {
            return Err(format!("no more than {MAX_TOOLS} tools of a server are taken"));
        }
        if self.bytes + written.get().len() > MAX_ALL {
            return Err(format!("no more than {} MiB of tools are taken", MAX_ALL / 1024 / 1024));
        }
        Ok(ListedTool { name, title, description, input_schema, annotations })
    }
}

/// Cuts what a server says to every model.
pub(crate) fn instructions(text: Option<String>) -> Option<String> {
    let text = text.filter(|text| !text.trim().is_empty())?;
    Some(begin(&text, MAX_INSTRUCTIONS).to_owned())
}
