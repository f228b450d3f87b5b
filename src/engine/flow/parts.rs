//! What the rooms between channels and agent are made of.

use selkie_agent::Agent;
use selkie_domain::chance::Chance;
use selkie_domain::clock::SharedClock;
use selkie_domain::crash::Crash;
use selkie_domain::happening::Happenings;
use selkie_domain::ids::Instance;
use selkie_domain::live::Live;
use selkie_domain::metrics::Metrics;
use selkie_domain::traces::Traces;
use crate::intake::settings::Settings;
use selkie_llm::{Embeddings, Model, ModelList, Outage, PriceList};
use selkie_memory::SummarySettings;
use selkie_people::forms::Forms;
use selkie_schedule::alarm::Alarm;
use selkie_schedule::fixed::FixedSchedule;
use selkie_schedule::zone::Zone;
use selkie_shape::Shaper;
use selkie_store::Ledger;
use selkie_tools::PictureKeeper;
use selkie_tools::paths::Ours;
use selkie_tools::ports::Small;
use selkie_tools::shell::Processes;
use selkie_channel_core::{Channel, PersonId, Redactor};
use std::path::PathBuf;
use std::sync::Arc;

/// Who sums up conversations, and when.
pub struct Summing {
    /// The model that is asked.
    pub model: Arc<dyn Small>,
    /// From config.
    pub settings: SummarySettings,
}

/// What a config is made into, at a start and at a reload alike.
pub struct ByConfig {
    /// What flow is told.
    pub settings: Settings,
    /// Always allowed; the first gets notices.
    pub owners: Vec<PersonId>,
    /// Drives runs.
    pub agent: Arc<Agent>,
    /// The same with the heartbeat's model.
    pub heartbeat: Arc<Agent>,
    /// Decides for the group gate.
    pub decision: Arc<dyn Model>,
    /// Sums up conversations that rest.
    pub summing: Summing,
    /// When a model sees that can be chosen: where pictures that people send are made ready for it.
    pub sees: Option<PictureKeeper>,
    /// What the models cost.
    pub prices: PriceList,
    /// What can be chosen to answer.
    pub models: ModelList,
    /// The schedules that stand in the config.
    pub schedules: Vec<FixedSchedule>,
    /// What is the bot's own: closed to every tool.
    pub ours: Ours,
}

/// What flow is made of.
pub struct Parts {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Makes shapes.
    pub shaper: Live<Shaper>,
    /// What a reload puts another in the place of.
    pub by_config: ByConfig,
    /// Whether the model is away.
    pub outage: Outage,
    /// The built channels, without the command line.
    pub channels: Vec<Channel>,
    /// Tells what remembered lines mean; nothing where that is off.
    pub embeddings: Option<Arc<dyn Embeddings>>,
    /// Channels that others serve: schedules may speak there.
    pub aside: Vec<Channel>,
    /// The time.
    pub clock: SharedClock,
    /// The clocks that schedules go by.
    pub alarm: Arc<dyn Alarm>,
    /// The zone of times that name none.
    pub zone: Zone,
    /// Chance.
    pub chance: Arc<dyn Chance>,
    /// Where to die, in tests.
    pub crash: Arc<Crash>,
    /// Who watches.
    pub happenings: Happenings,
    /// What is counted and timed.
    pub metrics: Arc<Metrics>,
    /// Who traces tasks.
    pub traces: Traces,
    /// This run of the process.
    pub instance: Instance,
    /// The state folder.
    pub state_dir: PathBuf,
    /// The folder of cached files.
    pub cache_dir: PathBuf,
    /// How platforms write the ids of people and chats.
    pub forms: Forms,
    /// Hides secrets.
    pub redactor: Redactor,
    /// What tools run, for `/ps`.
    pub processes: Arc<Processes>,
    /// For `/status`.
    pub version: &'static str,
}
