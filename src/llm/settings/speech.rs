//! The section of what says words aloud: a server that speaks OpenAI's `/audio/speech`, or a program.

use reqwest::Url;
use schemars::JsonSchema;
use secrecy::SecretString;
use selkie_channel_core::Problem;
use serde::Deserialize;

use super::model_server::{ServerKeys, address, command_problem, named, problem};
use selkie_domain::span::Span;

/// The end of the address that is asked, which may be written or left out.
const PATH: &str = "/audio/speech";
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

impl SpeechSettings {
    /// Lists everything that is wrong. Keys are inside the section.
    pub fn problems(&self) -> Vec<Problem> {
        let mut out = ServerKeys {
            endpoint: self.endpoint.as_deref().map(|text| address(text, &[PATH])),
            model: self.model.as_deref(),
            api_key: self.api_key.as_ref(),
            timeout: Some(self.timeout),
        }
        .problems();
        out.extend(command_problem(&self.command, self.endpoint.is_some()));
        match &self.voice {
            Some(voice) => out.extend(voice_fault(voice).map(|why| problem("voice", why))),
            None if self.url().is_some() => {
                let message = "is missing: name a voice of the server (alloy at OpenAI)";
                out.push(problem("voice", message));
            }
            None if self.command.iter().any(|word| word.contains(VOICE)) => {
                let message = "is missing: the command has {voice}; name the one that is usual";
                out.push(problem("voice", message));
            }
            None => {}
        }
        out
    }

    /// Whether something says words aloud.
    pub fn is_on(&self) -> bool {
        self.url().is_some() || !self.command.is_empty()
    }

    /// Returns the model's name, where one is written.
    pub fn named(&self) -> Option<&str> {
        named(self.model.as_deref())
    }

    /// Returns the address that is asked; nothing where no server is.
    pub(crate) fn url(&self) -> Option<Url> {
        self.endpoint.as_deref().and_then(|text| address(text, &[PATH]).ok())
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
    use super::*;

    fn read(yaml: &str) -> SpeechSettings {
        serde_saphyr::from_str(yaml).expect("settings")
    }

    fn said(yaml: &str) -> String {
        let all = read(yaml).problems();
        all.iter().map(|p| format!("{}: {}", p.key, p.message)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_server_or_a_program_says_it() {
        let server = "{endpoint: 'http://h/v1', model: m, voice: alloy}";
        assert_eq!((said(server).as_str(), read(server).is_on()), ("", true));
        let url = read(server).url().expect("an address");
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
