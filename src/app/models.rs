//! Builds the models and the servers of embeddings, of speech and of pictures that a config names, and adds what is wrong with them.

use std::sync::Arc;

use rustls::ClientConfig;
use selkie_channel_core::{Problem, Redactor};

use crate::http;
use selkie_config::RawConfig;
use selkie_config::settings::Settings;
use selkie_domain::chance::Chance;
use selkie_domain::clock::SharedClock;
use selkie_llm as llm;
use selkie_llm::{Embeddings, HttpFactory, ImageMaker, Speaker, StandIn, Transcriber};

/// What models are built with.
pub struct ModelFactory<'a> {
    tls: &'a Arc<ClientConfig>,
    redactor: &'a Redactor,
    clock: &'a SharedClock,
    chance: &'a Arc<dyn Chance>,
    stand_in: StandIn,
}

/// Servers that are asked for something else than answers.
pub struct ModelServers {
    /// Tells what remembered lines mean.
    pub embeddings: Option<Arc<dyn Embeddings>>,
    /// Writes down voice messages.
    pub transcription: Option<Arc<dyn Transcriber>>,
    /// Says words aloud.
    pub speech: Option<Arc<dyn Speaker>>,
    /// Makes pictures.
    pub images: Option<Arc<dyn ImageMaker>>,
}

impl<'a> ModelFactory<'a> {
    /// Builds with these; `redactor` learns their keys, `stand_in` answers where no model is configured.
    pub fn new(
        tls: &'a Arc<ClientConfig>,
        redactor: &'a Redactor,
        clock: &'a SharedClock,
        chance: &'a Arc<dyn Chance>,
        stand_in: StandIn,
    ) -> Self {
        Self { tls, redactor, clock, chance, stand_in }
    }

    /// Builds the routes: those of the defaults where the config's are wrong; `None` where there are no settings.
    pub fn routes(&self, reading: &mut RawConfig) -> Option<llm::Routes> {
        match self.build(&reading.settings()?.llm) {
            Ok(routes) => Some(routes),
            Err(problems) => {
                reading.add("llm", problems);
                self.build(&llm::Settings::default()).ok()
            }
        }
    }

    /// Builds the servers beside them that the config names.
    pub fn servers(&self, reading: &mut RawConfig) -> ModelServers {
        ModelServers {
            embeddings: self.server(reading, "memory", "embeddings.", |settings, client| {
                let wanted = &settings.memory.embeddings;
                llm::embeddings(wanted, client, self.redactor, self.clock)
            }),
            transcription: self.server(reading, "transcription", "", |settings, client| {
                llm::transcription(&settings.transcription, client, self.redactor, self.clock)
            }),
            speech: self.server(reading, "speech", "", |settings, client| {
                llm::speech(&settings.speech, client, self.redactor, self.clock)
            }),
            images: self.server(reading, "images", "", |settings, client| {
                llm::images(&settings.images, client, self.redactor, self.clock)
            }),
        }
    }

    /// Builds one of them, and adds what is wrong with its section, whose keys begin like this.
    fn server<T: ?Sized>(
        &self,
        reading: &mut RawConfig,
        section: &str,
        begins: &str,
        build: impl Fn(&Settings, &HttpFactory) -> Result<Option<Arc<T>>, Vec<Problem>>,
    ) -> Option<Arc<T>> {
        let built = build(reading.settings()?, &self.client());
        built.unwrap_or_else(|problems| {
            let inside =
                |Problem { key, message }| Problem { key: format!("{begins}{key}"), message };
            reading.add(section, problems.into_iter().map(inside).collect());
            None
        })
    }

    fn build(&self, settings: &llm::Settings) -> Result<llm::Routes, Vec<Problem>> {
        let client = self.client();
        llm::build(settings, self.stand_in, &client, self.redactor, self.clock, self.chance)
    }

    fn client(&self) -> impl Fn() -> Result<reqwest::Client, String> + Send + Sync + 'static {
        let tls = Arc::clone(self.tls);
        move || http::client(&tls).map_err(|e| e.to_string())
    }
}
