//! The tools that stand in the base: those that an owner has agreed to, of servers that nobody has started yet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::connections::Connections;
use crate::mcp_tool::{McpTool, ServerPins};
use crate::names::{hash, tool_name};
use crate::pins::PinFolder;
use crate::servers::{ListNews, Servers};
use crate::settings::ServerSettings;
use selkie_tools::foreign::foreign_schema;
use selkie_tools::{PictureKeeper, Tool};

/// What the base gets of all servers.
pub struct PinnedTools {
    /// The servers that the tools are asked of.
    pub servers: Arc<Servers>,
    /// The tools.
    pub tools: Vec<Arc<Tool>>,
    /// Where those of them are that are not everywhere, by their names.
    pub placed: BTreeMap<String, Vec<String>>,
    /// Tells these tools from others.
    pub hash: String,
    /// What an operator should know, a sentence each.
    pub notes: Vec<String>,
}

impl PinnedTools {
    /// Reads what was agreed to of each server; `keeper` keeps the pictures of their answers. Nothing is started.
    pub fn of(
        connections: Connections,
        news: Arc<ListNews>,
        folder: &PinFolder,
        settings: &BTreeMap<String, ServerSettings>,
        keeper: &PictureKeeper,
    ) -> Self {
        let mut notes = Vec::new();
        let mut agreed = BTreeMap::new();
        for name in settings.keys() {
            match folder.agreed(name) {
                Ok(Some(list)) => drop(agreed.insert(name.clone(), Arc::new(list))),
                Ok(None) => notes.push(format!(
                    "mcp.servers.{name} has no tools yet: run `selkie mcp trust {name}`, look at what it offers, and agree \
                     to it"
                )),
                Err(error) => notes.push(format!(
                    "mcp.servers.{name} has no tools: what was agreed to cannot be read ({error}); run `selkie mcp trust \
                     {name}`"
                )),
            }
        }
        let servers = Servers::new(connections, folder.clone(), agreed.clone(), news);
        let placed = BTreeMap::new();
        let mut all = Self { servers, tools: Vec::new(), placed, hash: String::new(), notes };
        let mut names = BTreeSet::new();
        for (name, list) in &agreed {
            // What was seen to be otherwise stays away until the next yes, also after a start.
            let seen = folder.seen(name).ok().flatten();
            let of = ServerPins { name, settings: &settings[name], list, seen, keeper };
            all.add(&of, &mut names);
        }
        let tools = all.tools.iter().filter_map(|tool| tool.spec().foreign.as_ref());
        let identities: Vec<&str> = tools.map(|foreign| foreign.identity.as_str()).collect();
        all.hash = hash(identities.join("\n").as_bytes());
        all
    }

    fn add(&mut self, of: &ServerPins<'_>, names: &mut BTreeSet<String>) {
        let ServerPins { list, seen, settings, .. } = of;
        let server = of.name;
        for tool in &list.tools {
            let differs = seen.as_ref().is_some_and(|seen| seen.tool(&tool.name) != Some(tool));
            if differs || settings.is_off(&tool.name) {
                continue;
            }
            let name = tool_name(server, &tool.name);
            let schema = match names.insert(name.clone()) {
                true => foreign_schema(&tool.schema),
                false => Err("another tool is called the same here".to_owned()),
            };
            match schema {
                Ok(schema) => {
                    let made = McpTool::new(&self.servers, of, tool, schema);
                    self.tools.push(Tool::new(made));
                    if !settings.places.is_empty() {
                        self.placed.insert(name, settings.places.clone());
                    }
                }
                Err(why) => self.notes.push(format!("{name} is not there: {why}")),
            }
        }
        if seen.is_some() {
            self.notes.push(format!(
                "mcp.servers.{server} offers other tools than were agreed to: run `selkie mcp trust {server}`"
            ));
        }
        for tool in settings.tools.keys().filter(|tool| list.tool(tool).is_none()) {
            self.notes
                .push(format!("mcp.servers.{server}.tools.{tool}: the server offers no such tool"));
        }
    }
}
