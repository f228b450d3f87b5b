//! The `llm:` section: profiles, routes, prices, and everything that is wrong with them, at once.

use std::collections::BTreeMap;

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use selkie_channel_core::Problem;
use serde::{Deserialize, Serialize};

use crate::domain::schema::nearest;
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
    /// It sees images. Default: true at the providers' own addresses, false elsewhere.
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

impl Provider {
    /// Returns the address it has at home; the stand-in has none.
    pub(super) const fn home(self) -> &'static str {
        match self {
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Offline => "",
        }
    }

    /// Returns the model asked when config names none.
    pub(super) const fn usual_model(self) -> &'static str {
        match self {
            Self::Openai => "gpt-5.2",
            Self::Anthropic => "claude-sonnet-4-5",
            Self::Offline => "stand-in",
        }
    }

    const fn key_variable(self) -> &'static str {
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

    fn problems(&self, key: &str, out: &mut Vec<Problem>) {
        let mut problem =
            |part: &str, says: String| out.push(Problem { key: joined(key, part), says });
        if self.provider == Provider::Offline {
            return;
        }
        let keyless = self.api_key.as_ref().is_none_or(|k| k.expose_secret().trim().is_empty());
        if keyless && self.at_home() && self.headers.is_empty() {
            let (home, variable) = (self.provider.home(), self.provider.key_variable());
            problem("api_key", format!("is missing: {home} wants one (or set {variable})"));
        }
        if let Some(key) = &self.api_key
            && HeaderValue::from_str(key.expose_secret().trim()).is_err()
        {
            problem("api_key", "holds characters that no key has (a line break?)".to_owned());
        }
        if let Some(Err(says)) = self.endpoint.as_deref().map(read_endpoint) {
            problem("endpoint", says);
        }
        for (name, value) in &self.headers {
            let good = HeaderName::try_from(name.as_str()).is_ok()
                && HeaderValue::from_str(value.expose_secret()).is_ok();
            if !good {
                problem(&format!("headers.{name}"), "is no HTTP header".to_owned());
            }
        }
        if self.context == Some(0) {
            problem("context", "takes a number of tokens above 0".to_owned());
        }
        if self.max_output == Some(0) {
            problem("max_output", "takes a number of tokens above 0".to_owned());
        }
        if self.request_timeout.0.is_zero() {
            problem("request_timeout", "takes a length of time above 0".to_owned());
        }
    }
}

/// Reads an endpoint's address.
///
/// # Errors
/// In words that do not repeat the address: it may hold a password.
pub(super) fn read_endpoint(text: &str) -> Result<Url, String> {
    let takes = "takes an address like https://api.openai.com/v1";
    let url = Url::parse(text.trim()).map_err(|e| format!("is no address ({e}): {takes}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(takes.to_owned());
    }
    if url.path().ends_with("/chat/completions") || url.path().ends_with("/messages") {
        return Err("ends before /chat/completions (anthropic: before /messages)".to_owned());
    }
    Ok(url)
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

    /// Lists everything that is wrong. Keys are inside the section.
    pub fn problems(&self) -> Vec<Problem> {
        let mut out = Vec::new();
        if self.has_short_form() && self.profiles.contains_key(DEFAULT) {
            let says = "stands beside the short form (llm.provider, llm.model …), which makes a profile \
                        of the same name: keep one of the two";
            out.push(Problem { key: "profiles.default".to_owned(), says: says.to_owned() });
        } else if self.has_short_form() {
            self.short_form().problems("", &mut out);
        }
        for (name, profile) in &self.profiles {
            profile.problems(&format!("profiles.{name}"), &mut out);
        }
        self.route_problems(&mut out);
        for (model, price) in &self.prices {
            let numbers = [Some(price.input), price.cached, Some(price.output)];
            if numbers.into_iter().flatten().any(|n| !n.is_finite() || n < 0.0) {
                let says = "takes US dollars per million tokens, 0 or more".to_owned();
                out.push(Problem { key: format!("prices.{model}"), says });
            }
        }
        out
    }

    fn route_problems(&self, out: &mut Vec<Problem>) {
        let profiles = self.all_profiles();
        let known = || profiles.keys().map(String::as_str).chain([OFFLINE]);
        for (route, names) in self.routes.each() {
            let Some(names) = names else { continue };
            let mut problem = |says| out.push(Problem { key: format!("routes.{route}"), says });
            if names.list().is_empty() {
                problem(
                    "takes a profile's name or a list of names; leave it out for main".to_owned(),
                );
            }
            for name in names.list().iter().filter(|n| !known().any(|k| k == n.as_str())) {
                let hint = match nearest(name, known()) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("there are {}", known().collect::<Vec<_>>().join(", ")),
                };
                problem(format!("names the profile {name:?}, which is not there: {hint}"));
            }
        }
        if self.routes.main.is_none() && profiles.len() > 1 && !profiles.contains_key(DEFAULT) {
            let names = profiles.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let says = format!("is missing: say which of the profiles answers ({names})");
            out.push(Problem { key: "routes.main".to_owned(), says });
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

impl RouteSettings {
    fn each(&self) -> [(&'static str, &Option<Names>); 4] {
        let Self { main, small, decision, heartbeat } = self;
        [("main", main), ("small", small), ("decision", decision), ("heartbeat", heartbeat)]
    }
}

fn joined(key: &str, part: &str) -> String {
    if key.is_empty() { part.to_owned() } else { format!("{key}.{part}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(yaml: &str) -> Settings {
        serde_yaml::from_str(yaml).expect("settings")
    }

    fn said(yaml: &str) -> String {
        let all = read(yaml).problems();
        all.iter().map(|p| format!("{}: {}", p.key, p.says)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        insta::assert_snapshot!(said("
            provider: openai
            profiles:
              default: { endpoint: 'http://127.0.0.1:1/v1' }
              fast: { provider: anthropic, request_timeout: 0s }
              odd: { endpoint: 'https://u:hunter22@x/v1/chat/completions', context: 0, headers: { 'a b': x } }
            routes: { main: [fats, offline], small: nobody-at-all, decision: [] }
            prices: { m: { input: -1, output: 0 } }
        "), @r#"
    profiles.default: stands beside the short form (llm.provider, llm.model …), which makes a profile of the same name: keep one of the two
    profiles.fast.api_key: is missing: https://api.anthropic.com/v1 wants one (or set ANTHROPIC_API_KEY)
    profiles.fast.request_timeout: takes a length of time above 0
    profiles.odd.endpoint: ends before /chat/completions (anthropic: before /messages)
    profiles.odd.headers.a b: is no HTTP header
    profiles.odd.context: takes a number of tokens above 0
    routes.main: names the profile "fats", which is not there: did you mean fast?
    routes.small: names the profile "nobody-at-all", which is not there: there are default, fast, odd, offline
    routes.decision: takes a profile's name or a list of names; leave it out for main
    prices.m: takes US dollars per million tokens, 0 or more
    "#);
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
