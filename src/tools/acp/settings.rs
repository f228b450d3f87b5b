//! The config section `acp`: other programs' agents that tasks may be given to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use secrecy::SecretString;
use selkie_acp::Kind;
use selkie_sandbox::Mode;
use serde::Deserialize;

use selkie_domain::span::Span;

/// The section `acp`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Acp")]
pub struct Settings {
    /// How long an agent may work on a task; the time in which somebody is asked for permission does not count.
    pub timeout: Span,
    /// The programs, each under the name that a model calls it by.
    pub agents: BTreeMap<String, AgentProgram>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { timeout: Span::seconds(30 * 60), agents: BTreeMap::new() }
    }
}

/// A program that speaks the Agent Client Protocol over its standard streams.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentProgram {
    /// The program: a name that is found in PATH, or an absolute path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What its environment has besides what every command gets: its keys.
    #[schemars(with = "BTreeMap<String, String>")]
    pub env: BTreeMap<String, SecretString>,
    /// The folder that it works in where a call names none. Default: the workspace.
    pub cwd: Option<String>,
    /// What it may do without asking: `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch`,
    /// `switch_mode`, `other`.
    pub allow: Vec<String>,
    /// Whether it runs in the sandbox: `auto`, `required`, `off`. Default: as commands do.
    pub sandbox: Option<Mode>,
}

impl AgentProgram {
    /// Returns what it may do without asking.
    pub fn allowed(&self) -> Vec<Kind> {
        self.allow.iter().filter_map(|name| Kind::parse(name)).collect()
    }

    /// Lists what `allow` can name.
    pub fn kinds() -> Vec<&'static str> {
        Kind::ALL.iter().map(|kind| kind.name()).collect()
    }
}
