//! The config section `tools:`: what is on, its limits, and what no tool may touch.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::span::Span;
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
    /// Replacing a text in a file.
    pub edit_file: Paths,
    /// Applying patches.
    pub apply_patch: Paths,
    /// Creating, changing and deleting one file, with a look at what it holds afterwards.
    pub patch: Patch,
    /// Changing cells of notebooks.
    pub notebook_edit: Paths,
    /// Finding files by their names.
    pub glob: Paths,
    /// Searching in files.
    pub grep: Paths,
    /// What git says of a folder.
    pub git_status: Paths,
    /// Looking up schemas.
    pub read_schema: Switch,
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
    /// Asking the person a question.
    pub ask_user: AskUser,
    /// Beginning plan mode.
    pub plan_enter: Switch,
    /// Showing the plan and asking for its approval.
    pub plan_exit: Switch,
    /// Recording a thought.
    pub think: Switch,
    /// Having something done later, or again.
    pub cron: Switch,
    /// Planning a task.
    pub plan_create: PlanCreate,
    /// Bringing back what an earlier task has read.
    pub recall: Switch,
    /// Reading the todo list.
    pub todo_read: Switch,
    /// Replacing the todo list.
    pub todo_write: Switch,
    /// Sending files, photos and voice notes into the conversation, on every channel.
    pub send: Send,
    /// Putting an emoji on a message, on every channel.
    pub react: Switch,
    /// Posting in public, now and later, on every channel that has a timeline.
    pub post: Switch,
}

/// A tool without limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Switch {
    /// Whether it may be used.
    pub enabled: bool,
}

/// `tools.ask_user`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AskUser {
    /// Whether it may be used.
    pub enabled: bool,
    /// How long a question stays open, one for the approval of a plan too.
    pub timeout: Span,
}

/// `tools.plan_create`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlanCreate {
    /// Whether it may be used.
    pub enabled: bool,
    /// Steps of a plan when the model names no number.
    #[schemars(range(min = 1, max = 50))]
    pub max_steps: u32,
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

/// A tool that works on files and has no other limits of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Paths {
    /// Whether it may be used.
    pub enabled: bool,
    /// Names and paths that it never touches, beside those of `read_file` or `write_file`.
    pub deny_paths: Vec<String>,
}

/// `tools.patch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Patch {
    /// Whether it may be used.
    pub enabled: bool,
    /// Names and paths that it never touches, beside those of `write_file`.
    pub deny_paths: Vec<String>,
    /// Which files are checked after a change, and against which schema.
    pub validate: Vec<Validate>,
}

/// An entry of `tools.patch.validate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Validate {
    /// Which files, by their path as tools take it: `file_state_dir/**/*.yaml`, `jobs/*.yaml`.
    pub glob: String,
    /// The schema, as `read_schema` names it. Without it: the one called like the file, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
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
    /// Returns the same with one file closed to every tool: the config, whatever it is called.
    #[must_use]
    pub fn closing(mut self, file: &Path) -> Self {
        let path = file.to_string_lossy().into_owned();
        self.read_file.deny_paths.push(path.clone());
        self.write_file.deny_paths.push(path);
        // A command may name it from its own folder.
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
        self.bash.deny_paths.extend(name.clone());
        self.powershell.deny_paths.extend(name);
        self
    }

    /// Returns the same with files and folders of secrets closed to every tool, to commands by their paths and,
    /// where that can mean nothing else, by their names.
    #[must_use]
    pub fn closing_secrets<'a>(mut self, files: impl IntoIterator<Item = &'a Path>) -> Self {
        for file in files {
            let path = file.to_string_lossy().into_owned();
            self.read_file.deny_paths.push(path.clone());
            self.write_file.deny_paths.push(path.clone());
            for shell in [&mut self.bash.deny_paths, &mut self.powershell.deny_paths] {
                shell.push(path.clone());
                shell.extend(telling_name(file));
            }
        }
        self
    }

    /// Returns the same with `~/…` in what is denied closed by its real path, too.
    #[must_use]
    pub fn at_home(mut self, home: &str) -> Self {
        for denied in self.denied() {
            let below = denied.iter().filter_map(|path| path.trim().strip_prefix("~/"));
            let home = home.trim_end_matches('/');
            let real: Vec<String> = below.map(|rest| format!("{home}/{rest}")).collect();
            denied.extend(real);
        }
        self
    }

    fn denied(&mut self) -> [&mut Vec<String>; 12] {
        [
            &mut self.read_file.deny_paths,
            &mut self.write_file.deny_paths,
            &mut self.list_files.deny_paths,
            &mut self.edit_file.deny_paths,
            &mut self.apply_patch.deny_paths,
            &mut self.patch.deny_paths,
            &mut self.notebook_edit.deny_paths,
            &mut self.glob.deny_paths,
            &mut self.grep.deny_paths,
            &mut self.git_status.deny_paths,
            &mut self.bash.deny_paths,
            &mut self.powershell.deny_paths,
        ]
    }

    /// Returns what a tool that shows files never opens: what `read_file` does not, and its own list.
    pub fn closed_to_readers(&self, own: &[String]) -> Vec<String> {
        self.read_file.deny_paths.iter().chain(own).cloned().collect()
    }

    /// Returns what a tool that changes files never changes: what `write_file` does not, and its own
    /// list.
    pub fn closed_to_writers(&self, own: &[String]) -> Vec<String> {
        self.write_file.deny_paths.iter().chain(own).cloned().collect()
    }
}

/// The name of a secret's file as commands may write it from its own folder. A plain word (`token`) stands in
/// commands that mean something else: there the folder's name goes with it.
fn telling_name(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_string_lossy().into_owned();
    if !name.chars().all(char::is_alphanumeric) {
        return Some(name);
    }
    let folder = file.parent()?.file_name()?.to_string_lossy().into_owned();
    Some(format!("{folder}/{name}"))
}

impl Default for Switch {
    fn default() -> Self {
        Self { enabled: true }
    }
}

impl Default for AskUser {
    fn default() -> Self {
        Self { enabled: true, timeout: Span::seconds(24 * 60 * 60) }
    }
}

impl Default for PlanCreate {
    fn default() -> Self {
        Self { enabled: true, max_steps: 6 }
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

impl Default for Paths {
    fn default() -> Self {
        Self { enabled: true, deny_paths: Vec::new() }
    }
}

impl Default for Patch {
    fn default() -> Self {
        let state = Validate { glob: "file_state_dir/**/*.yaml".to_owned(), schema: None };
        Self { enabled: true, deny_paths: Vec::new(), validate: vec![state] }
    }
}

impl Default for Send {
    fn default() -> Self {
        Self { enabled: true, max_bytes: 20 * 1024 * 1024 }
    }
}
