//! The single list: every static tool. A new tool is its file and one line here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::Posting;

use crate::acp::{self, AcpSpawn};
use crate::agents::{ListAgents, MessageAgent, PeekAgent, Spawn, StopAgent};
use crate::auth::AuthProfiles;
use crate::conversation::{
    AskUser, Cron, PlanCreate, PlanEnter, PlanExit, Recall, Think, TodoRead, TodoUpdate, TodoWrite,
};
use crate::files::{
    ApplyPatch, DenyList, EditFile, GitStatus, Glob, Grep, ImageGenerate, ListFiles, NotebookEdit,
    Patch, PersonaWrite, ReadFile, ReadSchema, WriteFile,
};
use crate::foreign::{command_tools, search_tools};
use crate::isolate::{InProcess, Isolate};
use crate::memory::{MemoryGet, MemorySearch, MemoryWrite};
use crate::ports::Small;
use crate::refusals::unset;
use crate::registry::{Base, ToolEntry};
use crate::sessions::{SessionsHistory, SessionsList, SessionsSend, SessionsStatus};
use crate::settings::Paths;
use crate::shell::{Bash, PowerShell, Process, Processes, SpokenPrograms};
use crate::skills::{LoadSkill, SkillNames};
use crate::speak::contacts_send::ContactsSend;
use crate::speak::message::Message;
use crate::web::client::GuardedClient;
use crate::web::{ProfileFetch, UrlFetch, WebFetch, WebSearch};
use crate::{Schemas, Settings, Tool, ToolError, speak};
use selkie_domain::usage::Meter;

/// What tools stand on besides config. The default one works alone: for tests and tables.
#[derive(Clone)]
pub struct ToolDeps {
    /// Everything that runs.
    pub processes: Arc<Processes>,
    /// The daemon's own environment, of which commands get a part.
    pub env: Arc<BTreeMap<String, String>>,
    /// What commands may reach in the sandbox.
    pub sandbox: Arc<selkie_sandbox::Settings>,
    /// The way to the network.
    pub client: Arc<GuardedClient>,
    /// The model for small work.
    pub small: Arc<dyn Small>,
    /// The conversations' own model, asked for words alone.
    pub main: Arc<dyn Small>,
    /// Where work on foreign bytes is done that could end who does it.
    pub isolate: Arc<dyn Isolate>,
    /// Schemas that no file holds.
    pub schemas: Schemas,
    /// What can be posted in public.
    pub posting: Vec<PublicChannel>,
    /// Whether a server makes pictures.
    pub has_images: bool,
    /// Other programs' agents.
    pub acp: Arc<acp::Settings>,
    /// Other servers' tools.
    pub foreign: Vec<Arc<Tool>>,
    /// Which skills there are.
    pub skills: SkillNames,
    /// Credentials that requests carry.
    pub auth: Arc<AuthProfiles>,
}

impl ToolDeps {
    /// Returns what programs stand on that are spoken with over their standard streams.
    pub fn spoken(&self) -> SpokenPrograms {
        let Self { processes, env, sandbox, .. } = self;
        SpokenPrograms {
            processes: Arc::clone(processes),
            env: Arc::clone(env),
            sandbox: Arc::clone(sandbox),
        }
    }
}

/// A channel by which things are posted in public.
#[derive(Clone, Copy)]
pub struct PublicChannel {
    /// Its name, which is its section's, too.
    pub name: &'static str,
    /// What there is to know of it.
    pub data: &'static Posting,
    /// Whether there is an account to post with.
    pub configured: bool,
}

impl Default for ToolDeps {
    fn default() -> Self {
        Self {
            processes: Arc::default(),
            env: Arc::default(),
            sandbox: Arc::default(),
            client: Arc::default(),
            small: Arc::new(Speechless),
            main: Arc::new(Speechless),
            isolate: Arc::new(InProcess),
            schemas: Schemas::default(),
            posting: Vec::new(),
            has_images: false,
            acp: Arc::default(),
            foreign: Vec::new(),
            skills: SkillNames::default(),
            auth: Arc::default(),
        }
    }
}

/// Stands where there is no model.
struct Speechless;

#[async_trait]
impl Small for Speechless {
    async fn ask(&self, _: &str, _: &str, _: Duration, _: &Meter) -> Result<String, ToolError> {
        Err(ToolError::tell("no model is configured for small work: ask without a prompt"))
    }

    fn lacks(&self) -> Option<&'static str> {
        Some("llm client")
    }
}

/// Builds the base registry from config. Called once, at start.
///
/// # Errors
/// A name that stands twice: a defect.
pub fn build(settings: &Settings, means: &ToolDeps) -> Result<Base, String> {
    let reading = |own: &Paths| DenyList::new(settings.closed_to_readers(&own.deny_paths));
    let writing = |own: &Paths| DenyList::new(settings.closed_to_writers(&own.deny_paths));
    let ToolDeps { processes, env, sandbox, client, small, isolate, schemas, .. } = means;
    let patch = &settings.patch;
    let denied = DenyList::new(settings.closed_to_writers(&patch.deny_paths));
    let patches = Patch::new(denied, patch.validate.clone(), schemas.clone());
    let tools = vec![
        ToolEntry::new(settings.apply_patch.enabled, ApplyPatch(writing(&settings.apply_patch))),
        ToolEntry::new(settings.edit_file.enabled, EditFile(writing(&settings.edit_file))),
        ToolEntry::new(settings.git_status.enabled, GitStatus(reading(&settings.git_status))),
        ToolEntry::new(settings.glob.enabled, Glob(reading(&settings.glob))),
        ToolEntry::new(settings.grep.enabled, Grep(reading(&settings.grep))),
        ToolEntry::new(
            settings.notebook_edit.enabled,
            NotebookEdit(writing(&settings.notebook_edit)),
        ),
        ToolEntry::new(patch.enabled, patches),
        ToolEntry::new(settings.read_schema.enabled, ReadSchema(schemas.clone())),
        ToolEntry::new(settings.bash.enabled, Bash::new(&settings.bash, processes, env, sandbox)),
        ToolEntry::new(
            settings.powershell.enabled,
            PowerShell::new(&settings.powershell, processes, env, &settings.bash.limits, sandbox),
        ),
        ToolEntry::new(settings.process.enabled, Process(Arc::clone(processes))),
        ToolEntry::new(
            settings.url_fetch.enabled,
            UrlFetch::new(&settings.url_fetch, client, isolate),
        ),
        ToolEntry::new(settings.web_fetch.enabled, WebFetch::new(client, small, isolate)),
        ToolEntry::new(
            settings.web_search.enabled,
            WebSearch::new(&settings.web_search, client, isolate),
        ),
        ToolEntry::new(settings.list_files.enabled, ListFiles(settings.list_files.clone())),
        ToolEntry::new(settings.read_file.enabled, ReadFile::new(&settings.read_file, isolate)),
        ToolEntry::new(settings.write_file.enabled, WriteFile(settings.write_file.clone())),
        ToolEntry::new(settings.ask_user.enabled, AskUser::new(&settings.ask_user)),
        ToolEntry::new(settings.cron.enabled, Cron),
        ToolEntry::new(settings.persona_write.enabled, PersonaWrite),
        ToolEntry::new(settings.contacts_send.enabled, ContactsSend),
        ToolEntry::new(settings.message.enabled, Message),
        ToolEntry::new(settings.plan_enter.enabled, PlanEnter),
        ToolEntry::new(settings.plan_exit.enabled, PlanExit::new(&settings.ask_user)),
        ToolEntry::new(settings.think.enabled, Think),
        ToolEntry::new(settings.todo_read.enabled, TodoRead),
        ToolEntry::new(settings.todo_write.enabled, TodoWrite),
    ];
    let spoken = means.spoken();
    let commands = command_tools(&settings.commands, &spoken);
    let ours = tools.into_iter().chain(agents(settings)).chain(recollection(settings));
    Base::build(ours.chain(commands).chain(of_servers(&means.foreign)))
}

/// Makes `url_fetch` as tasks have it that may use credentials.
pub fn profile_fetch(settings: &Settings, means: &ToolDeps) -> ProfileFetch {
    let fetch = UrlFetch::new(&settings.url_fetch, &means.client, &means.isolate);
    ProfileFetch { fetch, profiles: Arc::clone(&means.auth) }
}

/// The tools that tell of what was before, here and in other conversations.
fn recollection(settings: &Settings) -> [ToolEntry; 8] {
    [
        ToolEntry::new(settings.memory_get.enabled, MemoryGet),
        ToolEntry::new(settings.memory_search.enabled, MemorySearch),
        ToolEntry::new(settings.memory_write.enabled, MemoryWrite),
        ToolEntry::new(settings.recall.enabled, Recall),
        ToolEntry::new(settings.sessions_history.enabled, SessionsHistory),
        ToolEntry::new(settings.sessions_list.enabled, SessionsList),
        ToolEntry::new(settings.sessions_send.enabled, SessionsSend),
        ToolEntry::new(settings.sessions_status.enabled, SessionsStatus),
    ]
}

/// Other servers' tools, and those that find them.
fn of_servers(tools: &[Arc<Tool>]) -> impl Iterator<Item = ToolEntry> + '_ {
    let of = |tool: &Arc<Tool>| tool.spec().foreign.as_ref()?.server;
    let mut servers: Vec<&str> = tools.iter().filter_map(of).collect();
    servers.sort_unstable();
    servers.dedup();
    search_tools(&servers).into_iter().chain(tools.iter().cloned().map(ToolEntry::from))
}

/// The tools by which a task looks after agents.
fn agents(settings: &Settings) -> [ToolEntry; 4] {
    let is_on = settings.agents.enabled;
    [
        ToolEntry::new(is_on, ListAgents),
        ToolEntry::new(is_on, MessageAgent(settings.spawn.clone())),
        ToolEntry::new(is_on, PeekAgent),
        ToolEntry::new(is_on, StopAgent),
    ]
}

/// Builds the runtime tools that every setting's overlay begins with. They know no task: what is a task's
/// own comes with the scope of each call.
pub fn runtime(settings: &Settings, means: &ToolDeps) -> Vec<ToolEntry> {
    let plan = PlanCreate::new(&settings.plan_create, &means.main);
    let plan = ToolEntry::new(settings.plan_create.enabled, plan);
    let todo = TodoUpdate(Arc::clone(&means.main));
    let todo = ToolEntry::new(settings.todo_update.enabled, todo);
    let spawn = ToolEntry::new(settings.spawn.enabled, Spawn::new(&settings.spawn, &means.main));
    let acp = AcpSpawn::new(&means.acp, &means.spoken());
    let absent = means.acp.agents.is_empty().then(|| unset("acp.agents"));
    let acp = ToolEntry { absent, ..ToolEntry::new(settings.acp_spawn.enabled, acp) };
    let draws = settings.image_generate.enabled;
    let absent = (!means.has_images).then(|| unset("images"));
    let draw = ToolEntry { absent, ..ToolEntry::new(draws, ImageGenerate) };
    let absent = means.skills.absent();
    let skills = LoadSkill(means.skills.clone());
    let skills = ToolEntry { absent, ..ToolEntry::new(settings.load_skill.enabled, skills) };
    let public = means.posting.iter().flat_map(|channel| posting(settings, *channel));
    [plan, todo, spawn, acp, draw, skills].into_iter().chain(public).collect()
}

/// The tools that post by a channel, wherever they are asked for.
fn posting(settings: &Settings, channel: PublicChannel) -> impl Iterator<Item = ToolEntry> {
    let PublicChannel { name, data, configured } = channel;
    let absent = (!configured).then(|| {
        format!("there is no account to post with: the section {name} of the config is empty")
    });
    let enabled = settings.post.enabled;
    speak::posting(data, name).into_iter().map(move |tool| ToolEntry {
        tool,
        enabled,
        absent: absent.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_sorted_documented_and_takes_one_object() {
        let base = build(&Settings::default(), &ToolDeps::default()).unwrap();
        let names: Vec<_> = base.specs().iter().map(|s| s.name).collect();
        assert_eq!(
            names,
            [
                "apply_patch",
                "ask_user",
                "bash",
                "contacts_send",
                "cron",
                "edit_file",
                "git_status",
                "glob",
                "grep",
                "list_agents",
                "list_files",
                "memory_get",
                "memory_search",
                "memory_write",
                "message",
                "message_agent",
                "notebook_edit",
                "patch",
                "peek_agent",
                "persona_write",
                "plan_enter",
                "plan_exit",
                "powershell",
                "process",
                "read_file",
                "read_schema",
                "recall",
                "sessions_history",
                "sessions_list",
                "sessions_send",
                "sessions_status",
                "stop_agent",
                "think",
                "todo_read",
                "todo_write",
                "url_fetch",
                "web_fetch",
                "web_search",
                "write_file"
            ]
        );
        for spec in base.specs() {
            assert_eq!(spec.parameters["type"], "object", "{}", spec.name);
            assert_eq!(spec.parameters["additionalProperties"], false, "{}", spec.name);
            assert!(spec.description.ends_with('.'), "{}", spec.name);
            let described = spec.parameters["properties"].as_object().unwrap();
            // A parameter whose name says it needs no words: every request would carry them.
            let empty = |p: &serde_json::Value| {
                p["description"].as_str().is_some_and(|d| d.trim().is_empty())
            };
            assert!(!described.values().any(empty), "{}", spec.name);
        }
    }

    #[test]
    fn every_tool_has_a_switch_of_its_name() {
        let means = ToolDeps::default();
        let names = |settings: &Settings, enabled: bool| -> Vec<&str> {
            let base = build(settings, &means).unwrap();
            let of_base = base.switched(enabled).into_iter();
            let on_top = runtime(settings, &means);
            let on_top = on_top.iter().filter(|r| r.enabled == enabled).map(|r| r.tool.spec().name);
            of_base.chain(on_top).collect()
        };
        let off = names(&Settings::default(), false);
        let of_agents = ["list_agents", "message_agent", "peek_agent", "stop_agent"];
        assert_eq!(off, [&of_agents[..3], &["powershell"], &of_agents[3..]].concat());
        for name in names(&Settings::default(), true) {
            let mut json = serde_json::to_value(Settings::default()).unwrap();
            json[name]["enabled"] = false.into();
            let mut now = names(&serde_json::from_value(json).unwrap(), false);
            now.retain(|other| !off.contains(other));
            assert_eq!(now, [name]);
        }
    }
}
