//! The section of what says words aloud: a server that speaks OpenAI's `/audio/speech`, or a program.

use schemars::JsonSchema;
use secrecy::SecretString;
use selkie_channel_core::Problem;
use serde::Deserialize;

use super::model_server::{ServerKeys, ServerSection, command_problem, problem};
use selkie_domain::span::Span;

/// The longest name of a voice, in characters.
const MAX_VOICE: usize = 64;
/// Stands in a command for the voice.
pub const VOICE: &str = "{voice}";

/// How words are said aloud: by a server or a program. Off while neither is set.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpeechSettings {
    /// The server's address, before or with `/audio/speech`. What is said aloud is sent there.
    pub endpoint: Option<String>,
    /// The model's name at its server.
    pub model: Option<String>,
    /// The key, where the server asks for one.
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// A program of this machine instead, with its arguments: it reads the words from its standard input and writes the
    /// recording to its standard output, or to `{file}`. `{voice}` stands for the voice. It runs as commands do, without
    /// the network.
    pub command: Vec<String>,
    /// The voice, where none is asked for, by its name at the server.
    pub voice: Option<String>,
    /// How long one try may take; a server that fails or does not answer in time is asked once more.
    pub timeout: Span,
    /// How many recordings are made for one person in a day (UTC); 0: no limit. Owners have none.
    pub per_day: u32,
}

impl Default for SpeechSettings {
    fn default() -> Self {
        Self {
            endpoint: None,
            model: None,
            api_key: None,
            command: Vec::new(),
            voice: None,
            timeout: Span::seconds(45),
            per_day: 50,
        }
    }
}

impl ServerSection for SpeechSettings {
    fn server(&self) -> ServerKeys<'_> {
        ServerKeys {
            endpoint: self.endpoint.as_deref(),
            ends: &["/audio/speech"],
            model: self.model.as_deref(),
            api_key: self.api_key.as_ref(),
            timeout: self.timeout,
        }
    }

    fn own_problems(&self) -> Vec<Problem> {
        let mut out = Vec::from_iter(command_problem(&self.command, self.endpoint.is_some()));
        let voice = match &self.voice {
            Some(voice) => voice_fault(voice),
            None if self.server().url().is_some() => {
                Some("is missing: name a voice of the server (alloy at OpenAI)".to_owned())
            }
            None => self.command.iter().any(|word| word.contains(VOICE)).then(|| {
                "is missing: the command has {voice}; name the one that is usual".to_owned()
            }),
        };
        out.extend(voice.map(|why| problem("voice", why)));
        out
    }
}

impl SpeechSettings {
    /// Whether something says words aloud.
    pub fn is_on(&self) -> bool {
        self.server().url().is_some() || !self.command.is_empty()
    }
}

/// Says why something is no name of a voice, if so: it becomes a part of a command.
pub fn voice_fault(voice: &str) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
    let is_name = voice.starts_with(char::is_alphanumeric)
        && voice.chars().all(is_plain)
        && voice.chars().count() <= MAX_VOICE;
    let takes = "takes a name of letters, digits and - _ . + (alloy, en-us), not";
    (!is_name).then(|| format!("{takes} {:?}", voice.chars().take(MAX_VOICE).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::super::model_server::tests::faults;
    use super::*;

    fn read(yaml: &str) -> SpeechSettings {
        serde_saphyr::from_str(yaml).expect("settings")
    }

    fn said(yaml: &str) -> String {
        faults::<SpeechSettings>(yaml)
    }

    #[test]
    fn a_server_or_a_program_says_it() {
        let server = "{endpoint: 'http://h/v1', model: m, voice: alloy}";
        assert_eq!((said(server).as_str(), read(server).is_on()), ("", true));
        let url = read(server).server().url().expect("an address");
        assert_eq!(url.as_str(), "http://h/v1/audio/speech");
        let program = "{command: [espeak-ng, --stdout]}";
        assert_eq!((said(program).as_str(), read(program).is_on()), ("", true));
        assert!(said("{}").is_empty() && !read("{}").is_on());
    }

    #[test]
    fn everything_wrong_is_said() {
        insta::assert_snapshot!(said("{endpoint: 'http://h/v1', timeout: 0s, command: [say]}"), @r"
        model: is missing: name the model to ask the endpoint for
        timeout: takes a length of time above 0
        command: and endpoint are both set: keep one of them
        voice: is missing: name a voice of the server (alloy at OpenAI)
        ");
        insta::assert_snapshot!(said("{model: m, voice: '-f/etc/passwd', command: ['']}"), @r#"
        model: is set without the endpoint: nobody would be asked. Set both, or neither
        command: takes a program and its arguments
        voice: takes a name of letters, digits and - _ . + (alloy, en-us), not "-f/etc/passwd"
        "#);
        assert!(said("{command: [piper, -m, '{voice}']}").starts_with("voice: is missing"));
        for odd in ["", "a/b", "..", "a;b", &"a".repeat(65)] {
            assert!(voice_fault(odd).is_some(), "{odd}");
        }
    }
}
