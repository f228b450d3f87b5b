//! `selkie mcp import`: what other programs' config says of servers, as a section of ours.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::outcome::{Failure, Outcome};
use super::super::print;

/// Bytes of such a file.
const MAX: u64 = 1024 * 1024;

/// What Claude Desktop and Cursor call it, and what VS Code does.
#[derive(Deserialize)]
struct ConfigFile {
    #[serde(alias = "servers", rename = "mcpServers")]
    servers: BTreeMap<String, ForeignServer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ForeignServer {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    #[serde(alias = "serverUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// Prints the section.
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
        let mut ours = our_name(&name);
        while servers.contains_key(&ours) {
            ours.push('2');
        }
        for header in written.headers.keys() {
            print::told(&format!(
                "{name}: put the header {header} into a file of its own, and name that in headers_file"
            ));
        }
        servers.insert(ours, section(written));
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

fn section(written: ForeignServer) -> Value {
    let ForeignServer { command, args, env, cwd, url, .. } = written;
    let all = [
        ("command", json!(command)),
        ("args", if args.is_empty() { Value::Null } else { json!(args) }),
        ("env", if env.is_empty() { Value::Null } else { json!(env) }),
        ("cwd", json!(cwd)),
        ("url", json!(url)),
    ];
    let all = all.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(all.map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Makes a name that the config takes.
fn our_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(plain).take(31).collect();
    match name.starts_with(|c: char| c.is_ascii_lowercase()) {
        true => name,
        false => format!("s{name}"),
    }
}
