//! What writes down voice messages, as the config names it: a server, or a program of this machine.

use std::sync::Arc;

use async_trait::async_trait;

use crate::configured_program::{ConfiguredProgram, ProgramParts, ProgramRun};
use selkie_config::settings::Settings;
use selkie_llm::{FILE, MAX_WORDS, Recording, RecordingFormat, ServerError, Transcriber};
use selkie_tools::isolate::{Isolate, Job};

/// What a recording with speech in OGG is called.
const OGG: [&str; 3] = ["audio/ogg", "audio/opus", "application/ogg"];
/// What needs no converting.
const WAV: [&str; 3] = ["audio/wav", "audio/x-wav", "audio/wave"];

/// Makes what the settings name; `server` is the one that they name, if they do.
pub fn transcriber(
    parts: &ProgramParts<'_>,
    isolate: &Arc<dyn Isolate>,
    settings: &Settings,
    server: Option<Arc<dyn Transcriber>>,
) -> Option<Arc<dyn Transcriber>> {
    let wanted = &settings.transcription;
    let program = || parts.build(&settings.sandbox, &wanted.command, wanted.timeout.0);
    let inner = match server {
        Some(server) => server,
        None => Arc::new(ProgramTranscriber(program()?)),
    };
    Some(match wanted.format {
        RecordingFormat::Original => inner,
        RecordingFormat::Wav => Arc::new(WavTranscriber { inner, isolate: Arc::clone(isolate) }),
    })
}

/// A program that writes the words to its standard output.
pub struct ProgramTranscriber(ConfiguredProgram);

#[async_trait]
impl Transcriber for ProgramTranscriber {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn transcribe(&self, recording: &Recording) -> Result<String, ServerError> {
        let bytes = self.0.run(ProgramRun {
            words: &[],
            file: (FILE, &recording.name),
            holds: Some(&recording.bytes),
            input: "",
            most: MAX_WORDS,
        });
        Ok(String::from_utf8_lossy(&bytes.await?).trim().to_owned())
    }
}

/// One that takes WAV alone: recordings are converted in a process of their own first.
pub struct WavTranscriber {
    /// It.
    pub inner: Arc<dyn Transcriber>,
    /// Where foreign bytes are worked on.
    pub isolate: Arc<dyn Isolate>,
}

#[async_trait]
impl Transcriber for WavTranscriber {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn transcribe(&self, recording: &Recording) -> Result<String, ServerError> {
        let mime = recording.mime.as_str();
        if WAV.contains(&mime) {
            return self.inner.transcribe(recording).await;
        }
        if !OGG.contains(&mime) {
            let why = format!("{mime} cannot be converted to WAV (transcription.format)");
            return Err(ServerError::Unusable(why));
        }
        let wav = self.isolate.run(Job::Speech, recording.bytes.to_vec()).await;
        let wav = wav.map_err(|error| ServerError::Unusable(error.to_string()))?;
        let stem =
            recording.name.rsplit_once('.').map_or(recording.name.as_str(), |(stem, _)| stem);
        let name = format!("{stem}.wav");
        let wav = Recording { name, mime: WAV[0].to_owned(), bytes: wav.into() };
        self.inner.transcribe(&wav).await
    }
}
