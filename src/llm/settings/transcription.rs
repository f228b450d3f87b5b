//! The section of what writes down voice messages: a server that speaks OpenAI's `/audio/transcriptions`, or a program.

use schemars::JsonSchema;
use secrecy::SecretString;
use selkie_channel_core::Problem;
use serde::{Deserialize, Serialize};

use super::model_server::{ServerKeys, ServerSection, command_problem, problem};
use selkie_domain::span::Span;

/// Stands in a command for the path of the recording.
pub const FILE: &str = "{file}";
/// No recording is longer.
const MAX_DURATION: Span = Span::seconds(3600);
/// Mebibytes; no recording is larger.
const MAX_MB: u32 = 100;

/// How voice messages are understood: by a server or a program. Off while neither is set.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TranscriptionSettings {
    /// The server's address, before or with `/audio/transcriptions` (or whisper.cpp's `/inference`). Every voice message to
    /// the bot is sent there.
    pub endpoint: Option<String>,
    /// The model's name at its server.
    pub model: Option<String>,
    /// The key, where the server asks for one.
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// A program of this machine instead, with its arguments: `{file}` stands for the recording, and what it writes to its
    /// standard output are the words. It runs as commands do, without the network.
    pub command: Vec<String>,
    /// What people speak, as ISO 639 writes it (en, de, ja). Default: the model finds out.
    pub language: Option<String>,
    /// In which form a recording is handed over: as it came, or as WAV (16 kHz, mono) for what takes nothing else.
    pub format: RecordingFormat,
    /// How long one try may take; a server that fails or does not answer in time is asked once more.
    pub timeout: Span,
    /// Longer recordings are not listened to.
    pub max_duration: Span,
    /// Larger ones, in mebibytes, are not either.
    #[schemars(range(min = 1))]
    pub max_mb: u32,
    /// How many voice messages of one person are listened to in a day (UTC); 0: no limit. Owners have none.
    pub per_day: u32,
    /// Which voice messages of groups are listened to.
    pub groups: GroupVoice,
    /// Shows people what was understood, before the answer.
    pub echo: bool,
}

/// In which form a recording is handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum RecordingFormat {
    /// As the platform brings it: OGG with Opus, M4A, WebM.
    #[default]
    Original,
    /// WAV, 16 kHz, mono. Only OGG with Opus can be converted.
    Wav,
}

/// Which voice messages of groups are listened to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum GroupVoice {
    /// Those that reply to the bot or name it.
    #[default]
    Addressed,
    /// All that the bot answers.
    All,
}

impl Default for TranscriptionSettings {
    fn default() -> Self {
        Self {
            endpoint: None,
            model: None,
            api_key: None,
            command: Vec::new(),
            language: None,
            format: RecordingFormat::default(),
            timeout: Span::seconds(60),
            max_duration: Span::seconds(300),
            max_mb: 20,
            per_day: 100,
            groups: GroupVoice::default(),
            echo: false,
        }
    }
}

impl ServerSection for TranscriptionSettings {
    fn server(&self) -> ServerKeys<'_> {
        ServerKeys {
            endpoint: self.endpoint.as_deref(),
            // The other one is whisper.cpp's server.
            ends: &["/audio/transcriptions", "/inference"],
            model: self.model.as_deref(),
            api_key: self.api_key.as_ref(),
            timeout: self.timeout,
        }
    }

    fn own_problems(&self) -> Vec<Problem> {
        let mut out = Vec::new();
        let command = command_problem(&self.command, self.endpoint.is_some());
        let names_file = self.command.iter().skip(1).any(|word| word.contains(FILE));
        match command {
            None if !self.command.is_empty() && !names_file => {
                let message = "takes a program and its arguments, one of them with {file} for the recording: \
                               [whisper-cli, -m, /srv/ggml-base.bin, -np, -nt, \"{file}\"]";
                out.push(problem("command", message));
            }
            command => out.extend(command),
        }
        let mut problem = |key: &str, message: String| out.push(problem(key, message));
        if let Some(language) = self.language.as_ref().filter(|language| !is_language(language)) {
            let message =
                format!("takes a language as ISO 639 writes it (en, de, ja), not {language:?}");
            problem("language", message);
        }
        if self.max_duration < Span::seconds(1) || self.max_duration > MAX_DURATION {
            let message = format!("takes 1s to {MAX_DURATION}, not {}", self.max_duration);
            problem("max_duration", message);
        }
        if self.max_mb == 0 || self.max_mb > MAX_MB {
            problem("max_mb", format!("takes 1 to {MAX_MB} mebibytes, not {}", self.max_mb));
        }
        out
    }
}

fn is_language(text: &str) -> bool {
    let mut parts = text.split(['-', '_']);
    let is_code = parts.next().is_some_and(|code| matches!(code.len(), 2 | 3));
    is_code && text.len() <= 16 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::super::model_server::tests::faults;
    use super::*;

    #[test]
    fn everything_wrong_is_said() {
        let said = faults::<TranscriptionSettings>;
        for right in [
            "{}",
            "{endpoint: 'http://h/v1', model: m, language: pt-BR}",
            "{command: [whisper-cli, '{file}']}",
        ] {
            assert_eq!(said(right), "", "{right}");
        }
        let all = "{endpoint: 'http://h/v1', command: [x], language: English, timeout: 0s, \
                   max_duration: 2h, max_mb: 0}";
        insta::assert_snapshot!(said(all), @r#"
        model: is missing: name the model to ask the endpoint for
        timeout: takes a length of time above 0
        command: and endpoint are both set: keep one of them
        language: takes a language as ISO 639 writes it (en, de, ja), not "English"
        max_duration: takes 1s to 1h, not 2h
        max_mb: takes 1 to 100 mebibytes, not 0
        "#);
        insta::assert_snapshot!(said("{api_key: \"a\\nb\", model: m}"), @r"
        model: is set without the endpoint: nobody would be asked. Set both, or neither
        api_key: is set without the endpoint: nobody would be asked. Set both, or neither
        api_key: contains characters that no key has (a line break?)
        ");
        assert!(said("{endpoint: gopher, model: m}").starts_with("endpoint: takes an address"));
        let no_file = said("{command: [whisper-cli]}");
        assert!(
            no_file
                .starts_with("command: takes a program and its arguments, one of them with {file}")
        );
    }
}
