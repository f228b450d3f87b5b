//! Stand-ins for parts that are being written beside this: the integrator deletes this file and the
//! places that import it take the real ones.

/// `crate::store::open`.
pub mod store {
    use std::path::Path;
    use std::sync::Arc;

    use crate::store::{Ledger, Result, StoreError};

    /// Opens the ledger of a state folder.
    pub fn open(state: &Path) -> Result<Arc<dyn Ledger>> {
        Err(StoreError::Broken(format!("no store was built for {}", state.display())))
    }
}

/// `crate::llm::build`.
pub mod llm {
    use std::sync::Arc;

    use selkie_channel_core::{Problem, Redactor};

    use crate::config::settings::LlmSettings;
    use crate::domain::chance::Chance;
    use crate::domain::clock::SharedClock;
    use crate::llm::{Card, Model, ModelError, Reply, Request};

    /// Makes the HTTP client.
    pub type HttpFactory = dyn Fn() -> Result<reqwest::Client, String> + Send + Sync;

    /// Who answers what.
    pub struct Routes {
        /// The main route.
        pub main: Arc<dyn Model>,
    }

    /// Builds the routes.
    pub fn build(
        settings: &LlmSettings,
        http: &HttpFactory,
        redactor: &Redactor,
        clock: &SharedClock,
        chance: &Arc<dyn Chance>,
    ) -> Result<Routes, Vec<Problem>> {
        let _ = (settings, http, redactor, clock, chance);
        Ok(Routes { main: Arc::new(Nobody) })
    }

    struct Nobody;

    #[async_trait::async_trait]
    impl Model for Nobody {
        async fn ask(
            &self,
            _: &Request,
            _: &(dyn Fn(&str) + Send + Sync),
        ) -> Result<Reply, ModelError> {
            Err(ModelError::Unusable { why: "no model was built".to_owned() })
        }

        fn card(&self) -> Card {
            Card { name: "none".to_owned(), context: 0, sees_images: false }
        }
    }
}

/// `crate::tools::base`.
pub mod tools {
    use crate::config::settings::ToolsSettings;
    use crate::tools::registry::Base;

    /// Builds the base registry.
    pub fn build(settings: &ToolsSettings) -> Result<Base, String> {
        let _ = settings;
        Base::build(Vec::new())
    }
}

/// `crate::flow`.
pub mod flow {
    use std::path::PathBuf;
    use std::sync::Arc;

    use selkie_channel_core::{Channel, PersonId, Redactor};
    use tokio::sync::mpsc;
    use tokio_util::sync::CancellationToken;
    use tokio_util::task::TaskTracker;

    use crate::agent::Agent;
    use crate::config::settings::FlowSettings;
    use crate::domain::chance::Chance;
    use crate::domain::clock::SharedClock;
    use crate::domain::crash::Crash;
    use crate::domain::happening::{Happening, Happenings};
    use crate::domain::ids::Boot;
    use crate::shape::Shaper;
    use crate::store::{Ledger, StoreError};

    /// What flow is made of.
    pub struct Parts {
        pub ledger: Arc<dyn Ledger>,
        pub shaper: Arc<Shaper>,
        pub agent: Arc<Agent>,
        pub channels: Vec<Channel>,
        pub owners: Vec<PersonId>,
        pub settings: FlowSettings,
        pub clock: SharedClock,
        pub chance: Arc<dyn Chance>,
        pub crash: Arc<Crash>,
        pub happenings: Happenings,
        pub boot: Boot,
        pub state_dir: PathBuf,
        pub cache_dir: PathBuf,
        pub redactor: Redactor,
        pub version: &'static str,
    }

    /// Intake, workers, couriers.
    pub struct Flow;

    /// When to stop what.
    #[derive(Clone, Default)]
    pub struct Stop {
        /// Hear nothing new, begin nothing new.
        pub receivers: CancellationToken,
        /// End at once.
        pub work: CancellationToken,
    }

    /// A task from the command line.
    #[derive(Clone, Debug)]
    pub struct Ask {
        /// The folder it is about.
        pub workspace: PathBuf,
        /// What is asked.
        pub text: String,
        /// Somebody sits at it.
        pub terminal: bool,
    }

    /// What comes back.
    pub enum AskEvent {
        /// Progress.
        Happening(Happening),
        /// An answer.
        Said(String),
        /// The end: `done`, `failed`, `stopped`.
        Ended {
            /// Which of them.
            state: String,
        },
    }

    /// How a channel stands.
    pub struct ChannelState {
        pub name: &'static str,
        pub account: selkie_channel_core::AccountId,
        pub hearing: Hearing,
    }

    /// Whether a channel hears.
    pub enum Hearing {
        Off,
        Listening,
        Refused { reason: String },
    }

    impl Flow {
        /// Tells how the channels stand.
        pub fn channels(&self) -> Vec<ChannelState> {
            Vec::new()
        }

        /// Builds it.
        pub fn new(parts: Parts) -> Arc<Self> {
            let _ = parts;
            Arc::new(Self)
        }

        /// Starts it.
        pub async fn start(
            self: &Arc<Self>,
            tracker: &TaskTracker,
            stop: Stop,
        ) -> Result<(), StoreError> {
            let _ = (tracker, stop);
            Ok(())
        }

        /// Asks.
        pub async fn ask(&self, ask: Ask) -> Result<mpsc::Receiver<AskEvent>, StoreError> {
            let _ = ask;
            Ok(mpsc::channel(1).1)
        }
    }
}

/// `crate::console`.
pub mod console {
    use std::io;
    use std::sync::Arc;

    use tokio::net::TcpListener;
    use tokio_util::sync::CancellationToken;

    use crate::config::settings::ConsoleSettings;
    use crate::domain::facts::Facts;
    use crate::domain::happening::Happenings;
    use crate::shape::Explained;
    use crate::store::Ledger;

    /// Everything the read API reads.
    pub struct Console {
        pub ledger: Arc<dyn Ledger>,
        pub explain: Arc<dyn Fn(&Facts) -> Explained + Send + Sync>,
        pub happenings: Happenings,
        pub channels: Arc<dyn Fn() -> Vec<ChannelView> + Send + Sync>,
        pub version: &'static str,
        pub model: String,
        pub allow_origin: Option<String>,
    }

    /// A channel for people.
    pub struct ChannelView {
        pub name: String,
        pub account: String,
        pub state: String,
    }

    impl Console {
        /// Serves.
        pub async fn serve(self, listener: TcpListener, stop: CancellationToken) -> io::Result<()> {
            stop.cancelled().await;
            drop((self, listener));
            Ok(())
        }
    }

    impl ConsoleSettings {
        /// Listens.
        pub async fn listen(&self) -> io::Result<Option<TcpListener>> {
            match &self.listen {
                Some(address) => TcpListener::bind(address).await.map(Some),
                None => Ok(None),
            }
        }
    }
}
