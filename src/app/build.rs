//! Builds everything from config; the only place above the binary that knows concrete types.
//!
//! An [`AppConfig`] touches nothing outside the process and is all that `config check` and `tools list` need.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::danger::ServerCertVerifier;
use selkie_channel_core::{BuildContext, Channel, Problem, Redactor};

use crate::Binary;
use crate::closed::ours;
use crate::host_zone::host_zone;
use crate::http;
use crate::kits::{channels, forms, public_channels};
use crate::models::{ModelFactory, ModelServers};
use crate::tooling::{Tooling, ToolingDeps, defect};
use selkie_config::paths::{ConfigFile, Folders};
use selkie_config::places;
use selkie_config::problem::Problems;
use selkie_config::settings::Settings;
use selkie_config::{Effective, Flag, RawConfig, Sources, read};
use selkie_domain::chance::{Chance, SystemChance};
use selkie_engine::clocks::Clocks;
use selkie_llm as llm;
use selkie_llm::{Model, StandIn};
use selkie_mcp::Servers;
use selkie_people::forms::Forms;
use selkie_schedule::zone::Zone;
use selkie_shape::Shaper;
use selkie_tools::auth::AuthProfiles;
use selkie_tools::isolate::Isolate;
use selkie_tools::paths::{CREDENTIALS, Ours};
use selkie_tools::ports::Small;
use selkie_tools::shell::Processes;

/// The version of this selkie.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the command line says about config.
#[derive(Clone, Debug)]
pub struct ConfigChoice {
    /// The file that is read.
    pub file: ConfigFile,
    /// `--state`.
    pub state: Option<PathBuf>,
    /// Values that rank above everything: the demo's.
    pub flags: Vec<Flag>,
}

/// Everything that can be built without touching a disk or the network.
pub struct AppConfig {
    /// The settings.
    pub settings: Settings,
    /// Where things lie.
    pub folders: Folders,
    /// The file that it was read from, if there is one.
    pub file: Option<PathBuf>,
    /// What is the bot's own: closed to every tool.
    pub ours: Ours,
    /// The channels that have a section, and are served by this process.
    pub channels: Vec<Channel>,
    /// Those that are known to it alone: what is made for them waits for whoever serves them.
    pub aside: Vec<Channel>,
    /// The `main` route.
    pub model: Arc<dyn Model>,
    /// The `decision` route.
    pub decision: Arc<dyn Model>,
    /// The servers beside the models.
    pub servers: ModelServers,
    /// Other servers' tools.
    pub mcp: Arc<Servers>,
    /// Tells what was agreed to of servers and skills from what was before.
    pub agreed: String,
    /// Credentials that requests carry.
    pub auth: Arc<AuthProfiles>,
    /// The `small` route, for one question at a time.
    pub small: Arc<dyn Small>,
    /// Every profile by its name.
    pub profiles: Arc<llm::Profiles>,
    /// The `heartbeat` route.
    pub heartbeat: Arc<dyn Model>,
    /// What tasks may do.
    pub shaper: Arc<Shaper>,
    /// Whether commands run in the sandbox.
    pub sandbox: selkie_sandbox::Policy,
    /// How platforms write the ids of people and chats.
    pub forms: Forms,
    /// Knows every secret of the config.
    pub redactor: Redactor,
    /// Everything that tools run.
    pub processes: Arc<Processes>,
    /// Where foreign bytes are worked on.
    pub isolate: Arc<dyn Isolate>,
    /// The one TLS configuration.
    pub tls: Arc<ClientConfig>,
    /// Whom it trusts.
    pub trust: Arc<dyn ServerCertVerifier>,
    /// What is right and still may not be what the config's writer wants, a sentence each.
    pub notes: Vec<String>,
    /// The zone of times that name none.
    pub zone: Zone,
    /// Names of the sections that channels read.
    pub sections: Vec<&'static str>,
    /// What it comes to, to be compared with another.
    pub written: Effective,
    /// What is wrong with the config: this was made of the rest, and opens no store.
    pub mistakes: Option<Problems>,
    /// What it goes by in time.
    pub clocks: Clocks,
    /// Chance.
    pub chance: Arc<dyn Chance>,
    /// Answers where no model is configured.
    pub stand_in: StandIn,
}

/// What outlives a config, and another is read on.
#[derive(Clone)]
pub struct Carryover {
    /// The clocks that everything goes by.
    pub clocks: Clocks,
    /// Knows the secrets of all that were read.
    pub redactor: Redactor,
    /// Everything that tools run.
    pub processes: Arc<Processes>,
    /// What answers where no model does.
    pub stand_in: StandIn,
}

impl Carryover {
    fn new(binary: &Binary, clocks: Clocks) -> Self {
        let processes = Arc::new(Processes::new(binary.launcher.clone()));
        Self { clocks, redactor: Redactor::default(), processes, stand_in: binary.stand_in }
    }
}

impl AppConfig {
    /// Serves the terminal alone: nothing is heard, no platform is answered. What posts does post: nobody else would
    /// tell whoever asks what became of it.
    pub fn at_terminal(self) -> Self {
        let (posts, aside): (Vec<_>, Vec<_>) =
            self.channels.into_iter().partition(|channel| channel.posting.is_some());
        let deaf = |channel| Channel { receiver: None, ..channel };
        Self { channels: posts.into_iter().map(deaf).collect(), aside, ..self }
    }
}

/// Whether the folders and programs that the config names are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Places {
    Looked,
    Aside,
}

/// Lists where config comes from.
pub fn sources(binary: &Binary, chosen: &ConfigChoice) -> Sources {
    let state = chosen.state.as_ref().map(|path| Flag {
        name: "--state".to_owned(),
        value: serde_json::json!({ "file_state_dir": binary.here.join(path) }),
    });
    Sources {
        file: chosen.file.clone(),
        env: binary.env.clone(),
        flags: chosen.flags.iter().cloned().chain(state).collect(),
        here: binary.here.clone(),
    }
}

/// Reads the config and builds what needs nothing else.
///
/// # Errors
/// Everything that is wrong with the config, at once.
pub fn plan(binary: &Binary, chosen: &ConfigChoice) -> Result<AppConfig, Problems> {
    planned(binary, chosen, Places::Aside, Carryover::new(binary, Clocks::machine()))
}

/// The same for a demo, by its clocks.
///
/// # Errors
/// Everything that is wrong with the config, at once.
pub fn plan_of_demo(
    binary: &Binary,
    chosen: &ConfigChoice,
    clocks: Clocks,
) -> Result<AppConfig, Problems> {
    let kept = Carryover { stand_in: binary.stand_in.in_demo(), ..Carryover::new(binary, clocks) };
    planned(binary, chosen, Places::Aside, kept)
}

/// The same for a daemon: what the config names on this machine must be fit for use, too.
///
/// # Errors
/// Everything that is wrong with the config, at once.
pub fn plan_to_run(binary: &Binary, chosen: &ConfigChoice) -> Result<AppConfig, Problems> {
    planned(binary, chosen, Places::Looked, Carryover::new(binary, Clocks::machine()))
}

/// The same for a daemon that runs.
///
/// # Errors
/// Everything that is wrong with the config, at once.
pub fn plan_anew(
    binary: &Binary,
    chosen: &ConfigChoice,
    kept: Carryover,
) -> Result<AppConfig, Problems> {
    planned(binary, chosen, Places::Looked, kept)
}

/// Builds what is sound of it, however much is wrong.
///
/// # Errors
/// When nothing can be built.
pub fn plan_of_sound(binary: &Binary, chosen: &ConfigChoice) -> Result<AppConfig, Problems> {
    sound(binary, chosen, Places::Aside, Carryover::new(binary, Clocks::machine()))
}

fn planned(
    binary: &Binary,
    chosen: &ConfigChoice,
    places: Places,
    kept: Carryover,
) -> Result<AppConfig, Problems> {
    let mut config = sound(binary, chosen, places, kept)?;
    config.mistakes.take().map_or(Ok(config), Err)
}

fn sound(
    binary: &Binary,
    chosen: &ConfigChoice,
    places: Places,
    kept: Carryover,
) -> Result<AppConfig, Problems> {
    let (trust, tls) = trusted()?;
    let chance: Arc<dyn Chance> = Arc::new(SystemChance);
    let parts = ConfigParts::read(binary, chosen, places, &kept, &tls, &chance)?;
    let ConfigParts { settings, folders, channels, routes, servers, .. } = parts;
    let Carryover { clocks, redactor, processes, stand_in } = kept;
    let ours = ours(binary, &folders, &chosen.file, parts.named);
    let tooling = Tooling::of(ToolingDeps {
        binary,
        settings: &settings,
        tls: &tls,
        routes: &routes,
        processes,
        posting: public_channels(binary, &channels),
        ours: &ours,
        folders: &folders,
        clock: &clocks.clock,
        redactor: &redactor,
    })?;
    let Tooling { means, shaper, sandbox, mcp, agreed, placed, notes } = tooling;
    let llm::Routes { main: model, decision, heartbeat, profiles, .. } = routes;
    Ok(AppConfig {
        servers,
        zone: settings.timezone.unwrap_or_else(|| host_zone(&binary.env)),
        settings: Settings { placed, ..settings },
        ours,
        mcp,
        agreed,
        folders,
        file: chosen.file.path().and_then(|path| binary.here.join(path).canonicalize().ok()),
        channels,
        aside: Vec::new(),
        model,
        decision,
        small: means.small,
        auth: means.auth,
        profiles,
        heartbeat,
        shaper,
        sandbox,
        forms: forms(binary),
        redactor,
        processes: means.processes,
        isolate: Arc::clone(&binary.isolate),
        tls,
        trust,
        notes: parts.notes.into_iter().chain(notes).collect(),
        sections: binary.kits.iter().map(|kit| kit.name).collect(),
        written: parts.written,
        mistakes: parts.mistakes,
        clocks,
        chance,
        stand_in,
    })
}

/// What is read and made of a config before its tools.
struct ConfigParts {
    settings: Settings,
    folders: Folders,
    channels: Vec<Channel>,
    routes: llm::Routes,
    servers: ModelServers,
    /// Files that it names.
    named: Vec<PathBuf>,
    notes: Vec<String>,
    written: Effective,
    mistakes: Option<Problems>,
}

impl ConfigParts {
    fn read(
        binary: &Binary,
        chosen: &ConfigChoice,
        places: Places,
        kept: &Carryover,
        tls: &Arc<ClientConfig>,
        chance: &Arc<dyn Chance>,
    ) -> Result<Self, Problems> {
        let Carryover { clocks, redactor, stand_in, .. } = kept;
        let mut reading = read_known(binary, chosen, redactor)?;
        let found = reading.folders().map(|found| found.folders);
        let context = build_context(found.as_ref(), tls, redactor, clocks);
        let channels = channels(binary, &context, &mut reading);
        let models = ModelFactory::new(tls, redactor, &clocks.clock, chance, *stand_in);
        let routes = models.routes(&mut reading);
        let servers = models.servers(&mut reading);
        look_at_places(&mut reading, binary, places);
        let named = reading.files.clone();
        let notes = notes(&reading);
        let written = reading.effective();
        let (settings, mistakes) = reading.finish_sound();
        let Some((mut settings, routes)) = settings.zip(routes) else { return Err(mistakes) };
        settings.backup.dir = settings.backup.dir.map(|dir| binary.here.join(dir));
        let folders = found.ok_or_else(|| Problems(Vec::new()))?;
        let mistakes = (!mistakes.0.is_empty()).then_some(mistakes);
        Ok(Self { settings, folders, channels, routes, servers, named, notes, written, mistakes })
    }
}

/// Reads the config, whose secrets are known from then on.
fn read_known(
    binary: &Binary,
    chosen: &ConfigChoice,
    redactor: &Redactor,
) -> Result<RawConfig, Problems> {
    let reading = read(&sources(binary, chosen), &binary.kits)?;
    reading.secrets().iter().for_each(|secret| redactor.learn(secret));
    Ok(reading)
}

/// Whom the one TLS configuration trusts, and that configuration.
fn trusted() -> Result<(Arc<dyn ServerCertVerifier>, Arc<ClientConfig>), Problems> {
    let trust = http::trust();
    let tls = http::tls_by(Arc::clone(&trust)).map_err(|e| defect(&e))?;
    Ok((trust, tls))
}

/// What channels are built with.
fn build_context(
    folders: Option<&Folders>,
    tls: &Arc<ClientConfig>,
    redactor: &Redactor,
    clocks: &Clocks,
) -> BuildContext {
    let time = Arc::clone(&clocks.clock);
    let state_dir = folders.map(|folders| folders.state.clone()).unwrap_or_default();
    BuildContext {
        tls: Arc::clone(tls),
        redactor: redactor.clone(),
        user_agent: http::USER_AGENT.to_owned(),
        cache_dir: folders.map(|folders| folders.cache.clone()).unwrap_or_default(),
        state_dir: state_dir.join(CREDENTIALS),
        now: Arc::new(move || time.now()),
    }
}

/// Adds what is wrong with the folders and programs that the config names, where these are looked for.
fn look_at_places(reading: &mut RawConfig, binary: &Binary, places: Places) {
    if places == Places::Aside {
        return;
    }
    let Some((settings, found)) = reading.settings().zip(reading.folders()) else { return };
    for places::Unfit { key, variable, message } in
        places::problems(settings, &found, &binary.env, &binary.here)
    {
        match variable {
            Some(variable) => reading.add_of_variable(variable, &key, message),
            None => reading.add("", vec![Problem { key, message }]),
        }
    }
}

fn notes(reading: &RawConfig) -> Vec<String> {
    let folders = reading.folders().and_then(|found| found.note());
    let models = reading
        .settings()
        .map(|settings| [settings.llm.notes(), llm::unpriced(&settings.llm)].concat());
    let models = models.unwrap_or_default();
    let weak = reading.weak_secrets().into_iter().map(|key| {
        format!(
            "{key} holds a secret that is short or like a word: it is hidden where it stands as one (in a URL, behind \
             its name) and not in other text; take one of 12 characters or more, letters and digits mixed"
        )
    });
    reading.notes.iter().cloned().chain(folders).chain(models).chain(weak).collect()
}
