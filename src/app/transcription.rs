//! What writes down voice messages, as the config names it: a server, or a program of this machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use selkie_config::paths::Folders;
use selkie_config::settings::Settings;
use selkie_llm::{FILE, MAX_WORDS, NotTranscribed, Recording, RecordingFormat, Transcriber};
use selkie_sandbox::{Machine, Policy};
use selkie_tools::isolate::{Isolate, Job};
use selkie_tools::paths::Ours;
use selkie_tools::shell::{OwnProgram, OwnProgramError, OwnPrograms};

/// What a recording with speech in OGG is called.
const OGG: [&str; 3] = ["audio/ogg", "audio/opus", "application/ogg"];
/// What needs no converting.
const WAV: [&str; 3] = ["audio/wav", "audio/x-wav", "audio/wave"];

/// What a transcriber is made of, beside the settings.
pub struct TranscriberParts<'a> {
    /// Where things lie.
    pub folders: &'a Folders,
    /// What is closed to every program.
    pub ours: &'a Ours,
    /// Whether programs run in the sandbox.
    pub sandbox: &'a Policy,
    /// What they run on.
    pub machine: &'a Arc<Machine>,
    /// Where foreign bytes are worked on.
    pub isolate: &'a Arc<dyn Isolate>,
}

impl TranscriberParts<'_> {
    /// Makes what the settings name; `server` is the one that they name, if they do.
    pub fn build(
        &self,
        settings: &Settings,
        server: Option<Arc<dyn Transcriber>>,
    ) -> Option<Arc<dyn Transcriber>> {
        let wanted = &settings.transcription;
        let inner = match (server, wanted.command.is_empty()) {
            (Some(server), _) => server,
            (None, true) => return None,
            (None, false) => Arc::new(ProgramTranscriber {
                command: wanted.command.clone(),
                programs: OwnPrograms {
                    machine: Arc::clone(self.machine),
                    policy: self.sandbox.clone(),
                    settings: settings.sandbox.clone(),
                    // Others' files lie in the cache; the folder of a run is opened by name.
                    closed: [self.ours.all(), vec![self.folders.cache.clone()]].concat(),
                },
                folder: self.folders.cache.join("speech"),
                limit: wanted.timeout.0,
            }),
        };
        Some(match wanted.format {
            RecordingFormat::Original => inner,
            RecordingFormat::Wav => {
                Arc::new(WavTranscriber { inner, isolate: Arc::clone(self.isolate) })
            }
        })
    }
}

/// A program that writes the words to its standard output.
pub struct ProgramTranscriber {
    /// The program and its arguments; [`FILE`] stands for the recording.
    pub command: Vec<String>,
    /// How it is held.
    pub programs: OwnPrograms,
    /// Where each run has a folder of its own.
    pub folder: PathBuf,
    /// How long it may take.
    pub limit: Duration,
}

#[async_trait]
impl Transcriber for ProgramTranscriber {
    fn name(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    async fn transcribe(&self, recording: &Recording) -> Result<String, NotTranscribed> {
        let unusable = |error: std::io::Error| {
            NotTranscribed::Unusable(format!("the recording cannot be stored: {error}"))
        };
        let folder = Scratch::make(&self.folder).map_err(unusable)?;
        let file = folder.0.join(&recording.name);
        tokio::fs::write(&file, &recording.bytes).await.map_err(unusable)?;
        let file = file.to_string_lossy();
        let argv: Vec<String> = self.command.iter().map(|word| word.replace(FILE, &file)).collect();
        let program =
            OwnProgram { argv: &argv, folder: &folder.0, limit: self.limit, most: MAX_WORDS };
        match self.programs.output(program).await {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(error @ OwnProgramError::Failed(..)) => {
                Err(NotTranscribed::Unusable(error.to_string()))
            }
            Err(error) => Err(NotTranscribed::Away(error.to_string())),
        }
    }
}

/// A folder that goes when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn make(below: &std::path::Path) -> std::io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        let folder = below.join(uuid::Uuid::now_v7().to_string());
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Best effort: the sweep of the cache takes what is left.
        drop(std::fs::remove_dir_all(&self.0));
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

    async fn transcribe(&self, recording: &Recording) -> Result<String, NotTranscribed> {
        let mime = recording.mime.as_str();
        if WAV.contains(&mime) {
            return self.inner.transcribe(recording).await;
        }
        if !OGG.contains(&mime) {
            let why = format!("{mime} cannot be converted to WAV (transcription.format)");
            return Err(NotTranscribed::Unusable(why));
        }
        let wav = self.isolate.run(Job::Speech, recording.bytes.to_vec()).await;
        let wav = wav.map_err(|error| NotTranscribed::Unusable(error.to_string()))?;
        let stem =
            recording.name.rsplit_once('.').map_or(recording.name.as_str(), |(stem, _)| stem);
        let name = format!("{stem}.wav");
        let wav = Recording { name, mime: WAV[0].to_owned(), bytes: wav.into() };
        self.inner.transcribe(&wav).await
    }
}
