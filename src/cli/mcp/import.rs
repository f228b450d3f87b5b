//! `selkie mcp import`: what other programs' config says of servers, as a section of ours.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::super::outcome::{Failure, Outcome};
use super::super::print;

const MAX: u64 = 1024 * 1024;

/// What Claude Desktop and Cursor call it, and what VS Code does.
#[derive(Deserialize)]
struct ConfigFile {
    #[serde(alias = "servers", rename = "mcpServers")]
    servers: BTreeMap<String, ForeignServer>,
}

/// What they say of a server, and what is taken of it.
#[derive(Deserialize, Serialize)]
struct ForeignServer {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(alias = "serverUrl", skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default, skip_serializing)]
    headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing)]
    disabled: bool,
}

pub(super) fn import(file: &Path) -> Outcome {
    let shown = file.display();
    let length = file.metadata().with_context(|| format!("{shown} cannot be read"))?.len();
    if length > MAX {
        return Err(Failure::Usage(format!("{shown} is no such file: it has more than 1 MiB")));
    }
    let text = std::fs::read_to_string(file).with_context(|| format!("{shown} cannot be read"))?;
    let read: ConfigFile = serde_json::from_str(&text).map_err(|error| {
        Failure::Usage(format!("{shown} takes JSON with mcpServers, or servers: {error}"))
    })?;
    let mut servers = Map::new();
    for (name, written) in read.servers {
        if written.disabled {
            print::told(&format!("{name}: is left out, because it is disabled there"));
            continue;
        }
        let mut ours = our_name(&name);
        while servers.contains_key(&ours) {
            ours.push('2');
        }
        for header in written.headers.keys() {
            print::told(&format!(
                "{name}: put the header {header} into a file of its own, and name that in headers_file"
            ));
        }
        let written = json!(written);
        if let Some((_, variable)) = written.to_string().split_once("${") {
            let variable = variable.split('}').next().unwrap_or_default();
            print::told(&format!(
                "{name}: write what ${{{variable}}} stands for in its place: selkie does not fill it in"
            ));
        }
        servers.insert(ours, written);
    }
    // JSON is YAML; one server a line is read by people, too.
    let mut section = "mcp:\n  servers:\n".to_owned();
    for (name, server) in &servers {
        section.push_str(&format!("    {name}: {server}\n"));
    }
    print::out(&section)?;
    print::told("Put this into config.yaml, then run `selkie mcp trust NAME` for each server.");
    Ok(())
}

fn our_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(plain).take(31).collect();
    match name.starts_with(|c: char| c.is_ascii_lowercase()) {
        true => name,
        false => format!("s{name}"),
    }
}
