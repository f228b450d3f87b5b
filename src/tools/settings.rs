//! The config section `tools:`: what is on, its limits, and what no tool may touch.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tools::shell::settings as shell;
use crate::tools::web::settings as web;

/// The section `tools:`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Reading files.
    pub read_file: ReadFile,
    /// Writing files.
    pub write_file: WriteFile,
    /// Listing folders.
    pub list_files: ListFiles,
    /// Running shell commands.
    pub bash: shell::Bash,
    /// Running PowerShell commands.
    pub powershell: shell::PowerShell,
    /// Looking after background processes.
    pub process: Switch,
    /// Requests to servers.
    pub url_fetch: web::UrlFetch,
    /// Reading web pages.
    pub web_fetch: Switch,
    /// Searching the web.
    pub web_search: web::WebSearch,
    /// Recording a thought.
    pub think: Switch,
    /// Reading the todo list.
    pub todo_read: Switch,
    /// Replacing the todo list.
    pub todo_write: Switch,
    /// Sending files, photos and voice notes into the conversation, on every channel.
    pub send: Send,
    /// Putting an emoji on a message, on every channel.
    pub react: Switch,
}

/// A tool without limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Switch {
    /// Whether it may be used.
    pub enabled: bool,
}

/// `tools.read_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadFile {
    /// Whether it may be used.
    pub enabled: bool,
    /// Bytes of one page.
    #[schemars(range(min = 1024, max = 524_288))]
    pub max_page_bytes: usize,
    /// Names (`secrets.txt`) and paths (`/srv/private`, `notes/private`) that it never opens.
    pub deny_paths: Vec<String>,
}

/// `tools.write_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WriteFile {
    /// Whether it may be used.
    pub enabled: bool,
    /// Bytes of one content.
    #[schemars(range(min = 1))]
    pub max_bytes: usize,
    /// Names and paths that it never writes.
    pub deny_paths: Vec<String>,
}

/// `tools.list_files`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListFiles {
    /// Whether it may be used.
    pub enabled: bool,
    /// Names and paths that it never lists.
    pub deny_paths: Vec<String>,
}

/// `tools.send`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Send {
    /// Whether files may be sent.
    pub enabled: bool,
    /// Bytes of the largest file; a platform's own limit may be lower.
    #[schemars(range(min = 1))]
    pub max_bytes: u64,
}

impl Settings {
    /// Returns the names of the base's tools that are switched off.
    pub fn disabled(&self) -> BTreeSet<&'static str> {
        let switches = [
            ("read_file", self.read_file.enabled),
            ("write_file", self.write_file.enabled),
            ("list_files", self.list_files.enabled),
            ("bash", self.bash.enabled),
            ("powershell", self.powershell.enabled),
            ("process", self.process.enabled),
            ("url_fetch", self.url_fetch.enabled),
            ("web_fetch", self.web_fetch.enabled),
            ("web_search", self.web_search.enabled),
            ("think", self.think.enabled),
            ("todo_read", self.todo_read.enabled),
            ("todo_write", self.todo_write.enabled),
        ];
        switches.into_iter().filter(|(_, on)| !on).map(|(name, _)| name).collect()
    }
}

impl Default for Switch {
    fn default() -> Self {
        Self { enabled: true }
    }
}

impl Default for ReadFile {
    fn default() -> Self {
        Self { enabled: true, max_page_bytes: 50 * 1024, deny_paths: Vec::new() }
    }
}

impl Default for WriteFile {
    fn default() -> Self {
        Self { enabled: true, max_bytes: 512 * 1024, deny_paths: Vec::new() }
    }
}

impl Default for ListFiles {
    fn default() -> Self {
        Self { enabled: true, deny_paths: Vec::new() }
    }
}

impl Default for Send {
    fn default() -> Self {
        Self { enabled: true, max_bytes: 20 * 1024 * 1024 }
    }
}
