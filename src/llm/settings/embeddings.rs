//! The section of a server of embeddings: any that speaks OpenAI's `/embeddings`.

use schemars::JsonSchema;
use secrecy::SecretString;
use selkie_channel_core::Problem;
use serde::Deserialize;

use super::model_server::{ServerKeys, ServerSection};
use selkie_domain::span::Span;

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

impl ServerSection for EmbeddingSettings {
    fn server(&self) -> ServerKeys<'_> {
        ServerKeys {
            endpoint: self.endpoint.as_deref(),
            ends: &["/embeddings"],
            model: self.model.as_deref(),
            api_key: self.api_key.as_ref(),
            timeout: self.timeout,
        }
    }

    fn own_problems(&self) -> Vec<Problem> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::super::model_server::tests::faults;
    use super::*;

    #[test]
    fn everything_wrong_is_said() {
        let said = faults::<EmbeddingSettings>;
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
