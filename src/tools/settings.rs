//! The config section `tools:`: what is on, and what no tool may touch. What is one tool's own stands in its file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agents;
use crate::conversation::{ask_user, plan_create};
use crate::files::{list_files, patch, read_file, write_file};
use crate::foreign;
use crate::shell::{bash, powershell};
use crate::speak::send;
use crate::web::{url_fetch, web_search};

pub use crate::files::validate::Validate;

/// The section `tools:`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Reading files.
    pub read_file: read_file::Settings,
    /// Writing files.
    pub write_file: write_file::Settings,
    /// Listing folders.
    pub list_files: list_files::Settings,
    /// Replacing a text in a file.
    pub edit_file: Paths,
    /// Applying patches.
    pub apply_patch: Paths,
    /// Creating, changing and deleting one file, with a look at what it holds afterwards.
    pub patch: patch::Settings,
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
    pub bash: bash::Settings,
    /// Running PowerShell commands.
    pub powershell: powershell::Settings,
    /// Looking after background processes.
    pub process: Switch,
    /// Requests to servers.
    pub url_fetch: url_fetch::Settings,
    /// Reading web pages.
    pub web_fetch: Switch,
    /// Searching the web.
    pub web_search: web_search::Settings,
    /// Letting agents do subtasks.
    pub spawn: agents::settings::Settings,
    /// Looking at agents, telling them something, stopping them.
    pub agents: agents::settings::Tools,
    /// Asking the person a question.
    pub ask_user: ask_user::Settings,
    /// Beginning plan mode.
    pub plan_enter: Switch,
    /// Showing the plan and asking for its approval.
    pub plan_exit: Switch,
    /// Recording a thought.
    pub think: Switch,
    /// Writing to a contact.
    pub contacts_send: Switch,
    /// Writing to somebody in another chat.
    pub message: Switch,
    /// Listing conversations.
    pub sessions_list: Switch,
    /// Reading what was said in a conversation.
    pub sessions_history: Switch,
    /// Sending words into another conversation.
    pub sessions_send: Switch,
    /// Telling what a conversation has come to.
    pub sessions_status: Switch,
    /// Having something done later, or again.
    pub cron: Switch,
    /// Writing who the bot is.
    pub persona_write: Switch,
    /// Planning a task.
    pub plan_create: plan_create::Settings,
    /// Bringing back what an earlier task has read.
    pub recall: Switch,
    /// Loading skills, where there are any.
    pub load_skill: Switch,
    /// Reading a file of memory.
    pub memory_get: Switch,
    /// Searching what is remembered.
    pub memory_search: Switch,
    /// Remembering something.
    pub memory_write: Switch,
    /// Reading the todo list.
    pub todo_read: Switch,
    /// Giving tasks to other programs' agents, where `acp.agents` names any.
    pub acp_spawn: Switch,
    /// Keeping the list of what people want done, in `TODO.md`.
    pub todo_update: Switch,
    /// Replacing the todo list.
    pub todo_write: Switch,
    /// Sending files, photos and voice notes into the conversation, on every channel.
    pub send: send::Settings,
    /// Saying words aloud, on every channel that carries recordings, where `speech` is configured.
    pub say_aloud: Switch,
    /// Making pictures, where `images` is configured.
    pub image_generate: Switch,
    /// Putting an emoji on a message, on every channel.
    pub react: Switch,
    /// Posting in public, now and later, on every channel that has a timeline.
    pub post: Switch,
    /// Programs as tools, by the names that models call them by.
    pub commands: foreign::Commands,
}

/// A tool without limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Switch {
    /// Whether it may be used.
    pub enabled: bool,
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

impl Settings {
    /// Returns the same with `~/…` in what is denied closed by its real path, too.
    #[must_use]
    pub fn at_home(mut self, home: Option<&String>) -> Self {
        let Some(home) = home.filter(|home| !home.is_empty()) else { return self };
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

impl Default for Switch {
    fn default() -> Self {
        Self { enabled: true }
    }
}

impl Default for Paths {
    fn default() -> Self {
        Self { enabled: true, deny_paths: Vec::new() }
    }
}
