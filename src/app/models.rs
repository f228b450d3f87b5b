//! Builds the models and the servers of embeddings and of speech that a config names, and adds what is wrong with them.

use std::sync::Arc;

use rustls::ClientConfig;
use selkie_channel_core::{Problem, Redactor};

use crate::http;
use selkie_config::RawConfig;
use selkie_domain::chance::Chance;
use selkie_domain::clock::SharedClock;
use selkie_llm as llm;
use selkie_llm::{Embeddings, StandIn, Transcriber};

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
    pub speech: Option<Arc<dyn Transcriber>>,
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
        let embeddings = self.embeddings(reading);
        ModelServers { embeddings, speech: self.transcriber(reading) }
    }

    /// Builds what tells the meaning of remembered lines, where the config names one.
    fn embeddings(&self, reading: &mut RawConfig) -> Option<Arc<dyn Embeddings>> {
        let settings = &reading.settings()?.memory.embeddings;
        let built = llm::embeddings(settings, &self.client(), self.redactor, self.clock);
        built.unwrap_or_else(|problems| {
            let inside =
                |Problem { key, message }| Problem { key: format!("embeddings.{key}"), message };
            reading.add("memory", problems.into_iter().map(inside).collect());
            None
        })
    }

    /// Builds the server that writes down voice messages, where the config names one.
    fn transcriber(&self, reading: &mut RawConfig) -> Option<Arc<dyn Transcriber>> {
        let settings = &reading.settings()?.transcription;
        let built = llm::transcription(settings, &self.client(), self.redactor, self.clock);
        built.unwrap_or_else(|problems| {
            reading.add("transcription", problems);
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
