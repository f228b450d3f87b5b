//! `web_search`: asks a search engine.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use tokio::time::sleep;

use super::cache::Cache;
use super::client::{Ask, GuardedClient};
use super::failure::RequestError;
use super::page::text_of;
use super::search::{Engine, Hit, printed};
use crate::args::typed;
use crate::isolate::{Isolate, Job};
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Also, Class, OtherParameter, Recovery, ToolSpec};

/// The most results of one call.
const MAX: u64 = 20;
/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(30);
/// How often a request is made again.
const RETRIES: u32 = 3;
/// The rest before the first repetition; it doubles.
const REST: Duration = Duration::from_millis(250);
/// Bytes of an answer.
const BODY: u64 = 2 * 1024 * 1024;

/// Other harnesses' words for it.
const ALSO: Also = Also {
    names: &[],
    parameters: &[OtherParameter::new("query", "q"), OtherParameter::new("count", "max_results")],
    absent: &[],
};

/// `tools.web_search`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WebSearch")]
pub struct Settings {
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

impl Settings {
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

impl Default for Settings {
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

/// The tool.
pub(crate) struct WebSearch {
    settings: Settings,
    client: Arc<GuardedClient>,
    cache: Cache,
    isolate: Arc<dyn Isolate>,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    q: String,
    /// Default: 5.
    #[schemars(range(min = 1, max = 20))]
    max_results: Option<u64>,
}

/// Why a request gave nothing: what the caller does next.
enum SearchError {
    /// Worth another try.
    Again(String),
    /// Not worth one.
    Final(String),
}

impl WebSearch {
    pub(crate) fn new(
        settings: &Settings,
        client: &Arc<GuardedClient>,
        isolate: &Arc<dyn Isolate>,
    ) -> Self {
        let isolate = Arc::clone(isolate);
        Self {
            settings: settings.clone(),
            client: Arc::clone(client),
            cache: Cache::default(),
            isolate,
        }
    }

    async fn search(&self, query: &str, most: u64) -> Result<Vec<Hit>, ToolError> {
        let mut rest = REST;
        for _ in 0..RETRIES {
            match self.once(query, most).await {
                Ok(hits) => return Ok(hits),
                Err(SearchError::Final(why)) => return Err(ToolError::Tell(why)),
                Err(SearchError::Again(why)) => tracing::debug!(why, "a search is made again"),
            }
            sleep(rest).await;
            rest *= 2;
        }
        self.once(query, most).await.map_err(|failed| {
            let (SearchError::Again(why) | SearchError::Final(why)) = failed;
            ToolError::Tell(why)
        })
    }

    async fn once(&self, query: &str, most: u64) -> Result<Vec<Hit>, SearchError> {
        let by_brave = self.by_brave().map_err(SearchError::Final)?;
        let request = match by_brave {
            Some(key) => self.brave(key, query, most),
            None => self.duckduckgo(query),
        };
        let (url, headers) = request.map_err(SearchError::Final)?;
        let ask = Ask {
            method: Method::GET,
            url: url.to_string(),
            headers,
            body: None,
            limit: REQUEST,
            max_bytes: BODY,
            stays: false,
            profile: None,
        };
        let got = self.client.ask(ask).await.map_err(|error| match error {
            RequestError::Guarded(why) => SearchError::Final(why),
            other => SearchError::Again(format!("the search failed: {other}")),
        })?;
        let body = text_of(&got.headers, &got.body);
        let status = got.status;
        // DuckDuckGo asks for a captcha with 202.
        if status != StatusCode::OK && status != StatusCode::ACCEPTED {
            let start: String = body.chars().take(200).collect();
            let why = format!("web_search non-2xx status={} body={start}", status.as_u16());
            let again = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
            return Err(if again { SearchError::Again(why) } else { SearchError::Final(why) });
        }
        let engine = if by_brave.is_some() { Engine::Brave } else { Engine::Duckduckgo };
        let hits = self.isolate.run(Job::Results { engine }, body.into_bytes()).await;
        let hits = hits.map_err(|why| SearchError::Final(why.to_string()))?;
        serde_json::from_slice(&hits).map_err(|e| SearchError::Final(format!("no results: {e}")))
    }

    /// Brave's key when Brave is asked.
    fn by_brave(&self) -> Result<Option<&str>, String> {
        match (self.settings.provider, self.settings.key()) {
            (SearchProvider::Duckduckgo, _) | (SearchProvider::Auto, None) => Ok(None),
            (SearchProvider::Auto | SearchProvider::Brave, Some(key)) => Ok(Some(key)),
            (SearchProvider::Brave, None) => Err(
                "Brave needs a key: set tools.web_search.brave.api_key (or BRAVE_SEARCH_API_KEY)"
                    .to_owned(),
            ),
        }
    }

    fn brave(&self, key: &str, query: &str, most: u64) -> Result<(Url, HeaderMap), String> {
        let base = self.settings.brave.base_url.trim_end_matches('/');
        let mut url = address(&format!("{base}/res/v1/web/search"), "brave")?;
        url.query_pairs_mut().append_pair("q", query).append_pair("count", &most.to_string());
        let token = HeaderValue::from_str(key).map_err(|_| {
            "tools.web_search.brave.api_key contains characters that no key has".to_owned()
        })?;
        let accept = (ACCEPT, HeaderValue::from_static("application/json"));
        let token = (HeaderName::from_static("x-subscription-token"), token);
        Ok((url, HeaderMap::from_iter([accept, token])))
    }

    fn duckduckgo(&self, query: &str) -> Result<(Url, HeaderMap), String> {
        let mut url = address(&self.settings.duckduckgo.base_url, "duckduckgo")?;
        url.query_pairs_mut().append_pair("q", query);
        Ok((url, HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/html"))])))
    }
}

#[async_trait]
impl Handler for WebSearch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description:
                "Search the web: titles, addresses, a few words; read a page with web_fetch."
                    .to_owned(),
            group: "web",
            sources: &["S1", "S3", "S0", "S2"],
            doing: "searching the web",
            also: ALSO,
            longest: Some((REQUEST + REST * 4) * (RETRIES + 1)),
            ..spec::<Args>("web_search", Class::Network, Recovery::NotTwice)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { q, max_results } = typed(args)?;
        let query = q.trim();
        if query.is_empty() {
            return Err(ToolError::tell("q is required"));
        }
        let most = max_results.unwrap_or(self.settings.max_results).clamp(1, MAX);
        let key = format!("{most} {query}");
        if let Some(found) = self.cache.get(&key, scope.clock.now()) {
            return Ok(Output::outside(found));
        }
        let mut hits = self.search(query, most).await?;
        hits.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        let found = printed(query, &hits);
        self.cache.put(key, scope.clock.now(), found.clone());
        Ok(Output::outside(found))
    }
}

fn address(url: &str, engine: &str) -> Result<Url, String> {
    Url::parse(url)
        .map_err(|e| format!("tools.web_search.{engine}.base_url is not an address: {e}"))
}
