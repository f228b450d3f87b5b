//! `selkie mcp list` and `selkie mcp tools`: what the config names, and what was agreed to.

use serde::Serialize;
use serde_json::json;

use super::super::outcome::Outcome;
use super::super::print;
use selkie_app::build::AppConfig;
use selkie_domain::count::counted;
use selkie_guard::visible::{one_line, visible};
use selkie_mcp::pins::{PinFolder, PinnedList, PinnedTool};
use selkie_mcp::review::in_short;
use selkie_mcp::{ServerSettings, TokenFolder, tool_name};

/// A server for programs.
#[derive(Serialize)]
struct ServerJson<'a> {
    name: &'a str,
    /// A program's command line, or an address.
    at: String,
    hash: Option<String>,
    tools: usize,
    /// What it offers otherwise.
    differs: String,
    /// Somebody has signed in at it.
    signed_in: bool,
}

pub(super) fn list(plan: &AppConfig, json: bool) -> Outcome {
    let servers = &plan.settings.mcp.servers;
    let pins = PinFolder::of(&plan.folders.state);
    let tokens = TokenFolder::of(&plan.folders.state, &plan.redactor);
    let mut all = Vec::new();
    for (name, settings) in servers {
        let agreed = pins.agreed(name)?;
        let seen = pins.seen(name)?;
        let differs = agreed.as_ref().zip(seen.as_ref());
        let differs = differs.map(|(old, new)| in_short(&old.differences(new)));
        all.push(ServerJson {
            name,
            at: at(settings),
            hash: agreed.as_ref().map(PinnedList::hash),
            tools: agreed.map_or(0, |list| list.tools.len()),
            differs: differs.unwrap_or_default(),
            signed_in: match &settings.url {
                Some(url) => tokens.is_signed_in(name, url)?,
                None => false,
            },
        });
    }
    if json {
        return Ok(print::json(&all)?);
    }
    if all.is_empty() {
        return Ok(print::prose(
            "The config names no server. Write one below mcp.servers, or take over what another program has: selkie mcp \
             import FILE\n",
        )?);
    }
    let row = |server: &ServerJson<'_>| {
        vec![server.name.to_owned(), stands(server), one_line(&server.at)]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    Ok(print::out(&print::table(&rows, print::width()))?)
}

/// Lists the tools that were agreed to.
pub(super) fn tools(plan: &AppConfig, name: &str, json: bool) -> Outcome {
    let list = PinFolder::of(&plan.folders.state).agreed(name)?.unwrap_or_default();
    if json {
        let tool = |tool: &PinnedTool| {
            json!({
                "name": tool_name(name, &tool.name),
                "at_server": tool.name,
                "description": tool.description,
                "schema": tool.schema,
            })
        };
        return Ok(print::json(&list.tools.iter().map(tool).collect::<Vec<_>>())?);
    }
    if list.tools.is_empty() {
        return Ok(print::prose(&format!(
            "Nothing was agreed to yet: run `selkie mcp trust {name}`\n"
        ))?);
    }
    let row = |tool: &PinnedTool| {
        let summary = tool.description.lines().next().unwrap_or_default();
        vec![tool_name(name, &tool.name), visible(summary)]
    };
    let rows: Vec<Vec<String>> = list.tools.iter().map(row).collect();
    Ok(print::out(&print::summaries(&rows, print::width()))?)
}

fn at(settings: &ServerSettings) -> String {
    let command = settings.command.iter().chain(&settings.args).cloned();
    let command = command.collect::<Vec<_>>().join(" ");
    settings.url.clone().unwrap_or(command)
}

fn stands(server: &ServerJson<'_>) -> String {
    let signed_in = if server.signed_in { ", signed in" } else { "" };
    let stands = match (&server.hash, server.differs.as_str()) {
        (None, _) => format!("not agreed to: selkie mcp trust {}", server.name),
        (Some(_), "") => counted(server.tools as u64, ["tool", "tools"]),
        (Some(_), differs) => format!("offers others: {differs}: selkie mcp trust {}", server.name),
    };
    format!("{stands}{signed_in}")
}
