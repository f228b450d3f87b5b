//! The part of `mcp.servers.<name>` that says where a server is and how it is reached.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use secrecy::SecretString;
use selkie_domain::span::Span;
use selkie_domain::tool::Class;
use selkie_sandbox::Mode;
use selkie_tools::foreign::{Who, foreign_class};
use serde::Deserialize;

/// How long a call may take where the config says nothing.
const TIMEOUT: Span = Span::seconds(60);

/// The section `mcp`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Mcp")]
pub struct Settings {
    /// Servers whose tools the bot may use, each under the name that stands before its tools.
    pub servers: BTreeMap<String, ServerSettings>,
}

/// A server of the Model Context Protocol: a program that is spoken with over its standard streams, or an address.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "McpServer")]
pub struct ServerSettings {
    /// The program: a name that is found in PATH, or an absolute path.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// What its environment has besides what every command gets: its keys.
    #[schemars(with = "BTreeMap<String, String>")]
    pub env: BTreeMap<String, SecretString>,
    /// The folder that it works in. Default: a folder of its own.
    pub cwd: Option<String>,
    /// Whether it runs in the sandbox: `auto`, `required`, `off`. Default: as commands do.
    pub sandbox: Option<Mode>,
    /// The server's address, in place of a program: `https://…`.
    pub url: Option<String>,
    /// A file of headers that every request to the address carries, one a line: `Authorization: Bearer …`.
    pub headers_file: Option<PathBuf>,
    /// How somebody signs in at the address, where it wants that: `selkie mcp login`.
    pub oauth: Option<OAuthSettings>,
    /// The credential that every request to the address carries: a name of `secrets.auth_profiles`.
    pub auth: Option<String>,
    /// How long a call may take. Nothing that the server tells of its progress extends that.
    pub timeout: Span,
    /// Who may use its tools: `owners`, or `allowed` people, too.
    pub who: Who,
    /// The places where its tools are there, groups among them, by their ids. Default: wherever their class is.
    pub places: Vec<String>,
    /// What a call of its tools does: `read`, `write`, `exec`, `network`, `message`, `public`, or `off` for those that
    /// `tools` does not name. Groups, approvals and plan mode go by it.
    pub class: String,
    /// The same for single tools, by their names at the server.
    pub tools: BTreeMap<String, String>,
}

/// What selkie is to a server's authorization server. Without it, selkie registers itself.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "McpOAuth")]
pub struct OAuthSettings {
    /// The authorization server, as it writes itself: no other is asked.
    pub issuer: Option<String>,
    /// The name under which selkie is registered there.
    pub client_id: Option<String>,
    /// The secret that goes with it.
    #[schemars(with = "Option<String>")]
    pub client_secret: Option<SecretString>,
    /// The address of a document that says who selkie is, for authorization servers that read such.
    pub client_metadata_url: Option<String>,
    /// What to ask for where the server does not say.
    pub scopes: Vec<String>,
}

impl OAuthSettings {
    fn fault(&self) -> Option<&'static str> {
        let is_secure = |url: &String| url.starts_with("https://");
        match self {
            Self { client_secret: Some(_), client_id: None, .. } => {
                Some("oauth.client_secret goes with client_id")
            }
            Self { client_secret: Some(_), issuer: None, .. } => Some(
                "oauth.client_secret goes with issuer: the secret is for no other authorization server",
            ),
            Self { client_metadata_url: Some(url), .. } if !is_secure(url) => {
                Some("oauth.client_metadata_url takes https://…")
            }
            _ => None,
        }
    }
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            sandbox: None,
            url: None,
            headers_file: None,
            oauth: None,
            auth: None,
            timeout: TIMEOUT,
            who: Who::default(),
            places: Vec::new(),
            class: Class::Exec.name().to_owned(),
            tools: BTreeMap::new(),
        }
    }
}

/// Stands for a class where a tool is not to be there.
pub const OFF: &str = "off";

impl ServerSettings {
    /// Returns what a call of a tool does.
    pub(crate) fn class_of(&self, tool: &str) -> Class {
        foreign_class(self.word_of(tool)).unwrap_or(Class::Exec)
    }

    /// Whether a tool is not to be there.
    pub(crate) fn is_off(&self, tool: &str) -> bool {
        self.word_of(tool) == OFF
    }

    fn word_of(&self, tool: &str) -> &str {
        self.tools.get(tool).unwrap_or(&self.class)
    }

    /// Says what is wrong with it: it is a program or an address, and each has keys of its own.
    pub fn fault(&self) -> Option<&'static str> {
        let Self { command, args, env, cwd, sandbox, url, headers_file, oauth, auth, .. } = self;
        let is_bare = args.is_empty() && env.is_empty() && cwd.is_none() && sandbox.is_none();
        match (command, url) {
            (None, None) => Some("takes command or url"),
            (Some(_), Some(_)) => Some("takes command or url, not both"),
            (Some(command), None) if command.trim().is_empty() => Some("command is empty"),
            (Some(_), None) if headers_file.is_some() => Some("headers_file goes with url"),
            (Some(_), None) if auth.is_some() => Some("auth goes with url"),
            (Some(_), None) => oauth.as_ref().map(|_| "oauth goes with url"),
            (None, Some(_)) if !is_bare => Some("args, env, cwd and sandbox go with command"),
            (None, Some(url)) => address_fault(url).or_else(|| oauth.as_ref()?.fault()),
        }
    }
}

fn address_fault(url: &str) -> Option<&'static str> {
    let url = reqwest::Url::parse(url).ok().filter(|url| url.has_host());
    match url.filter(|url| matches!(url.scheme(), "http" | "https")) {
        None => Some("url takes http://… or https://…"),
        Some(url) if !url.username().is_empty() || url.password().is_some() => {
            Some("url must not hold a name and password: write a header into headers_file")
        }
        Some(_) => None,
    }
}
