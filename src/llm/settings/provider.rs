//! Who serves a model: one row of a table each. What is not said here is the same for all that speak one API.

use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Api;

/// Who serves a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// OpenAI, or any server that speaks its chat completions.
    Openai,
    /// Anthropic's Messages API.
    Anthropic,
    /// Ollama on this machine.
    Ollama,
    /// LM Studio on this machine.
    Lmstudio,
    /// llama.cpp's `llama-server` on this machine.
    Llamacpp,
    /// vLLM on this machine.
    Vllm,
    /// OpenRouter.
    Openrouter,
    /// Groq.
    Groq,
    /// Mistral.
    Mistral,
    /// Google's Gemini.
    Gemini,
    /// DeepSeek.
    Deepseek,
    /// Azure OpenAI: the endpoint is your resource's own.
    Azure,
    /// The built-in stand-in: no network, no key, a list of phrases.
    Offline,
}

/// A provider.
struct Row {
    provider: Provider,
    name: &'static str,
    /// What it is known to speak, at whatever address; nothing where nobody is spoken to.
    api: Option<Api>,
    /// The address it has at home; empty where everybody has their own.
    home: &'static str,
    /// The variable that other programs read its key from; empty where it takes none.
    key_variable: &'static str,
    /// The model asked when config names none; empty where it has to be named.
    model: &'static str,
    /// How its server is started, where that is whoever uses it.
    start: &'static str,
}

const fn chat(
    provider: Provider,
    name: &'static str,
    home: &'static str,
    key_variable: &'static str,
) -> Row {
    Row { provider, name, api: Some(Api::Chat), home, key_variable, model: "", start: "" }
}

const fn local(
    provider: Provider,
    name: &'static str,
    home: &'static str,
    start: &'static str,
) -> Row {
    Row { start, ..chat(provider, name, home, "") }
}

/// In the order of the variants, the usual one first.
const ROWS: [Row; 13] = [
    Row {
        model: "gpt-6.2-sol",
        ..chat(Provider::Openai, "openai", "https://api.openai.com/v1", "OPENAI_API_KEY")
    },
    Row {
        api: Some(Api::Messages),
        model: "claude-sonnet-5-5",
        ..chat(
            Provider::Anthropic,
            "anthropic",
            "https://api.anthropic.com/v1",
            "ANTHROPIC_API_KEY",
        )
    },
    local(Provider::Ollama, "ollama", "http://127.0.0.1:11434/v1", "ollama serve"),
    local(Provider::Lmstudio, "lmstudio", "http://127.0.0.1:1234/v1", "lms server start"),
    local(Provider::Llamacpp, "llamacpp", "http://127.0.0.1:8080/v1", "llama-server -m MODEL.gguf"),
    local(Provider::Vllm, "vllm", "http://127.0.0.1:8000/v1", "vllm serve MODEL"),
    chat(Provider::Openrouter, "openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    chat(Provider::Groq, "groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    chat(Provider::Mistral, "mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    chat(
        Provider::Gemini,
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
    ),
    chat(Provider::Deepseek, "deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY"),
    chat(Provider::Azure, "azure", "", "AZURE_OPENAI_API_KEY"),
    Row { api: None, model: "stand-in", ..chat(Provider::Offline, "offline", "", "") },
];

/// Where the resources of Azure's customers are.
const AZURE: [&str; 3] =
    [".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"];

impl Provider {
    /// Lists every provider, the usual one first.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.provider)
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Returns the API that servers of its kind are known for; nothing where there is no server.
    pub fn api(self) -> Option<Api> {
        self.row().api
    }

    /// Returns the address it has at home; empty where it has none.
    pub fn home(self) -> &'static str {
        self.row().home
    }

    /// Returns its name as config writes it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the model asked when config names none; empty where config has to.
    pub fn usual_model(self) -> &'static str {
        self.row().model
    }

    /// Returns how many tokens its models read when config does not say.
    pub(crate) fn usual_context(self) -> u64 {
        if self.api() == Some(Api::Messages) { 200_000 } else { 128_000 }
    }

    /// Returns the variable of its key; empty where it takes none.
    pub fn key_variable(self) -> &'static str {
        self.row().key_variable
    }

    /// Returns the command that starts its server; empty where somebody else runs it.
    pub fn start(self) -> &'static str {
        self.row().start
    }

    /// Whether this address is its own.
    pub fn is_home(self, endpoint: &str) -> bool {
        match self {
            Self::Azure => azure(endpoint).is_some_and(|url| url.scheme() == "https"),
            _ => endpoint.trim_end_matches('/') == self.home(),
        }
    }
}

/// Whether an address is that of a provider whose models are known, so that nobody asks what they read. OpenRouter passes
/// on to models of everybody's.
pub(crate) fn is_cloud(url: &Url) -> bool {
    let is_home = |row: &Row| {
        let home = Url::parse(row.home).ok();
        let is_theirs = row.start.is_empty() && row.provider != Provider::Openrouter;
        is_theirs && home.is_some_and(|home| home.host_str() == url.host_str())
    };
    is_azure(url.as_str()) || ROWS.iter().any(is_home)
}

/// Whether an address is a resource of one of Azure's customers.
pub(super) fn is_azure(endpoint: &str) -> bool {
    azure(endpoint).is_some()
}

fn azure(endpoint: &str) -> Option<Url> {
    let url = Url::parse(endpoint.trim()).ok()?;
    let host = url.host_str()?;
    AZURE.iter().any(|end| host.ends_with(end)).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_has_its_own_row() {
        for (place, row) in ROWS.iter().enumerate() {
            assert_eq!(row.provider as usize, place, "{}", row.name);
            assert_eq!(serde_json::to_value(row.provider).unwrap(), row.name);
        }
    }

    #[test]
    fn clouds_are_known_by_their_host() {
        for (address, is_known) in [
            ("https://api.openai.com/v1", true),
            ("https://api.anthropic.com", true),
            ("https://mine.openai.azure.com/openai/v1", true),
            ("https://openrouter.ai/api/v1", false),
            ("http://127.0.0.1:11434/v1", false),
            ("https://models.example/v1", false),
        ] {
            assert_eq!(is_cloud(&Url::parse(address).unwrap()), is_known, "{address}");
        }
    }

    #[test]
    fn an_address_is_home_to_its_own_provider_alone() {
        for (provider, address, is_home) in [
            (Provider::Groq, "https://api.groq.com/openai/v1/", true),
            (Provider::Groq, "https://api.openai.com/v1", false),
            (Provider::Azure, "https://mine.openai.azure.com/openai/v1", true),
            (Provider::Azure, "http://mine.openai.azure.com/openai/v1", false),
            (Provider::Azure, "https://openai.azure.com.example/openai/v1", false),
        ] {
            assert_eq!(provider.is_home(address), is_home, "{address}");
        }
    }
}
