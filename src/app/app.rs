//! What a config becomes when its store is open: everything that moves.

use std::path::Path;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;

use crate::backup::{BackupSchedule, begun};
use crate::build::{AppConfig, Carryover, VERSION};
use crate::configured_program::ProgramParts;
use crate::ledger;
use crate::mcp;
use crate::otlp::Exporter;
use crate::posts;
use crate::process;
use crate::skills::skill_settings;
use crate::speech::speaker;
use crate::state;
use crate::templates;
use crate::transcription::transcriber;
use selkie_agent::Agent;
use selkie_config::crash_at;
use selkie_config::settings::Settings;
use selkie_console::{ChannelView, Console, Health, Posts};
use selkie_domain::clock::{SharedClock, SystemClock};
use selkie_domain::crash::Crash;
use selkie_domain::event::Events;
use selkie_domain::ids::Instance;
use selkie_domain::live::Live;
use selkie_domain::metrics::Metrics;
use selkie_engine::delivery::{ChannelState, ListenState};
use selkie_engine::flow::{
    ByConfig, Flow, FlowParts, ImagesConfig, SpeechConfig, Standing, StudioConfig, SummaryConfig,
    VoiceConfig,
};
use selkie_hooks::Door;
use selkie_llm::{self as llm, Model, Outage, Speaker, Transcriber, WatchedModel};
use selkie_memory as memory;
use selkie_people::files::Files;
use selkie_shape::Shaper;
use selkie_store::database::Database;
use selkie_store::read::Reader;
use selkie_store::snapshot::Source;
use selkie_store::{Ledger, Schedules, StoreError};
use selkie_tools::{DocumentReader, PictureKeeper};

/// A plan with its store and everything that moves.
pub struct App {
    /// The rows.
    pub ledger: Arc<dyn Ledger>,
    /// Intake, workers, delivery workers.
    pub flow: Arc<Flow>,
    /// What happens, live.
    pub events: Events,
    /// What is counted and timed.
    pub metrics: Arc<Metrics>,
    /// The time.
    pub clock: SharedClock,
    /// What a config is made into, over and over.
    pub standing: Standing,
    /// Makes the shapes of now.
    pub shaper: Live<Shaper>,
    /// What answers now, for people.
    pub model: Live<str>,
    /// Takes webhooks, by the hooks of now.
    pub webhooks: Arc<Door>,
    /// Backups that the config asks for.
    pub backups: Option<Arc<BackupSchedule>>,
    /// Sends traces, until the daemon takes it to run.
    pub exporter: Mutex<Option<Exporter>>,
    /// What it was built from.
    pub plan: AppConfig,
}

impl AppConfig {
    /// Makes the folders, takes the store's lock and builds the rest.
    ///
    /// # Errors
    /// When the config has mistakes, a folder cannot be made, or the store is held, newer or broken.
    pub fn open(mut self) -> anyhow::Result<App> {
        if let Some(mistakes) = self.mistakes.take() {
            return Err(mistakes.into());
        }
        self.prepare()?;
        let instance = Self::instance();
        let ledger = ledger::open(self.ledger_for(&instance)).map_err(|error| match error {
            StoreError::Held(why) => StoreError::Held(format!(
                "{why}. If selkie was just started or stopped, try again in a moment"
            )),
            other => other,
        })?;
        Ok(self.open_on(ledger, instance))
    }

    /// Whether anything was kept before: in its folder, or in a database elsewhere. Any other folder is left as it is.
    pub fn has_state(&self) -> bool {
        self.settings.store.url.is_some() || self.folders.state.join("selkie.db").exists()
    }

    /// Makes the folders and what lies in them from the start.
    ///
    /// # Errors
    /// When a folder cannot be made.
    pub fn prepare(&self) -> anyhow::Result<()> {
        refuse_half_restored(&self.folders.state)?;
        state::prepare(&self.folders)?;
        let is_used = templates::are_laid_out(&self.folders.state);
        templates::lay_out(&self.folders.state, self.clocks.clock.now())?;
        self.meet_files(is_used)
    }

    /// Looks at the files that people write, too, before a task does.
    fn meet_files(&self, is_used: bool) -> anyhow::Result<()> {
        let files = Files::new(self.folders.state.clone(), Arc::new(SystemClock));
        // What somebody writes into a folder before selkie uses it is theirs.
        if is_used {
            memory::meet(&files)?;
        }
        if let Err(error) = files.meet_lists() {
            // Who reads the lists is told, too.
            tracing::warn!(%error, "the todo files were not looked at");
        }
        Ok(())
    }

    /// Says what is missing when a config gives nothing to do.
    pub fn needs_something_to_do(&self) -> Option<String> {
        let idle = self.channels.is_empty() && self.settings.console.listen.is_none();
        idle.then(|| {
            "no channel is configured: run `selkie init`, or write a section with its token in config.yaml (see `selkie \
             config example`); `selkie demo` needs none"
                .to_owned()
        })
    }

    /// Whether no channel and no model is set up.
    pub fn is_unconfigured(&self) -> bool {
        self.channels.is_empty() && !self.settings.llm.is_configured()
    }

    /// Returns what outlives this config, for another.
    pub fn kept(&self) -> Carryover {
        Carryover {
            clocks: self.clocks.clone(),
            redactor: self.redactor.clone(),
            processes: Arc::clone(&self.processes),
            stand_in: self.stand_in,
        }
    }

    /// Says how what is remembered is found.
    pub fn finds_memory_by(&self) -> String {
        match &self.servers.embeddings {
            Some(server) => format!("searched by keyword and by meaning ({})", server.model()),
            None => "searched by keyword: memory.embeddings.endpoint is not set".to_owned(),
        }
    }

    /// Makes what writes down voice messages; nothing where that is off.
    pub fn transcriber(&self) -> Option<Arc<dyn Transcriber>> {
        let server = self.servers.transcription.clone();
        transcriber(&self.program_parts(), &self.isolate, &self.settings, server)
    }

    /// Makes what says words aloud; nothing where that is off.
    pub fn speaker(&self) -> Option<Arc<dyn Speaker>> {
        speaker(&self.program_parts(), &self.settings, self.servers.speech.clone())
    }

    fn program_parts(&self) -> ProgramParts<'_> {
        ProgramParts {
            folders: &self.folders,
            ours: &self.ours,
            sandbox: &self.sandbox,
            machine: self.processes.machine(),
        }
    }

    fn studio(&self) -> StudioConfig {
        let Settings { speech, images, .. } = &self.settings;
        StudioConfig {
            speech: self.speaker().map(|speaker| SpeechConfig { speaker, per_day: speech.per_day }),
            images: self.servers.images.clone().map(|maker| ImagesConfig {
                maker,
                per_day: images.per_day,
                micro_usd: images.micro_usd(),
            }),
        }
    }

    /// Returns the time.
    pub fn now(&self) -> DateTime<Utc> {
        self.clocks.clock.now()
    }

    /// Returns the clock.
    pub fn clock(&self) -> SharedClock {
        Arc::clone(&self.clocks.clock)
    }

    /// Names an instance, as no other one is named.
    pub fn instance() -> String {
        uuid::Uuid::now_v7().to_string()
    }

    /// Says which ledger an instance opens.
    pub fn ledger_for<'a>(&'a self, instance: &'a str) -> ledger::LedgerName<'a> {
        ledger::LedgerName {
            settings: &self.settings.store,
            state: &self.folders.state,
            tls: &self.tls,
            instance,
            clock: &self.clocks.clock,
        }
    }

    fn flow_parts(&self) -> FlowParts {
        FlowParts {
            channels: self.channels.clone(),
            aside: self.aside.clone(),
            clocks: self.clocks.clone(),
            zone: self.zone,
            chance: Arc::clone(&self.chance),
            forms: self.forms.clone(),
            redactor: self.redactor.clone(),
            processes: Arc::clone(&self.processes),
            documents: DocumentReader { isolate: Arc::clone(&self.isolate) },
            embeddings: self.servers.embeddings.clone(),
            state_dir: self.folders.state.clone(),
            cache_dir: self.folders.cache.clone(),
            version: VERSION,
        }
    }

    /// Says what a copy of the store is made from, or a look at it.
    ///
    /// # Errors
    /// What is wrong with `store.url`, to be said behind it.
    pub fn source(&self) -> Result<Source<'_>, String> {
        Ok(Source {
            state: &self.folders.state,
            database: Database::read(&self.settings.store)?,
            opener: ledger::opener(&Self::instance()),
            tls: &self.tls,
            now: self.now(),
        })
    }

    /// Builds what works on a ledger that this instance has opened.
    pub fn open_on(self, ledger: Arc<dyn Ledger>, instance: String) -> App {
        // The store's lock is held: whatever an earlier daemon left running is nobody's.
        let now = self.clocks.clock.now();
        self.processes.begin(self.folders.state.join("run/processes.json"), now);
        let metrics = Arc::<Metrics>::default();
        let exporter = Exporter::of(&self, &instance, &metrics);
        let (traces, exporter) = exporter.map_or_else(Default::default, |(t, e)| (t, Some(e)));
        let standing = Standing {
            ledger: Arc::clone(&ledger),
            shaper: Live::of(Arc::clone(&self.shaper)),
            outage: Outage::default(),
            crash: Arc::new(crash(&self.settings)),
            events: Events::default(),
            metrics: Arc::clone(&metrics),
            traces,
            instance: Instance(instance),
        };
        let flow = Flow::new(self.flow_parts(), standing.clone(), self.made(&standing));
        mcp::tell_by(&self.mcp, &flow);
        let backups = BackupSchedule::of(&self);
        let clock = self.clock();
        let time = Arc::clone(&clock);
        let taking = Arc::new(flow.webhooks());
        let webhooks = Door::new(&self.settings.webhooks, taking, Arc::new(move || time.now()));
        let model = Live::of(self.model.card().name);
        App {
            ledger,
            flow,
            events: standing.events.clone(),
            metrics,
            clock,
            webhooks,
            backups,
            exporter: Mutex::new(exporter),
            shaper: standing.shaper.clone(),
            standing,
            model,
            plan: self,
        }
    }

    /// Makes of the config what is used for tasks, at a start and at a reload alike.
    pub fn made(&self, standing: &Standing) -> ByConfig {
        if self.settings.flow().has_gate() && self.settings.llm.routes.decision.is_none() {
            tracing::warn!(
                "llm.routes.decision is not set: the main model decides about every line of groups in smart or \
                 talkative mode; name a small model there to spend less"
            );
        }
        ByConfig {
            settings: self.settings.flow(),
            owners: self.settings.owners.iter().map(|o| PersonId::new(o.as_str())).collect(),
            agent: self.agent(standing, &self.model),
            heartbeat: self.agent(standing, &self.heartbeat),
            decision: Arc::clone(&self.decision),
            summing: SummaryConfig {
                model: Arc::clone(&self.small),
                settings: self.settings.memory.summary,
            },
            sees: self.keeper(),
            voice: self.transcriber().map(|transcriber| VoiceConfig {
                transcriber,
                settings: self.settings.transcription.clone(),
            }),
            studio: self.studio(),
            prices: llm::price_list(&self.settings.llm),
            models: llm::model_list(&self.settings.llm),
            schedules: self.settings.schedules.clone(),
            skills: skill_settings(&self.settings),
            ours: self.ours.clone(),
        }
    }

    fn agent(&self, standing: &Standing, model: &Arc<dyn Model>) -> Arc<Agent> {
        let Standing { ledger, events, metrics, crash, outage, .. } = standing.clone();
        let clock = Arc::clone(&self.clocks.clock);
        let model = WatchedModel { inner: Arc::clone(model), outage, clock };
        Arc::new(Agent {
            model: Arc::new(model),
            profiles: Arc::clone(&self.profiles),
            work: ledger as Arc<dyn selkie_store::Work>,
            events,
            metrics,
            crash,
            clock: Arc::clone(&self.clocks.clock),
            redactor: self.redactor.clone(),
            settings: self.settings.agent.clone(),
        })
    }
}

/// Refuses a state folder in which a restore was broken off.
fn refuse_half_restored(state: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(
        begun(state).is_none(),
        "a restore was interrupted in {}: run `selkie restore` with the same backup again, and it continues where it \
         stopped",
        state.display()
    );
    Ok(())
}

impl AppConfig {
    /// What makes people's pictures ready, when a model sees that can be chosen.
    fn keeper(&self) -> Option<PictureKeeper> {
        let isolate = Arc::clone(&self.isolate);
        let sees = self.profiles.values().any(|model| model.card().sees_images);
        sees.then_some(PictureKeeper { isolate })
    }
}

impl App {
    /// Returns the read API over this app.
    pub fn console(&self, health: Arc<dyn Health>) -> Console {
        let shaper = self.shaper.clone();
        let flow = Arc::clone(&self.flow);
        let ledger = Arc::clone(&self.ledger);
        Console {
            ledger: Arc::clone(&self.ledger) as Arc<dyn Reader>,
            schedules: Arc::clone(&self.ledger) as Arc<dyn Schedules>,
            post_url: self.flow.post_urls(),
            posts: listed(Arc::clone(&self.flow)),
            knowledge: Arc::clone(&self.flow) as _,
            clock: Arc::clone(&self.clock),
            explain: Arc::new(move |facts| shaper.now().shape(facts).explain()),
            events: self.events.clone(),
            health,
            channels: Arc::new(move || flow.channels().into_iter().map(view).collect()),
            syncs: Arc::new(move || ledger.syncs()),
            version: VERSION,
            model: self.model.clone(),
            wall: self.plan.settings.console.wall(),
        }
    }
}

fn listed(flow: Arc<Flow>) -> Posts {
    Arc::new(move || {
        let flow = Arc::clone(&flow);
        Box::pin(async move { posts::list(&flow).await })
    })
}

fn view(channel: ChannelState) -> ChannelView {
    let ChannelState { name, account, hearing, .. } = channel;
    let state = match hearing {
        ListenState::Off => "off".to_owned(),
        ListenState::Listening => "listening".to_owned(),
        ListenState::Refused { reason } => format!("refused: {reason}"),
    };
    ChannelView { name: name.to_owned(), account: account.to_string(), state }
}

fn crash(settings: &Settings) -> Crash {
    let Some((point, nth)) = settings.debug.crash_at.as_deref().and_then(crash_at) else {
        return Crash::default();
    };
    tracing::warn!(
        point = point.name(),
        nth,
        "debug.crash_at is set: THIS PROCESS WILL KILL ITSELF; for tests only"
    );
    Crash::at(point, nth, process::kill)
}
