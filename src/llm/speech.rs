//! Words said aloud, asked of a server that speaks OpenAI's `/audio/speech`.

use std::sync::Arc;

use async_trait::async_trait;
use selkie_channel_core::{Problem, Redactor};
use serde::Serialize;

use crate::build::HttpFactory;
use crate::model_server::{ModelAtServer, ServerError, twice, within};
use crate::settings::SpeechSettings;
use selkie_domain::clock::SharedClock;
use selkie_domain::sound::Sound;

/// Characters that are said at once; servers take no more.
pub const MAX_SAID: usize = 4_096;

/// Says words aloud.
#[async_trait]
pub trait Speaker: Send + Sync {
    /// Returns who does it: a model or a program.
    fn name(&self) -> &str;

    /// Makes a recording of at most [`MAX_SAID`] characters, in this voice or the usual one.
    ///
    /// # Errors
    /// See [`ServerError`].
    async fn speak(&self, text: &str, voice: Option<&str>) -> Result<Sound, ServerError>;
}

/// Builds the server that the settings name; nothing where they name none.
///
/// # Errors
/// Everything that is wrong with the settings; keys are inside the section.
pub fn speech(
    settings: &SpeechSettings,
    http: &HttpFactory,
    redactor: &Redactor,
    clock: &SharedClock,
) -> Result<Option<Arc<dyn Speaker>>, Vec<Problem>> {
    let Some(at) = ModelAtServer::build(settings, http, redactor, clock)? else { return Ok(None) };
    let voice = settings.voice.clone().unwrap_or_default();
    Ok(Some(Arc::new(Server { at, voice })))
}

/// A server.
struct Server {
    at: ModelAtServer,
    voice: String,
}

/// What is asked.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a str,
    voice: &'a str,
    /// The form that platforms show as a voice note.
    response_format: &'static str,
}

#[async_trait]
impl Speaker for Server {
    fn name(&self) -> &str {
        &self.at.model
    }

    async fn speak(&self, text: &str, voice: Option<&str>) -> Result<Sound, ServerError> {
        let voice = voice.unwrap_or(&self.voice);
        let body = Body { model: &self.at.model, input: text, voice, response_format: "opus" };
        let wire = &self.at.wire;
        twice(|| async {
            let bytes = within(wire.silence, wire.post_for_bytes(&body, Sound::MAX_BYTES)).await?;
            Sound::of(bytes).map_err(ServerError::Unusable)
        })
        .await
    }
}
