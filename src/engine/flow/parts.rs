//! What the rooms between channels and agent are made of.

use crate::clocks::Clocks;
use crate::intake::settings::Settings;
pub use crate::work::studio::{ImagesConfig, SpeechConfig, StudioConfig};
pub use crate::work::voice_settings::VoiceConfig;
use selkie_agent::Agent;
use selkie_channel_core::{Channel, PersonId, Redactor};
use selkie_domain::chance::Chance;
use selkie_domain::crash::Crash;
use selkie_domain::event::Events;
use selkie_domain::ids::Instance;
use selkie_domain::live::Live;
use selkie_domain::metrics::Metrics;
use selkie_domain::traces::Traces;
use selkie_llm::Embeddings;
use selkie_llm::{Model, ModelList, Outage, PriceList};
use selkie_memory::SummarySettings;
use selkie_people::forms::Forms;
use selkie_schedule::fixed::FixedSchedule;
use selkie_schedule::zone::Zone;
use selkie_shape::Shaper;
use selkie_store::Ledger;
use selkie_tools::paths::Ours;
use selkie_tools::ports::Small;
use selkie_tools::shell::Processes;
use selkie_tools::{DocumentReader, PictureKeeper};
use std::path::PathBuf;
use std::sync::Arc;

/// Who sums up conversations, and when.
pub struct SummaryConfig {
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
    pub summing: SummaryConfig,
    /// When a model sees that can be chosen: where pictures that people send are made ready for it.
    pub sees: Option<PictureKeeper>,
    /// Who writes down what people say aloud, where somebody does.
    pub voice: Option<VoiceConfig>,
    /// Who makes recordings and pictures of words, where somebody does.
    pub studio: StudioConfig,
    /// What the models cost.
    pub prices: PriceList,
    /// What can be chosen to answer.
    pub models: ModelList,
    /// The schedules that stand in the config.
    pub schedules: Vec<FixedSchedule>,
    /// Which skills there are.
    pub skills: selkie_skills::Settings,
    /// What is the bot's own: closed to every tool.
    pub ours: Ours,
}

/// What the process brings along, and a reload leaves.
pub struct FlowParts {
    /// The channels that are served.
    pub channels: Vec<Channel>,
    /// Those that are known alone: what is made for them waits for whoever serves them.
    pub aside: Vec<Channel>,
    /// The clocks that everything goes by.
    pub clocks: Clocks,
    /// The zone of whoever has set none.
    pub zone: Zone,
    /// Chance.
    pub chance: Arc<dyn Chance>,
    /// How ids of people and places look.
    pub forms: Forms,
    /// Knows every secret of the config.
    pub redactor: Redactor,
    /// Everything that tools run.
    pub processes: Arc<Processes>,
    /// Reads documents that people send.
    pub documents: DocumentReader,
    /// What tells what memories mean.
    pub embeddings: Option<Arc<dyn Embeddings>>,
    /// The folder of what is kept.
    pub state_dir: PathBuf,
    /// The folder of what can be made or fetched again.
    pub cache_dir: PathBuf,
    /// The program's version.
    pub version: &'static str,
}

/// What stays when the config changes.
#[derive(Clone)]
pub struct Standing {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Makes shapes, as the config wants them now.
    pub shaper: Live<Shaper>,
    /// Whether the model is away.
    pub outage: Outage,
    /// Where to die, in tests.
    pub crash: Arc<Crash>,
    /// Who watches.
    pub events: Events,
    /// What is counted and timed.
    pub metrics: Arc<Metrics>,
    /// Who traces tasks.
    pub traces: Traces,
    /// This run of the process.
    pub instance: Instance,
}
