//! The config sections `tools.url_fetch`, `tools.web_fetch` and `tools.web_search`.

use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize, Serializer};

use crate::domain::span::Span;

/// `tools.url_fetch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UrlFetch {
    /// Whether it may be used.
    pub enabled: bool,
    /// How long a request may take when the call does not say.
    pub timeout: Span,
    /// Bytes of an answer that the model reads.
    #[schemars(range(min = 1))]
    pub max_bytes: u64,
    /// Bytes of a downloaded file.
    #[schemars(range(min = 1))]
    pub max_bytes_download: u64,
}

/// `tools.web_search`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebSearch {
    /// Whether it may be used.
    pub enabled: bool,
    /// Who is asked.
    pub provider: SearchProvider,
    /// Results when the call does not say.
    #[schemars(range(min = 1, max = 20))]
    pub max_results: u64,
    /// DuckDuckGo's page without scripts.
    pub duckduckgo: DuckDuckGo,
    /// Brave's search API.
    pub brave: Brave,
}

/// Who searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchProvider {
    /// Brave where there is a key, else DuckDuckGo.
    #[default]
    Auto,
    /// Brave; needs a key.
    Brave,
    /// DuckDuckGo.
    Duckduckgo,
}

/// `tools.web_search.duckduckgo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DuckDuckGo {
    /// The page that takes `?q=`.
    pub base_url: String,
}

/// `tools.web_search.brave`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Brave {
    /// Ends before `/res/v1`.
    pub base_url: String,
    /// The subscription's token; `BRAVE_SEARCH_API_KEY` sets it, too.
    #[schemars(with = "Option<String>")]
    #[serde(serialize_with = "hidden")]
    pub api_key: Option<SecretString>,
}

impl WebSearch {
    /// Returns the key, if there is one.
    pub fn key(&self) -> Option<&str> {
        self.brave.api_key.as_ref().map(|k| k.expose_secret().trim()).filter(|k| !k.is_empty())
    }
}

fn hidden<S: Serializer>(key: &Option<SecretString>, serializer: S) -> Result<S::Ok, S::Error> {
    key.as_ref().map(|_| "[redacted]").serialize(serializer)
}

impl PartialEq for Brave {
    fn eq(&self, other: &Self) -> bool {
        let key = |b: &Self| b.api_key.as_ref().map(|k| k.expose_secret().to_owned());
        self.base_url == other.base_url && key(self) == key(other)
    }
}

impl Eq for Brave {}

impl Default for UrlFetch {
    fn default() -> Self {
        Self {
            enabled: true,
            timeout: Span::seconds(30),
            max_bytes: 512 * 1024,
            max_bytes_download: 100 * 1024 * 1024,
        }
    }
}

impl Default for WebSearch {
    fn default() -> Self {
        Self {
            enabled: true,
            provider: SearchProvider::default(),
            max_results: 5,
            duckduckgo: DuckDuckGo::default(),
            brave: Brave::default(),
        }
    }
}

impl Default for DuckDuckGo {
    fn default() -> Self {
        Self { base_url: "https://html.duckduckgo.com/html/".to_owned() }
    }
}

impl Default for Brave {
    fn default() -> Self {
        Self { base_url: "https://api.search.brave.com".to_owned(), api_key: None }
    }
}
