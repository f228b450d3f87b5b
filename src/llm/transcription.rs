//! What is said in a recording, asked of a server that speaks OpenAI's `/audio/transcriptions`.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::multipart::{Form, Part};
use selkie_channel_core::{Problem, Redactor};
use serde::Deserialize;

use crate::build::HttpFactory;
use crate::model_server::{ModelAtServer, ServerError, twice, within};
use crate::settings::TranscriptionSettings;
use selkie_domain::clock::SharedClock;
use selkie_domain::wav;

/// The most bytes of words, whoever writes them: an hour of speech has fewer.
pub const MAX_WORDS: usize = 64 * 1024;

/// Writes down what is said.
#[async_trait]
pub trait Transcriber: Send + Sync {
    /// Returns who does it: a model or a program.
    fn name(&self) -> &str;

    /// Returns the words, at most [`MAX_WORDS`]; none when nothing was said.
    ///
    /// # Errors
    /// See [`ServerError`].
    async fn transcribe(&self, recording: &Recording) -> Result<String, ServerError>;
}

/// Something that was recorded.
#[derive(Clone, Debug)]
pub struct Recording {
    /// A plain file name, whose ending tells the kind.
    pub name: String,
    /// The media type.
    pub mime: String,
    /// The file.
    pub bytes: Bytes,
}

impl Recording {
    /// A second of silence, by which one can find out whether somebody listens.
    pub fn silence() -> Self {
        let name = "silence.wav".to_owned();
        Self { name, mime: "audio/wav".to_owned(), bytes: wav::silence().into() }
    }
}

/// Builds the server that the settings name; nothing where they name none.
///
/// # Errors
/// Everything that is wrong with the settings; keys are inside the section.
pub fn transcription(
    settings: &TranscriptionSettings,
    http: &HttpFactory,
    redactor: &Redactor,
    clock: &SharedClock,
) -> Result<Option<Arc<dyn Transcriber>>, Vec<Problem>> {
    let Some(at) = ModelAtServer::build(settings, http, redactor, clock)? else { return Ok(None) };
    let language = settings.language.clone();
    Ok(Some(Arc::new(Server { at, language })))
}

/// A server.
struct Server {
    at: ModelAtServer,
    language: Option<String>,
}

/// What it answers; what else stands there is passed over.
#[derive(Deserialize)]
struct Answer {
    text: String,
}

#[async_trait]
impl Transcriber for Server {
    fn name(&self) -> &str {
        &self.at.model
    }

    async fn transcribe(&self, recording: &Recording) -> Result<String, ServerError> {
        twice(|| self.ask(recording)).await
    }
}

impl Server {
    async fn ask(&self, recording: &Recording) -> Result<String, ServerError> {
        let form = self.form(recording).map_err(|error| {
            ServerError::Unusable(format!("the recording cannot be sent: {error}"))
        })?;
        let bytes = within(self.at.wire.silence, self.at.wire.post_form(form, MAX_WORDS)).await?;
        match serde_json::from_slice::<Answer>(&bytes) {
            Ok(Answer { text }) => Ok(text.trim().to_owned()),
            Err(error) => {
                let why = format!("the answer is not {{\"text\": …}}: {error}");
                Err(ServerError::Unusable(self.at.wire.redactor.clean(&why)))
            }
        }
    }

    fn form(&self, recording: &Recording) -> reqwest::Result<Form> {
        let Recording { name, mime, bytes } = recording;
        let length = bytes.len() as u64;
        let file = Part::stream_with_length(bytes.clone(), length).file_name(name.clone());
        let form = Form::new()
            .part("file", file.mime_str(mime)?)
            .text("model", self.at.model.clone())
            .text("response_format", "json");
        Ok(match &self.language {
            Some(language) => form.text("language", language.clone()),
            None => form,
        })
    }
}
