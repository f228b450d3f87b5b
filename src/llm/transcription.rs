//! What is said in a recording, asked of a server that speaks OpenAI's `/audio/transcriptions`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::multipart::{Form, Part};
use selkie_channel_core::{Problem, Redactor};
use serde::Deserialize;
use tokio::time::{sleep, timeout};

use crate::Reason;
use crate::build::HttpFactory;
use crate::model_server::{ModelServer, wire_to};
use crate::refusal::{ProviderRefusal, What};
use crate::settings::TranscriptionSettings;
use crate::wire::Wire;
use selkie_domain::clock::SharedClock;
use selkie_domain::span::Span;
use selkie_domain::wav;

/// The most bytes of words, whoever writes them: an hour of speech has fewer.
pub const MAX_WORDS: usize = 64 * 1024;
/// How long a server rests before it is asked once more.
const PAUSE: Duration = Duration::from_millis(500);

/// Writes down what is said.
#[async_trait]
pub trait Transcriber: Send + Sync {
    /// Returns who does it: a model or a program.
    fn name(&self) -> &str;

    /// Returns the words, at most [`MAX_WORDS`]; none when nothing was said.
    ///
    /// # Errors
    /// See [`NotTranscribed`].
    async fn transcribe(&self, recording: &Recording) -> Result<String, NotTranscribed>;
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

/// Why there are no words, for the log and for doctor: no secret stands in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTranscribed {
    /// Nobody answers, or not in time.
    #[error("{0}")]
    Away(String),
    /// It was refused, or what came back is no answer.
    #[error("{0}")]
    Unusable(String),
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
    let problems = settings.problems();
    if !problems.is_empty() {
        return Err(problems);
    }
    let Some((url, model)) = settings.url().zip(settings.named()) else { return Ok(None) };
    let of = |message: String| vec![Problem { key: "endpoint".to_owned(), message }];
    let server =
        ModelServer { url, api_key: settings.api_key.as_ref(), silence: settings.timeout.0 };
    let wire = wire_to(server, http, redactor, clock).map_err(of)?;
    let language = settings.language.clone();
    Ok(Some(Arc::new(Server { wire, model: model.to_owned(), language })))
}

/// A server.
struct Server {
    wire: Wire,
    model: String,
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
        &self.model
    }

    async fn transcribe(&self, recording: &Recording) -> Result<String, NotTranscribed> {
        match self.ask(recording).await {
            Err(NotTranscribed::Away(why)) => {
                tracing::debug!(why, "the transcription server is asked once more");
                sleep(PAUSE).await;
                self.ask(recording).await
            }
            done => done,
        }
    }
}

impl Server {
    async fn ask(&self, recording: &Recording) -> Result<String, NotTranscribed> {
        let form = self.form(recording).map_err(|error| {
            NotTranscribed::Unusable(format!("the recording cannot be sent: {error}"))
        })?;
        let limit = self.wire.silence;
        let bytes = match timeout(limit, self.wire.post_form(form, MAX_WORDS)).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(refused)) => return Err(not_transcribed(refused)),
            Err(_) => {
                return Err(NotTranscribed::Away(format!("no answer within {}", Span(limit))));
            }
        };
        match serde_json::from_slice::<Answer>(&bytes) {
            Ok(Answer { text }) => Ok(text.trim().to_owned()),
            Err(error) => {
                let why = format!("the answer is not {{\"text\": …}}: {error}");
                Err(NotTranscribed::Unusable(self.wire.redactor.clean(&why)))
            }
        }
    }

    fn form(&self, recording: &Recording) -> reqwest::Result<Form> {
        let Recording { name, mime, bytes } = recording;
        let length = bytes.len() as u64;
        let file = Part::stream_with_length(bytes.clone(), length).file_name(name.clone());
        let form = Form::new()
            .part("file", file.mime_str(mime)?)
            .text("model", self.model.clone())
            .text("response_format", "json");
        Ok(match &self.language {
            Some(language) => form.text("language", language.clone()),
            None => form,
        })
    }
}

fn not_transcribed(refused: ProviderRefusal) -> NotTranscribed {
    let ProviderRefusal { what, message, .. } = refused;
    match what {
        What::Status(status @ 500..) => {
            NotTranscribed::Away(format!("it answers {status}: {message}"))
        }
        What::Status(status) => NotTranscribed::Unusable(format!("it answers {status}: {message}")),
        What::Trouble(Reason::Garbled) => NotTranscribed::Unusable(message),
        What::Trouble(_) => NotTranscribed::Away(message),
    }
}
