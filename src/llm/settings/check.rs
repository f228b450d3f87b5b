//! Finds everything that is wrong with the `llm:` section, at once.

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use secrecy::ExposeSecret as _;
use selkie_channel_core::Problem;

use super::{DEFAULT, OFFLINE, ProfileSettings, Provider, RouteSettings, Settings};
use selkie_domain::count::grouped;
use selkie_domain::share::Share;
use selkie_domain::spelling::nearest;

impl Settings {
    /// Lists everything that is wrong. Keys are inside the section.
    pub fn problems(&self) -> Vec<Problem> {
        let mut out = Vec::new();
        if self.has_short_form() && self.profiles.contains_key(DEFAULT) {
            let message = "is set beside the short form (llm.provider, llm.model …), which makes a profile of the \
                same name: keep one of the two";
            out.push(Problem { key: "profiles.default".to_owned(), message: message.to_owned() });
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
                let message = "takes US dollars per million tokens, 0 or more".to_owned();
                out.push(Problem { key: format!("prices.{model}"), message });
            }
        }
        out
    }

    /// Lists models that their provider, asked at its own address, is not known to have, servers of somebody else's that
    /// are asked for the provider's usual model because none is named, and routes with a member that reads little.
    pub fn notes(&self) -> Vec<String> {
        let unnamed = |(name, profile): (String, ProfileSettings)| {
            let is_unnamed = profile.model.is_none() && !profile.at_home();
            let usual = profile.provider.usual_model();
            (is_unnamed && profile.provider != Provider::Offline && !usual.is_empty()).then(|| {
                format!("llm: the profile {name} names no model: its endpoint is asked for {usual}")
            })
        };
        let strange = |(name, profile): (String, ProfileSettings)| {
            let model = profile.model.as_deref().map(str::trim).filter(|_| profile.at_home())?;
            let claude = model.starts_with("claude");
            let wrong = match profile.provider {
                Provider::Anthropic => !claude,
                Provider::Openai => claude,
                _ => false,
            };
            let provider = profile.provider.name();
            wrong.then(|| {
                format!("llm: the profile {name} asks {provider} for {model}, which sounds like another provider's")
            })
        };
        let unnamed = self.all_profiles().into_iter().filter_map(unnamed);
        let strange = self.all_profiles().into_iter().filter_map(strange);
        unnamed.chain(strange).chain(self.narrow_routes()).collect()
    }

    /// Lists routes whose requests are shortened for the sake of a smaller member.
    fn narrow_routes(&self) -> Vec<String> {
        let profiles = self.all_profiles();
        let context = |name: &String| {
            let profile = profiles.get(name)?;
            Some(profile.context.unwrap_or(profile.provider.usual_context()))
        };
        let narrow = |(route, names): (&'static str, &Option<super::Names>)| {
            let list = names.as_ref()?.list();
            let first = list.first()?;
            let smallest = list.iter().skip(1).min_by_key(|name| context(name))?;
            let of_first = context(first)?;
            let least = context(smallest)?;
            (least < of_first && least < Share::WHOLE).then(|| {
                format!(
                    "llm.routes.{route}: {smallest} reads {} tokens and {first} {}: every request of the route is fitted to \
                     {}; leave {smallest} out, or give its server a larger window",
                    grouped(least),
                    grouped(of_first),
                    grouped(least)
                )
            })
        };
        self.routes.each().into_iter().filter_map(narrow).collect()
    }

    fn route_problems(&self, out: &mut Vec<Problem>) {
        let profiles = self.all_profiles();
        let known = || profiles.keys().map(String::as_str).chain([OFFLINE]);
        for (route, names) in self.routes.each() {
            let Some(names) = names else { continue };
            let mut problem =
                |message| out.push(Problem { key: format!("routes.{route}"), message });
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
                problem(format!("names the profile {name:?}, which does not exist: {hint}"));
            }
        }
        if self.routes.main.is_none() && profiles.len() > 1 && !profiles.contains_key(DEFAULT) {
            let names = profiles.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let message = format!("is missing: say which of the profiles answers ({names})");
            out.push(Problem { key: "routes.main".to_owned(), message });
        }
    }
}

impl ProfileSettings {
    fn problems(&self, key: &str, out: &mut Vec<Problem>) {
        if self.provider == Provider::Offline {
            return;
        }
        let found = [
            ("api_key", self.missing_key()),
            ("endpoint", self.missing_endpoint()),
            ("api_key", self.key_problem()),
            ("api", self.api_problem()),
            ("endpoint", self.endpoint.as_deref().and_then(|text| read_endpoint(text).err())),
            ("context", self.context_problem()),
            ("model", self.model_problem()),
            ("max_output", self.max_output_problem()),
            ("request_timeout", self.timeout_problem()),
        ];
        for (part, message) in found {
            out.extend(message.map(|message| Problem { key: joined(key, part), message }));
        }
        out.extend(self.odd_headers().map(|name| Problem {
            key: joined(key, &format!("headers.{name}")),
            message: "is no HTTP header".to_owned(),
        }));
    }

    fn missing_key(&self) -> Option<String> {
        let keyless = self.api_key.as_ref().is_none_or(|k| k.expose_secret().trim().is_empty());
        let signs = |name: &String| {
            ["authorization", "x-api-key"].iter().any(|known| name.eq_ignore_ascii_case(known))
        };
        let variable = self.provider.key_variable();
        let needs_key = self.at_home() && !variable.is_empty();
        (keyless && needs_key && !self.headers.keys().any(signs)).then(|| {
            let home = self.provider.home();
            let home = if home.is_empty() { self.provider.name() } else { home };
            format!("is missing: {home} needs one (or set {variable})")
        })
    }

    fn missing_endpoint(&self) -> Option<String> {
        let is_missing = self.provider.home().is_empty() && self.endpoint.is_none();
        let message = "is missing: write your resource's own address (https://…/openai/v1)";
        is_missing.then(|| message.to_owned())
    }

    fn key_problem(&self) -> Option<String> {
        let key = self.api_key.as_ref()?;
        let is_odd = HeaderValue::from_str(key.expose_secret().trim()).is_err();
        is_odd.then(|| "contains characters that no key has (a line break?)".to_owned())
    }

    /// Lists the names of headers that are none.
    fn odd_headers(&self) -> impl Iterator<Item = &String> {
        let odd = self.headers.iter().filter(|(name, value)| {
            HeaderName::try_from(name.as_str()).is_err()
                || HeaderValue::from_str(value.expose_secret()).is_err()
        });
        odd.map(|(name, _)| name)
    }

    fn context_problem(&self) -> Option<String> {
        let context = self.context.filter(|context| *context < Share::LEAST)?;
        let Share { tools, fixed, answer, .. } = Share::of(Share::LEAST);
        Some(format!(
            "takes {} tokens or more, not {context}: instructions and the shortest list of tools need {}, an answer \
             {answer}, the conversation the rest",
            Share::LEAST,
            tools + fixed
        ))
    }

    fn model_problem(&self) -> Option<String> {
        match self.model.as_deref().map(str::trim) {
            None if self.provider.usual_model().is_empty() => {
                Some(format!("is missing: name a model that {} serves", self.provider.name()))
            }
            Some("") => Some("takes a model's name (gpt-6.2-sol), not \"\"".to_owned()),
            _ => None,
        }
    }

    fn max_output_problem(&self) -> Option<String> {
        (self.max_output == Some(0)).then(|| "takes a number of tokens above 0".to_owned())
    }

    fn timeout_problem(&self) -> Option<String> {
        let is_zero = self.request_timeout.0.is_zero();
        is_zero.then(|| "takes a length of time above 0".to_owned())
    }
}

/// Reads an endpoint's address.
///
/// # Errors
/// In words that do not repeat an address that may hold a password.
pub(crate) fn read_endpoint(text: &str) -> Result<Url, String> {
    let takes = || {
        let open = !text.contains(['@', '?', '#']);
        let shown = if open { format!("{text:?}") } else { "what stands there".to_owned() };
        format!("takes an address like https://api.openai.com/v1, not {shown}")
    };
    let url = Url::parse(text.trim()).map_err(|_| takes())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(takes());
    }
    let ends = ["/chat/completions", "/responses", "/messages"];
    if ends.iter().any(|end| url.path().ends_with(end)) {
        return Err("ends before /chat/completions, /responses or /messages".to_owned());
    }
    Ok(url)
}

impl RouteSettings {
    fn each(&self) -> [(&'static str, &Option<super::Names>); 4] {
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

    fn said(yaml: &str) -> String {
        let all = serde_saphyr::from_str::<Settings>(yaml).expect("settings").problems();
        all.iter().map(|p| format!("{}: {}", p.key, p.message)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        insta::assert_snapshot!(said("
            provider: openai
            profiles:
              default: { endpoint: 'http://127.0.0.1:1/v1' }
              fast: { provider: anthropic, api: chat, request_timeout: 0s }
              near: { provider: ollama }
              azure: { provider: azure, model: mine }
              odd: { endpoint: 'https://u:hunter22@x/v1/chat/completions', context: 0, headers: { 'a b': x } }
            routes: { main: [fats, offline], small: nobody-at-all, decision: [] }
            prices: { m: { input: -1, output: 0 } }
        "), @r#"
    profiles.default: is set beside the short form (llm.provider, llm.model …), which makes a profile of the same name: keep one of the two
    profiles.azure.api_key: is missing: azure needs one (or set AZURE_OPENAI_API_KEY)
    profiles.azure.endpoint: is missing: write your resource's own address (https://…/openai/v1)
    profiles.fast.api_key: is missing: https://api.anthropic.com/v1 needs one (or set ANTHROPIC_API_KEY)
    profiles.fast.api: takes auto or messages for the provider anthropic, not chat; with provider: openai it takes that, too
    profiles.fast.request_timeout: takes a length of time above 0
    profiles.near.model: is missing: name a model that ollama serves
    profiles.odd.endpoint: ends before /chat/completions, /responses or /messages
    profiles.odd.context: takes 2048 tokens or more, not 0: instructions and the shortest list of tools need 1024, an answer 512, the conversation the rest
    profiles.odd.headers.a b: is no HTTP header
    routes.main: names the profile "fats", which does not exist: did you mean fast?
    routes.small: names the profile "nobody-at-all", which does not exist: there are azure, default, fast, near, odd, offline
    routes.decision: takes a profile's name or a list of names; leave it out for main
    prices.m: takes US dollars per million tokens, 0 or more
    "#);
    }

    #[test]
    fn a_route_with_a_smaller_member_is_noted_with_both_figures() {
        let notes = |routes: &str| {
            let yaml = format!(
                "{{ profiles: {{ big: {{ context: 32768, model: a, endpoint: 'http://127.0.0.1:1' }}, \
                 small: {{ context: 4096, model: b, endpoint: 'http://127.0.0.1:2' }} }}, routes: {{ main: {routes} }} }}"
            );
            serde_saphyr::from_str::<Settings>(&yaml).expect("settings").notes().join("\n")
        };
        assert_eq!(notes("[small, big]"), "");
        let told = notes("[big, small]");
        assert!(told.contains("small reads 4,096 tokens and big 32,768"), "{told}");
    }
}
