//! What tasks may use, made of a config: the base of tools, its shapes, and the servers whose tools stand in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustls::ClientConfig;
use selkie_channel_core::Redactor;

use crate::Binary;
use crate::http;
use crate::mcp::{self, McpDeps};
use crate::schemas::schemas;
use crate::skills::skill_names;
use selkie_agent::SmallModel;
use selkie_config::paths::Folders;
use selkie_config::problem::{Place, Problem as ConfigProblem, Problems};
use selkie_config::settings::Settings;
use selkie_domain::clock::SharedClock;
use selkie_llm as llm;
use selkie_llm::Model;
use selkie_mcp::Servers;
use selkie_sandbox::Mode;
use selkie_shape::{ChannelTools, Shaper};
use selkie_tools::auth::{AuthProfiles, CredentialDeps};
use selkie_tools::base::{self, PublicChannel, ToolDeps};
use selkie_tools::paths::Ours;
use selkie_tools::ports::Small;
use selkie_tools::shell::{OwnPrograms, Processes};
use selkie_tools::web::client::GuardedClient;

/// What tasks may use.
pub struct Tooling {
    /// What tools stand on.
    pub means: ToolDeps,
    /// What tasks may do.
    pub shaper: Arc<Shaper>,
    /// Whether commands run in the sandbox.
    pub sandbox: selkie_sandbox::Policy,
    /// Other servers' tools.
    pub mcp: Arc<Servers>,
    /// Tells what was agreed to of servers and skills from what was before.
    pub agreed: String,
    /// Places of servers' tools, by the tool.
    pub placed: BTreeMap<String, Vec<String>>,
    /// What an operator should know, a sentence each.
    pub notes: Vec<String>,
}

/// What it is made of.
pub struct ToolingDeps<'a> {
    /// The program.
    pub binary: &'a Binary,
    /// The config.
    pub settings: &'a Settings,
    /// The one TLS configuration.
    pub tls: &'a Arc<ClientConfig>,
    /// The models.
    pub routes: &'a llm::Routes,
    /// Everything that tools run.
    pub processes: Arc<Processes>,
    /// What can be posted in public.
    pub posting: Vec<PublicChannel>,
    /// What is closed to every tool.
    pub ours: &'a Ours,
    /// Where things lie.
    pub folders: &'a Folders,
    /// The time.
    pub clock: &'a SharedClock,
    /// Learns the servers' secrets.
    pub redactor: &'a Redactor,
}

impl Tooling {
    /// Makes it. No server is started.
    ///
    /// # Errors
    /// A defect: a name that stands twice.
    pub fn of(deps: ToolingDeps<'_>) -> Result<Self, Problems> {
        let ToolingDeps { binary, settings, tls, routes, processes, posting, .. } = deps;
        let skills = skill_names(&settings.skills, deps.folders);
        let reviewed = skills.reviewed.join(" ");
        let has_others = skills.has_others;
        let auth = auth(binary, settings, &processes, deps.redactor);
        let means =
            ToolDeps { posting, skills, auth, ..means(binary, settings, tls, routes, processes) };
        let sudo = settings.tools.bash.limits.sudo;
        let machine = means.processes.machine();
        let sandbox = selkie_sandbox::Policy::new(settings.sandbox.clone(), sudo, machine);
        let pinned = mcp::tools(
            &settings.mcp,
            &McpDeps {
                means: &means,
                sandbox: &sandbox,
                ours: deps.ours,
                state: &deps.folders.state,
                clock: deps.clock,
                redactor: deps.redactor,
            },
        );
        let means = ToolDeps { foreign: pinned.tools, ..means };
        let shaper = shaper(binary, settings, &means)?.with_sandbox(sandbox.clone());
        Ok(Self {
            means,
            shaper: Arc::new(shaper),
            sandbox,
            mcp: pinned.servers,
            agreed: format!("{} {reviewed} {has_others}", pinned.hash),
            placed: pinned.placed,
            notes: pinned.notes,
        })
    }
}

/// What tools stand on.
fn means(
    binary: &Binary,
    settings: &Settings,
    tls: &Arc<ClientConfig>,
    routes: &llm::Routes,
    processes: Arc<Processes>,
) -> ToolDeps {
    let tls = Arc::clone(tls);
    let small = |model: &Arc<dyn Model>| -> Arc<dyn Small> {
        Arc::new(SmallModel::new(Arc::clone(model), Arc::clone(&routes.profiles)))
    };
    let factory = move || Ok(http::builder(&tls));
    ToolDeps {
        processes,
        env: Arc::new(binary.env.clone()),
        sandbox: Arc::new(settings.sandbox.clone()),
        client: Arc::new(GuardedClient::new(settings.guard.network.clone(), Box::new(factory))),
        small: small(&routes.small),
        main: small(&routes.main),
        isolate: Arc::clone(&binary.isolate),
        schemas: schemas(binary),
        posting: Vec::new(),
        has_images: settings.images.is_on(),
        acp: Arc::new(settings.acp.clone()),
        foreign: Vec::new(),
        skills: Default::default(),
        auth: Arc::default(),
    }
}

/// The credentials that requests carry. The programs that print them run outside of the sandbox, with the daemon's
/// environment: they ask password managers, over sockets and the network.
fn auth(
    binary: &Binary,
    settings: &Settings,
    processes: &Processes,
    redactor: &Redactor,
) -> Arc<AuthProfiles> {
    let off = selkie_sandbox::Settings { mode: Mode::Off, ..Default::default() };
    let machine = Arc::clone(processes.machine());
    let policy = selkie_sandbox::Policy::new(off, false, &machine);
    let is_ours = |name: &str| name.starts_with(selkie_config::env::PREFIX);
    let env = binary.env.iter().filter(|(name, _)| !is_ours(name));
    let deps = CredentialDeps {
        redactor: redactor.clone(),
        programs: OwnPrograms { machine, policy, ..OwnPrograms::default() },
        env: Arc::new(env.map(|(name, value)| (name.clone(), value.clone())).collect()),
    };
    Arc::new(AuthProfiles::new(&settings.secrets, &deps))
}

fn shaper(binary: &Binary, settings: &Settings, means: &ToolDeps) -> Result<Shaper, Problems> {
    let tools = &settings.tools.clone().at_home(binary.env.get("HOME"));
    let base = base::build(tools, means).map_err(|e| defect(&e))?;
    let speaking: Vec<ChannelTools> = binary
        .kits
        .iter()
        .map(|kit| ChannelTools { channel: kit.name, tools: kit.speaking })
        .collect();
    let runtime = base::runtime(tools, means);
    let shaper = Shaper::for_channels(Arc::new(base), runtime, &speaking, tools);
    let shaper = shaper.map_err(|e| defect(&e))?;
    let shaper = shaper.with_fetch(base::profile_fetch(tools, means));
    let shaper = shaper.with_speech(settings.speech.is_on());
    Ok(shaper.with_policy(settings.approvals.policy.clone()))
}

/// What cannot go wrong by config and did: said like a problem, so that no start ends without words.
pub fn defect(error: &dyn std::fmt::Display) -> Problems {
    let message = format!("selkie itself is broken: {error}");
    Problems(vec![ConfigProblem { place: Place::default(), key: String::new(), message }])
}
