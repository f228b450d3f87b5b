//! `selkie mcp`: other servers' tools, over the Model Context Protocol.

mod call;
mod import;
mod list;
mod login;
mod trust;

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Map, Value};

use self::call::ServerCall;
use super::outcome::{Failure, Outcome};
use selkie_app::Binary;
use selkie_app::build::{AppConfig, ConfigChoice, plan};
use selkie_domain::spelling::nearest;
use selkie_mcp::ServerSettings;

/// `selkie mcp`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie mcp import ~/.config/Claude/claude_desktop_config.json
  selkie mcp list
  selkie mcp login wiki
  selkie mcp login wiki --scope files:write
  selkie mcp logout wiki
  selkie mcp trust clock
  selkie mcp tools clock
  selkie mcp call clock get_current_time '{\"timezone\":\"UTC\"}'

A server is named in the config (mcp.servers.<name>). The bot has its tools once you have looked at them and agreed: \
`selkie mcp trust`. What the server changes later is not used until you agree again.

Exit codes: 0 done · 1 not done, or the server failed · 2 the command line or the config is wrong, or nobody could be asked")]
pub enum Mcp {
    /// List the servers of the config, and what was agreed to of each
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Sign in at a server at an address: prints where, and waits for the browser
    Login {
        /// The server's name in the config
        name: String,
        /// Also ask for these scopes, one behind the other
        #[arg(long, value_name = "SCOPES")]
        scope: Vec<String>,
        /// Read the address that the browser ends at from the terminal: for a browser on another machine
        #[arg(long)]
        paste: bool,
    },
    /// Forget what a login has brought
    Logout {
        /// The server's name in the config
        name: String,
    },
    /// Show everything that a server offers, and agree to it
    Trust {
        /// The server's name in the config
        name: String,
        /// Agree without asking, if what the server offers still has this hash
        #[arg(long, value_name = "HASH")]
        yes: Option<String>,
    },
    /// List the tools of a server that were agreed to
    Tools {
        /// The server's name in the config
        name: String,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Call a tool of a server yourself, whether it was agreed to or not
    Call {
        /// The server's name in the config
        name: String,
        /// The tool's name at the server
        tool: String,
        /// Its arguments, as a JSON object
        #[arg(default_value = "{}")]
        arguments: String,
    },
    /// Print what other programs' config says of servers as a section for config.yaml
    Import {
        /// The config of Claude Desktop, Cursor or VS Code (mcp.json)
        file: PathBuf,
    },
}

/// Does what is asked.
pub fn mcp(binary: &Binary, chosen: &ConfigChoice, what: Mcp) -> Outcome {
    if let Mcp::Import { file } = what {
        return import::import(&binary.here.join(file));
    }
    let plan = plan(binary, chosen)?;
    // A server may say in an error what it was given.
    carry_out(&plan, what).map_err(|failure| failure.cleaned(&plan.redactor))
}

fn carry_out(plan: &AppConfig, what: Mcp) -> Outcome {
    let known = |name| settings(plan, name).map(|_| name);
    match what {
        Mcp::List { json } => list::list(plan, json),
        Mcp::Tools { name, json } => list::tools(plan, known(&name)?, json),
        Mcp::Login { name, scope, paste } => login::login(plan, known(&name)?, &scope, paste),
        Mcp::Logout { name } => login::logout(plan, known(&name)?),
        Mcp::Trust { name, yes } => trust::trust(plan, known(&name)?, yes.as_deref()),
        Mcp::Call { name, tool, arguments } => {
            let settings = settings(plan, &name)?;
            let arguments: Map<String, Value> = serde_json::from_str(&arguments).map_err(|e| {
                Failure::Usage(format!("ARGUMENTS takes a JSON object such as {{\"a\":1}}: {e}"))
            })?;
            call::call(plan, &ServerCall { name: &name, settings, tool: &tool, arguments })
        }
        Mcp::Import { .. } => Ok(()),
    }
}

/// Returns what the config says of a server.
///
/// # Errors
/// It names none; lists those that it names.
fn settings<'p>(plan: &'p AppConfig, name: &str) -> Result<&'p ServerSettings, Failure> {
    let servers = &plan.settings.mcp.servers;
    servers.get(name).ok_or_else(|| {
        let names: Vec<&str> = servers.keys().map(String::as_str).collect();
        let near = nearest(name, names.iter().copied());
        let near = near.map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
        Failure::Usage(match names.is_empty() {
            true => "the config names no server: write one below mcp.servers, or run `selkie mcp import FILE`".to_owned(),
            false => format!("the config names no server {name:?}{near}: there is {}", names.join(", ")),
        })
    })
}
