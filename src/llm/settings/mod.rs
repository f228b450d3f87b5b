//! The `llm:` section: profiles, routes, prices.

mod api;
mod check;
mod effect;
mod embeddings;
mod images;
mod model_server;
mod provider;
mod seeing;
mod speech;
mod spoken;
mod transcription;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

pub use self::api::Api;
pub(super) use self::check::read_endpoint;
pub use self::embeddings::EmbeddingSettings;
pub use self::images::{ImageSettings, size_fault};
pub(super) use self::images::{beside, changing};
pub(super) use self::model_server::ServerSection;
pub use self::provider::Provider;
pub(super) use self::provider::is_cloud;
pub use self::speech::{SpeechSettings, VOICE, voice_fault};
pub use self::transcription::{FILE, GroupVoice, RecordingFormat, TranscriptionSettings};
use selkie_domain::effort::Effort;
use selkie_domain::span::Span;

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
    /// Short form: the address before `/chat/completions`, `/responses` or `/messages`.
    pub endpoint: Option<String>,
    /// Short form: which API is spoken.
    pub api: Option<Api>,
    /// Short form: the key. Also OPENAI_API_KEY, ANTHROPIC_API_KEY or the provider's own variable.
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// Short form: the model's name at its provider.
    pub model: Option<String>,
    /// Short form: more headers for every request.
    #[schemars(with = "BTreeMap<String, String>")]
    pub headers: BTreeMap<String, SecretString>,
    /// Short form: tokens the model reads at most.
    pub context: Option<u64>,
    /// Short form: the model sees images.
    pub sees_images: Option<bool>,
    /// Short form: how hard the model thinks where nothing else says.
    pub effort: Option<Effort>,
    /// Which profile does what.
    pub routes: RouteSettings,
    /// How hard the models of a route think, where nobody says otherwise.
    pub efforts: EffortSettings,
    /// Prices by model name, over the built-in table. US dollars per million tokens.
    pub prices: BTreeMap<String, Price>,
}

/// One model at one provider.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileSettings {
    /// Who serves it: `openai` is any server with `/chat/completions` or `/responses`; others are known by name.
    pub provider: Provider,
    /// The address before `/chat/completions`, `/responses` or `/messages`. Default: the provider's own.
    pub endpoint: Option<String>,
    /// Which API is spoken.
    pub api: Api,
    /// The key.
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// The model's name at its provider. Default: gpt-6.2-sol, claude-sonnet-5-5; none for others.
    pub model: Option<String>,
    /// More headers for every request.
    #[schemars(with = "BTreeMap<String, String>")]
    pub headers: BTreeMap<String, SecretString>,
    /// Tokens of prompt and answer together. Default: what the server says; where nobody knows, 128000, anthropic 200000.
    pub context: Option<u64>,
    /// It sees images: what people send goes along as pictures. Default: by the model's name.
    pub sees_images: Option<bool>,
    /// How hard it thinks where nothing else says. Default: as its provider has it. What it does not take becomes the
    /// nearest that it does.
    pub effort: Option<Effort>,
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
            api: Api::Auto,
            api_key: None,
            model: None,
            headers: BTreeMap::new(),
            context: None,
            sees_images: None,
            effort: None,
            max_output: None,
            stream: true,
            request_timeout: Span::seconds(120),
        }
    }
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

/// How hard the models of each route think. Default: what the profile says, or its provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EffortSettings {
    /// Conversations: none, minimal, low, medium, high, xhigh or max.
    pub main: Option<Effort>,
    /// Small work.
    pub small: Option<Effort>,
    /// Yes or no questions.
    pub decision: Option<Effort>,
    /// The heartbeat.
    pub heartbeat: Option<Effort>,
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

impl ProfileSettings {
    /// Whether it speaks to the provider's own address.
    pub(super) fn at_home(&self) -> bool {
        self.endpoint.as_deref().is_none_or(|endpoint| self.provider.is_home(endpoint))
    }

    /// Whether it speaks to OpenAI itself.
    pub(super) fn is_openai(&self) -> bool {
        self.provider == Provider::Openai && self.at_home()
    }

    /// Whether its model sees pictures, as far as that is known.
    pub(super) fn sees(&self) -> bool {
        let model = self.model.as_deref().unwrap_or(self.provider.usual_model());
        self.sees_images.unwrap_or_else(|| seeing::sees(model))
    }
}

impl Settings {
    /// Whether config names any model.
    pub fn is_configured(&self) -> bool {
        !self.profiles.is_empty() || self.has_short_form()
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
            || self.sees_images.is_some()
            || self.api.is_some()
            || self.effort.is_some()
    }

    fn short_form(&self) -> ProfileSettings {
        ProfileSettings {
            provider: self.provider.unwrap_or(Provider::Openai),
            endpoint: self.endpoint.clone(),
            api: self.api.unwrap_or_default(),
            effort: self.effort,
            api_key: self.api_key.clone(),
            model: self.model.clone(),
            headers: self.headers.clone(),
            context: self.context,
            sees_images: self.sees_images,
            ..ProfileSettings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_words_in_the_schema() {
        let schema = schemars::schema_for!(Settings).to_value();
        let keys = schema["properties"].as_object().expect("keys");
        assert_eq!(keys.len(), 13);
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
    fn settings_show_no_secret() {
        let settings = read("{ api_key: hunter22, headers: { x-key: hunter33 } }");
        let shown = format!("{settings:?}");
        assert!(!shown.contains("hunter"), "{shown}");
    }
}
