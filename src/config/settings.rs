//! The typed settings: each section's struct lives beside the code that uses it and is composed here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{alerts, telemetry, tool_places};
use selkie_agent as agent;
use selkie_console as console;
use selkie_domain::span::Span;
use selkie_engine::intake::settings as flow;
use selkie_guard as guard;
use selkie_hooks as hooks;
use selkie_llm as llm;
use selkie_mcp as mcp;
use selkie_memory as memory;
use selkie_sandbox as sandbox;
use selkie_schedule::fixed::FixedSchedule;
use selkie_schedule::zone::Zone;
use selkie_skills as skills;
use selkie_store as store;
use selkie_tools as tools;

pub use console::Settings as ConsoleSettings;
pub use flow::Settings as FlowSettings;
pub use llm::Settings as LlmSettings;
pub use tools::Settings as ToolsSettings;

/// Everything but the channels' own sections, which their kits check and take raw.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Whose bot it is: always allowed, first to get notices.
    pub owners: Vec<String>,
    /// What becomes of a message that arrives while its conversation is being answered.
    pub while_busy: flow::WhileBusy,
    /// Several messages of one speaker, none later than this after the one before, are one task.
    pub debounce: Span,
    /// How soon behind each other a person's messages are one request, as long as it has no answer.
    pub join_within: Span,
    /// Group lines that do not speak to the bot are kept as context for the next one that does.
    pub record_untriggered: bool,
    /// When the bot speaks in a group although nobody spoke to it.
    pub group_trigger_mode: flow::TriggerMode,
    /// How the bot decides whether a group means it.
    pub gate: flow::GateSettings,
    /// What the bot looks at by itself.
    pub heartbeat: flow::HeartbeatSettings,
    /// Which models are asked.
    pub llm: llm::Settings,
    /// How what is remembered is found.
    pub memory: memory::Settings,
    /// How voice messages are understood.
    pub transcription: llm::TranscriptionSettings,
    /// How words are said aloud.
    pub speech: llm::SpeechSettings,
    /// How pictures are made from words.
    pub images: llm::ImageSettings,
    /// How far a task may go.
    pub agent: agent::Settings,
    /// What tools keep to.
    pub tools: tools::Settings,
    /// How kinds of work are done, in folders that tasks load when they need them.
    pub skills: skills::Settings,
    /// Other programs' agents that tasks may be given to.
    pub acp: tools::acp::Settings,
    /// Other servers' tools, over the Model Context Protocol.
    pub mcp: mcp::Settings,
    /// Places of servers' tools, by the tool: which tools there are only the pinned lists tell.
    #[serde(skip)]
    pub placed: BTreeMap<String, Vec<String>>,
    /// Credentials that requests carry and no model sees.
    pub secrets: tools::auth::Settings,
    /// Whether commands run in the sandbox, and what they reach there: `auto`, `required`, `off`, or more keys.
    pub sandbox: sandbox::Settings,
    /// What nothing may do, whatever asks for it.
    pub guard: guard::Settings,
    /// What somebody has to approve, and how long they are waited for.
    pub approvals: guard::policy::Settings,
    /// How much runs at once.
    pub worker: flow::WorkerSettings,
    /// How patient the outbox is.
    pub outbox: flow::OutboxSettings,
    /// How long what is stored is kept.
    pub store: store::settings::Settings,
    /// Copies of everything that selkie makes by itself.
    pub backup: store::settings::Backup,
    /// What the owner is told of by itself.
    pub alerts: alerts::Alerts,
    /// Where files of private conversations live.
    pub workspace: flow::WorkspaceSettings,
    /// How people are shown what a long task is doing.
    pub progress: flow::ProgressSettings,
    /// Agents of one's own, by their names: who answers, by which model, with which tools.
    pub agents: BTreeMap<String, flow::AgentSettings>,
    /// What holds in single groups, private chats, and their topics and threads, by their id.
    pub places: BTreeMap<String, flow::PlaceSettings>,
    /// The same, as older configs call it.
    pub groups: BTreeMap<String, flow::PlaceSettings>,
    /// What people may use; owners are not held.
    pub limits: flow::LimitSettings,
    /// Whether strangers who write in private get a code by which an owner can let them in.
    pub pairing: flow::Pairing,
    /// The read API and, later, the owner's pages.
    pub console: console::Settings,
    /// The IANA time zone of times that name none, such as Europe/Berlin. Default: the host's.
    pub timezone: Option<Zone>,
    /// What is done later, or again, as long as it stands here.
    pub schedules: Vec<FixedSchedule>,
    /// What other services may call, and what is made of it.
    pub webhooks: hooks::Settings,
    /// What is logged, and how.
    pub logging: LogSettings,
    /// Where what is measured goes by itself.
    pub telemetry: telemetry::Telemetry,
    /// For tests.
    pub debug: Debug,
    /// Where everything durable lives.
    pub file_state_dir: Option<PathBuf>,
    /// Where fetched and made files lie; may be emptied while the daemon is down.
    pub file_cache_dir: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            owners: Vec::new(),
            timezone: None,
            schedules: Vec::new(),
            webhooks: hooks::Settings::default(),
            while_busy: flow::WhileBusy::default(),
            debounce: Span::seconds(0),
            join_within: flow::JOIN_WITHIN,
            record_untriggered: true,
            group_trigger_mode: flow::TriggerMode::default(),
            gate: flow::GateSettings::default(),
            heartbeat: flow::HeartbeatSettings::default(),
            llm: llm::Settings::default(),
            memory: memory::Settings::default(),
            transcription: llm::TranscriptionSettings::default(),
            speech: llm::SpeechSettings::default(),
            images: llm::ImageSettings::default(),
            agent: agent::Settings::default(),
            tools: tools::Settings::default(),
            skills: skills::Settings::default(),
            acp: tools::acp::Settings::default(),
            mcp: mcp::Settings::default(),
            placed: BTreeMap::new(),
            secrets: tools::auth::Settings::default(),
            sandbox: sandbox::Settings::default(),
            guard: guard::Settings::default(),
            approvals: guard::policy::Settings::default(),
            worker: flow::WorkerSettings::default(),
            outbox: flow::OutboxSettings::default(),
            store: store::settings::Settings::default(),
            backup: store::settings::Backup::default(),
            alerts: alerts::Alerts::default(),
            workspace: flow::WorkspaceSettings::default(),
            progress: flow::ProgressSettings::default(),
            agents: BTreeMap::new(),
            places: BTreeMap::new(),
            groups: BTreeMap::new(),
            limits: flow::LimitSettings::default(),
            pairing: flow::Pairing::default(),
            console: console::Settings::default(),
            logging: LogSettings::default(),
            telemetry: telemetry::Telemetry::default(),
            debug: Debug::default(),
            file_state_dir: None,
            file_cache_dir: None,
        }
    }
}

impl Settings {
    /// Returns what holds in single places, under either name, with the tools for which the config names places.
    pub fn of_places(&self) -> BTreeMap<String, flow::PlaceSettings> {
        let mut places = self.groups.clone().into_iter().chain(self.places.clone()).collect();
        let commands = self.tools.commands.iter().map(|(name, command)| (name, &command.places));
        for (tool, at) in commands.chain(&self.placed) {
            at.iter().for_each(|place| tool_places::open(&mut places, place, tool));
        }
        for (id, profile) in &self.secrets.auth_profiles {
            let word = tools::auth::word_of(id);
            profile.places.iter().for_each(|at| tool_places::open(&mut places, at, &word));
        }
        places
    }

    /// Returns what flow is told: its keys stand at the top.
    pub fn flow(&self) -> FlowSettings {
        FlowSettings {
            while_busy: self.while_busy,
            debounce: self.debounce,
            join_within: self.join_within,
            approvals: self.approvals.clone(),
            worker: self.worker.clone(),
            outbox: self.outbox.clone(),
            workspace: self.workspace.clone(),
            progress: self.progress.clone(),
            agents: self.agents.clone(),
            places: self.of_places(),
            record_untriggered: self.record_untriggered,
            group_trigger_mode: self.group_trigger_mode,
            gate: self.gate,
            heartbeat: self.heartbeat.clone(),
            store: self.store.clone(),
            limits: self.limits.clone(),
            keep_agents: self.tools.spawn.keep,
            pairing: self.pairing,
        }
    }
}

/// What is logged, and how. Logs go to standard error.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogSettings {
    /// The least important line that is written.
    pub level: Level,
    /// `text` for people, `json` for machines.
    pub format: Format,
}

impl LogSettings {
    /// Returns the same with errors only: in a demo the page tells the rest.
    pub fn quiet(self) -> Self {
        let level = if self.level == Level::Info { Level::Error } else { self.level };
        Self { level, ..self }
    }

    /// Returns the same for a command that itself tells what went wrong: its log holds defects alone, unless
    /// the config asks for more than a daemon's usual log.
    pub fn quieter(self) -> Self {
        let level = match self.level {
            Level::Info | Level::Warn => Level::Error,
            other => other,
        };
        Self { level, ..self }
    }
}

/// How important a line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Level {
    #[expect(missing_docs, reason = "the names say it")]
    Error,
    #[expect(missing_docs, reason = "the names say it")]
    Warn,
    #[default]
    #[expect(missing_docs, reason = "the names say it")]
    Info,
    #[expect(missing_docs, reason = "the names say it")]
    Debug,
    #[expect(missing_docs, reason = "the names say it")]
    Trace,
}

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// For tests.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Debug {
    /// Dies by SIGKILL at a crash point: `after_claim`, or `after_claim:3` for the third time.
    pub crash_at: Option<String>,
}
