//! The section of a server of embeddings: any that speaks OpenAI's `/embeddings`.

use reqwest::Url;
use reqwest::header::HeaderValue;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use selkie_channel_core::Problem;
use serde::Deserialize;

use super::check::read_endpoint;
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
        let mut out = Vec::new();
        let mut problem =
            |key: &str, message: String| out.push(Problem { key: key.to_owned(), message });
        let is_blank = self.model.as_ref().is_some_and(|model| model.trim().is_empty());
        if is_blank {
            let message =
                "takes the name of a model at its server (text-embedding-3-small), not \"\"";
            problem("model", message.to_owned());
        }
        match self.endpoint.as_deref().map(address) {
            Some(Err(message)) => problem("endpoint", message),
            Some(Ok(_)) if self.model.is_none() => {
                problem("model", "is missing: name the model to ask the endpoint for".to_owned())
            }
            Some(Ok(_)) => {}
            None => {
                let set = [("model", self.named().is_some()), ("api_key", self.api_key.is_some())];
                for (key, _) in set.into_iter().filter(|(_, is_set)| *is_set) {
                    let message = "is set without the endpoint: nothing would be embedded. Set both, or neither";
                    problem(key, message.to_owned());
                }
            }
        }
        let is_key = |key: &SecretString| HeaderValue::from_str(key.expose_secret().trim()).is_ok();
        if self.api_key.as_ref().is_some_and(|key| !is_key(key)) {
            problem("api_key", "contains characters that no key has (a line break?)".to_owned());
        }
        if self.timeout.0.is_zero() {
            problem("timeout", "takes a length of time above 0".to_owned());
        }
        out
    }

    /// Returns the model's name, where one is written.
    pub fn named(&self) -> Option<&str> {
        self.model.as_deref().map(str::trim).filter(|name| !name.is_empty())
    }

    /// Returns the address that is asked; nothing while it is off.
    pub(crate) fn url(&self) -> Option<Url> {
        self.endpoint.as_deref().and_then(|text| address(text).ok())
    }
}

fn address(text: &str) -> Result<Url, String> {
    let mut url = read_endpoint(text)?;
    let before = url.path().trim_end_matches('/').trim_end_matches(PATH).to_owned();
    url.set_path(&format!("{before}{PATH}"));
    Ok(url)
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
            assert_eq!(address(written).expect("an address").as_str(), asked);
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
        insta::assert_snapshot!(said("{endpoint: 'http://h/v1', model: ' ', timeout: 0s}"), @r#"
        model: takes the name of a model at its server (text-embedding-3-small), not ""
        timeout: takes a length of time above 0
        "#);
        insta::assert_snapshot!(said("{api_key: \"a\\nb\"}"), @r"
        api_key: is set without the endpoint: nothing would be embedded. Set both, or neither
        api_key: contains characters that no key has (a line break?)
        ");
        let blank =
            r#"model: takes the name of a model at its server (text-embedding-3-small), not """#;
        assert_eq!(said("{model: ''}"), blank);
        assert!(said("{endpoint: 'http://h/v1'}").starts_with("model: is missing: name the model"));
        assert!(said("{endpoint: gopher, model: m}").starts_with("endpoint: takes an address"));
    }
}
