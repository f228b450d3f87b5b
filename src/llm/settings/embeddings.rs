//! The section of a server of embeddings: any that speaks OpenAI's `/embeddings`.

use reqwest::Url;
use schemars::JsonSchema;
use secrecy::SecretString;
use selkie_channel_core::Problem;
use serde::Deserialize;

use super::model_server::{ServerKeys, address, named};
use selkie_domain::span::Span;

/// The end of the address that is asked, which may be written or left out.
const PATH: &str = "/embeddings";

/// What is found by what it means, and not by its words alone. Off while no endpoint is set.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingSettings {
    /// The server's address, before or with `/embeddings`. Every remembered line and what is looked for is sent there.
    pub endpoint: Option<String>,
    /// The model's name at its server. Another one embeds everything anew.
    pub model: Option<String>,
    /// The key, where the server asks for one.
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// How long one request for remembered lines may take. A search waits 2 seconds at most.
    pub timeout: Span,
}

impl Default for EmbeddingSettings {
    fn default() -> Self {
        Self { endpoint: None, model: None, api_key: None, timeout: Span::seconds(30) }
    }
}

impl EmbeddingSettings {
    /// Lists everything that is wrong. Keys are inside the section.
    pub fn problems(&self) -> Vec<Problem> {
        ServerKeys {
            endpoint: self.endpoint.as_deref().map(|text| address(text, &[PATH])),
            model: self.model.as_deref(),
            api_key: self.api_key.as_ref(),
            timeout: Some(self.timeout),
        }
        .problems()
    }

    /// Returns the model's name, where one is written.
    pub fn named(&self) -> Option<&str> {
        named(self.model.as_deref())
    }

    /// Returns the address that is asked; nothing while it is off.
    pub(crate) fn url(&self) -> Option<Url> {
        self.endpoint.as_deref().and_then(|text| address(text, &[PATH]).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(yaml: &str) -> EmbeddingSettings {
        serde_saphyr::from_str(yaml).expect("settings")
    }

    #[test]
    fn an_address_is_taken_with_its_end_or_without() {
        for (written, asked) in [
            ("https://api.example/v1", "https://api.example/v1/embeddings"),
            ("https://api.example/v1/", "https://api.example/v1/embeddings"),
            ("https://api.example/v1/embeddings", "https://api.example/v1/embeddings"),
            ("https://api.example/v1/embeddings?v=2", "https://api.example/v1/embeddings?v=2"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/embeddings"),
        ] {
            assert_eq!(address(written, &[PATH]).expect("an address").as_str(), asked);
        }
        assert_eq!(read("{}").url(), None, "it is off");
    }

    #[test]
    fn everything_wrong_is_said() {
        let said = |yaml: &str| {
            let all = read(yaml).problems();
            all.iter().map(|p| format!("{}: {}", p.key, p.message)).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(said("{endpoint: 'http://h/v1', model: m}"), "");
        insta::assert_snapshot!(said("{endpoint: 'http://h/v1', model: ' ', timeout: 0s}"), @r"
        model: is missing: name the model to ask the endpoint for
        timeout: takes a length of time above 0
        ");
        insta::assert_snapshot!(said("{api_key: \"a\\nb\"}"), @r"
        api_key: is set without the endpoint: nobody would be asked. Set both, or neither
        api_key: contains characters that no key has (a line break?)
        ");
        assert!(said("{endpoint: 'http://h/v1'}").starts_with("model: is missing: name the model"));
        assert!(said("{endpoint: gopher, model: m}").starts_with("endpoint: takes an address"));
    }
}
