//! The `llm:` section: profiles, routes, prices.

mod check;
mod effect;
mod embeddings;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

pub(super) use self::check::read_endpoint;
pub use self::embeddings::EmbeddingSettings;
use crate::domain::span::Span;

/// The name of the profile that the short form makes.
pub(super) const DEFAULT: &str = "default";
/// The stand-in's profile, used when nothing is configured.
pub(super) const OFFLINE: &str = "offline";

/// Which language models answer. Nothing configured: the built-in stand-in, which needs no key.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Models by a name of your own.
    pub profiles: BTreeMap<String, ProfileSettings>,
    /// Short form for one profile named `default`: who serves it.
    pub provider: Option<Provider>,
    /// Short form: the address before `/chat/completions` (anthropic: before `/messages`).
    pub endpoint: Option<String>,
    /// Short form: the key. Also OPENAI_API_KEY or ANTHROPIC_API_KEY.
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// Short form: the model's name at its provider.
    pub model: Option<String>,
    /// Short form: more headers for every request.
    #[schemars(with = "BTreeMap<String, String>")]
    pub headers: BTreeMap<String, SecretString>,
    /// Short form: tokens the model reads at most.
    pub context: Option<u64>,
    /// Which profile does what.
    pub routes: RouteSettings,
    /// Prices by model name, over the built-in table. US dollars per million tokens.
    pub prices: BTreeMap<String, Price>,
}

/// One model at one provider.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileSettings {
    /// Who serves it: `openai` is any server with `/chat/completions`.
    pub provider: Provider,
    /// The address before `/chat/completions` (anthropic: before `/messages`). Default: the provider's
    /// own.
    pub endpoint: Option<String>,
    /// The key.
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// The model's name at its provider. Default: gpt-5.2, claude-sonnet-4-5.
    pub model: Option<String>,
    /// More headers for every request.
    #[schemars(with = "BTreeMap<String, String>")]
    pub headers: BTreeMap<String, SecretString>,
    /// Tokens it reads at most. Default: openai 128000, anthropic 200000.
    pub context: Option<u64>,
    /// It sees images: what people send goes along as pictures. Default: true at the providers' own
    /// addresses, false elsewhere.
    pub sees_images: Option<bool>,
    /// Tokens it writes at most in one answer, if that is less than what is asked for.
    pub max_output: Option<u32>,
    /// Ask for the answer as a stream. A server that refuses is asked without.
    pub stream: bool,
    /// The longest silence of the provider: until its answer begins, and between two pieces of it.
    pub request_timeout: Span,
}

impl Default for ProfileSettings {
    fn default() -> Self {
        Self {
            provider: Provider::Openai,
            endpoint: None,
            api_key: None,
            model: None,
            headers: BTreeMap::new(),
            context: None,
            sees_images: None,
            max_output: None,
            stream: true,
            request_timeout: Span::seconds(120),
        }
    }
}

/// Who serves a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// OpenAI, or any server that speaks its chat completions.
    Openai,
    /// Anthropic's Messages API.
    Anthropic,
    /// The built-in stand-in: no network, no key, a list of phrases.
    Offline,
}

/// Which profile does what: a name, or a list that is tried in order.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RouteSettings {
    /// Conversations. Default: the profile `default`, or the only one.
    pub main: Option<Names>,
    /// Small work: summaries, extraction. Default: main.
    pub small: Option<Names>,
    /// Yes or no questions, like whether a group's message is meant for the bot. Default: main.
    pub decision: Option<Names>,
    /// The heartbeat. Default: main.
    pub heartbeat: Option<Names>,
}

/// One name or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Names {
    /// One profile.
    One(String),
    /// The first that answers.
    Several(Vec<String>),
}

impl Names {
    /// Returns the names in order.
    pub fn list(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

/// What a model costs, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens read from the provider's cache. Default: as input.
    pub cached: Option<f64>,
    /// Tokens written.
    pub output: f64,
}

impl Price {
    /// Whether it is none at all.
    pub fn is_free(&self) -> bool {
        let Self { input, cached, output } = *self;
        input <= 0.0 && output <= 0.0 && cached.is_none_or(|cached| cached <= 0.0)
    }
}

impl Provider {
    /// Every provider, the usual one first.
    pub(crate) const ALL: [Self; 3] = [Self::Openai, Self::Anthropic, Self::Offline];

    /// Returns the address it has at home; the stand-in has none.
    pub(crate) const fn home(self) -> &'static str {
        match self {
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Offline => "",
        }
    }

    /// Returns its name as config writes it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Offline => "offline",
        }
    }

    /// Returns the model asked when config names none.
    pub(crate) const fn usual_model(self) -> &'static str {
        match self {
            Self::Openai => "gpt-5.2",
            Self::Anthropic => "claude-sonnet-4-5",
            Self::Offline => "stand-in",
        }
    }

    /// Returns how many tokens its models read when config does not say.
    pub(super) const fn usual_context(self) -> u64 {
        match self {
            Self::Anthropic => 200_000,
            Self::Openai | Self::Offline => 128_000,
        }
    }

    pub(crate) const fn key_variable(self) -> &'static str {
        match self {
            Self::Openai => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Offline => "",
        }
    }
}

impl ProfileSettings {
    /// Whether it speaks to the provider's own address.
    pub(super) fn at_home(&self) -> bool {
        let home = self.provider.home();
        self.endpoint.as_deref().is_none_or(|e| e.trim_end_matches('/') == home)
    }
}

impl Settings {
    /// Whether config names any model.
    pub fn is_configured(&self) -> bool {
        !self.profiles.is_empty() || self.has_short_form()
    }

    /// Lends the customary environment's keys, which rank below config: to profiles without a key at
    /// their provider's own address; with nothing configured, a key alone is a whole configuration.
    pub fn lend_keys(&mut self, openai: Option<SecretString>, anthropic: Option<SecretString>) {
        if !self.is_configured() {
            self.provider = match (&openai, &anthropic) {
                (Some(_), _) => Some(Provider::Openai),
                (None, Some(_)) => Some(Provider::Anthropic),
                (None, None) => return,
            };
        }
        let lend = |provider: Provider| match provider {
            Provider::Openai => openai.clone(),
            Provider::Anthropic => anthropic.clone(),
            Provider::Offline => None,
        };
        for profile in self.profiles.values_mut() {
            if profile.api_key.is_none() && profile.at_home() {
                profile.api_key = lend(profile.provider);
            }
        }
        if self.has_short_form() && self.api_key.is_none() {
            let short = self.short_form();
            self.api_key = if short.at_home() { lend(short.provider) } else { None };
        }
    }

    /// Returns the profiles, the short form's among them.
    pub(super) fn all_profiles(&self) -> BTreeMap<String, ProfileSettings> {
        let mut all = self.profiles.clone();
        if self.has_short_form() {
            all.insert(DEFAULT.to_owned(), self.short_form());
        }
        all
    }

    /// Returns the names that `main` means.
    pub(super) fn main_route(&self) -> Vec<String> {
        if let Some(names) = &self.routes.main {
            return names.list().to_vec();
        }
        let profiles = self.all_profiles();
        let only = profiles.keys().next().filter(|_| profiles.len() == 1);
        let name =
            if profiles.contains_key(DEFAULT) { DEFAULT } else { only.map_or(OFFLINE, |n| n) };
        vec![name.to_owned()]
    }

    /// Returns the provider of a profile.
    pub fn provider_of(&self, profile: &str) -> Option<Provider> {
        self.all_profiles().get(profile).map(|profile| profile.provider)
    }

    /// Lists the profiles that any route asks.
    pub fn routed(&self) -> BTreeSet<String> {
        let RouteSettings { main: _, small, decision, heartbeat } = &self.routes;
        let others = [small, decision, heartbeat].into_iter().flatten();
        let others = others.flat_map(|names| names.list().iter().cloned());
        self.main_route().into_iter().chain(others).collect()
    }

    fn has_short_form(&self) -> bool {
        self.provider.is_some()
            || self.endpoint.is_some()
            || self.api_key.is_some()
            || self.model.is_some()
            || !self.headers.is_empty()
            || self.context.is_some()
    }

    fn short_form(&self) -> ProfileSettings {
        ProfileSettings {
            provider: self.provider.unwrap_or(Provider::Openai),
            endpoint: self.endpoint.clone(),
            api_key: self.api_key.clone(),
            model: self.model.clone(),
            headers: self.headers.clone(),
            context: self.context,
            ..ProfileSettings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn every_key_has_its_words_in_the_schema() {
        let schema = schemars::schema_for!(Settings).to_value();
        let keys = schema["properties"].as_object().expect("keys");
        assert_eq!(keys.len(), 9);
        assert!(keys.values().all(|k| k["description"].is_string()), "{schema}");
    }

    fn read(yaml: &str) -> Settings {
        serde_saphyr::from_str(yaml).expect("settings")
    }

    #[test]
    fn a_bare_endpoint_is_enough() {
        let settings = read("endpoint: http://127.0.0.1:1/v1");
        assert_eq!(settings.problems(), []);
        assert_eq!(settings.main_route(), ["default"]);
        assert_eq!(read("{}").main_route(), ["offline"]);
        assert_eq!(read("profiles: { mine: { provider: offline } }").main_route(), ["mine"]);
    }

    #[test]
    fn a_key_of_the_environment_fills_what_is_empty_and_goes_nowhere_else() {
        let key = |k: &str| Some(SecretString::from(k));
        let shown = |s: &Option<SecretString>| s.as_ref().map(|k| k.expose_secret().to_owned());
        let mut empty = read("{}");
        empty.lend_keys(None, key("sk-ant"));
        assert_eq!(empty.provider, Some(Provider::Anthropic));
        assert_eq!(shown(&empty.api_key), Some("sk-ant".to_owned()));
        assert_eq!(empty.problems(), []);

        let mut other = read(
            "
            profiles:
              home: { provider: openai }
              mine: { provider: openai, api_key: own }
              elsewhere: { endpoint: 'http://127.0.0.1:1' }
            routes: { main: home }
        ",
        );
        other.lend_keys(key("sk-open"), None);
        let keys: Vec<_> = other.profiles.values().map(|p| shown(&p.api_key)).collect();
        assert_eq!(keys, [None, Some("sk-open".to_owned()), Some("own".to_owned())]);
    }

    #[test]
    fn settings_show_no_secret() {
        let settings = read("{ api_key: hunter22, headers: { x-key: hunter33 } }");
        let shown = format!("{settings:?}");
        assert!(!shown.contains("hunter"), "{shown}");
    }
}
