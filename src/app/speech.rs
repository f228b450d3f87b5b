//! What says words aloud, as the config names it: a server, or a program of this machine.

use std::sync::Arc;

use async_trait::async_trait;

use crate::configured_program::{ConfiguredProgram, ProgramParts, ProgramRun};
use selkie_config::settings::Settings;
use selkie_domain::sound::Sound;
use selkie_llm::{FILE, ServerError, Speaker, VOICE};

/// What the file is called where the program writes one: some go by the ending.
const NAME: &str = "speech.opus";

/// Makes what the settings name; `server` is the one that they name, if they do.
pub fn speaker(
    parts: &ProgramParts<'_>,
    settings: &Settings,
    server: Option<Arc<dyn Speaker>>,
) -> Option<Arc<dyn Speaker>> {
    let wanted = &settings.speech;
    let program = || parts.build(&settings.sandbox, &wanted.command, wanted.timeout.0);
    server.or_else(|| {
        let voice = wanted.voice.clone().unwrap_or_default();
        Some(Arc::new(ProgramSpeaker { program: program()?, voice }))
    })
}

/// A program that reads the words from its standard input.
struct ProgramSpeaker {
    program: ConfiguredProgram,
    voice: String,
}

#[async_trait]
impl Speaker for ProgramSpeaker {
    fn name(&self) -> &str {
        self.program.name()
    }

    async fn speak(&self, text: &str, voice: Option<&str>) -> Result<Sound, ServerError> {
        let words = [(VOICE, voice.unwrap_or(&self.voice))];
        let bytes = self.program.run(ProgramRun {
            words: &words,
            file: (FILE, NAME),
            holds: None,
            input: text,
            most: Sound::MAX_BYTES,
        });
        Sound::of(bytes.await?)
            .map_err(|why| ServerError::Unusable(why.replace("it answers", "it writes")))
    }
}
