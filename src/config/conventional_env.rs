//! The variables that other programs use too: they rank below everything that is written for selkie.

use serde_json::{Map, Value};

use crate::problem::Place;
use crate::source::{Environment, SourceValues, path, put};
use selkie_llm::Provider;

/// Where the key of OpenAI's variable belongs, when that is not OpenAI's own server.
pub const BASE_URL: &str = "OPENAI_BASE_URL";
/// The key of Brave's search, and whose server takes it.
const SEARCH: (&str, &str) = ("BRAVE_SEARCH_API_KEY", "https://api.search.brave.com");
/// Who serves a profile that does not say.
const USUAL: Provider = Provider::Openai;

/// Fills in keys where the merged config has none: for every profile that asks the server which the key belongs to (it
/// must not reach another), and, when no model is configured at all, for the first provider whose variable is set and
/// whose usual model is known.
pub fn layer(env: &Environment, merged: &Value) -> SourceValues {
    let mut value = Value::Object(Map::new());
    let llm = merged.get("llm").and_then(Value::as_object);
    let configured = llm.is_some_and(|l| l.iter().any(|(key, v)| key != "efforts" && !v.is_null()));
    let lenders = Provider::all().filter_map(|provider| Lender::of(env, provider));
    let lenders: Vec<Lender<'_>> = lenders.collect();
    let whole =
        lenders.iter().find(|one| one.key.is_some() && !one.provider.usual_model().is_empty());
    if let Some(lender) = whole.filter(|_| !configured) {
        put(&mut value, &path(&["llm", "provider"]), lender.provider.name().into());
        lender.lend(&Map::new(), &["llm"], &mut value);
    }
    for lender in &lenders {
        if let Some(short) = llm.filter(|l| is_profile(l)) {
            lender.lend(short, &["llm"], &mut value);
        }
        let profiles = llm.and_then(|l| l.get("profiles")).and_then(Value::as_object);
        for (name, profile) in profiles.into_iter().flatten() {
            if let Some(profile) = profile.as_object() {
                lender.lend(profile, &["llm", "profiles", name], &mut value);
            }
        }
    }
    if let Some(secret) = text(env, SEARCH.0).filter(|_| searches(merged)) {
        let at = path(&["tools", "web_search", "brave", "api_key"]);
        put(&mut value, &at, secret.into());
    }
    let provider_of = merged.clone();
    let chosen = value.clone();
    SourceValues { value, place: Box::new(move |path| place(path, &provider_of, &chosen)) }
}

/// Whether the key in a provider's variable may be sent to this address.
pub fn may_go_to(env: &Environment, provider: Provider, endpoint: &str) -> bool {
    match base_url(env, provider) {
        Some(url) => endpoint.trim_end_matches('/') == url,
        None => provider.is_home(endpoint),
    }
}

/// What a provider's variables hold.
struct Lender<'a> {
    env: &'a Environment,
    provider: Provider,
    key: Option<&'a str>,
}

impl<'a> Lender<'a> {
    fn of(env: &'a Environment, provider: Provider) -> Option<Self> {
        let key = text(env, provider.key_variable());
        (key.is_some() || base_url(env, provider).is_some()).then_some(Self { env, provider, key })
    }

    /// Fills in what a profile of this provider leaves open. A key of its own goes where config says, and nowhere else.
    fn lend(&self, profile: &Map<String, Value>, at: &[&str], value: &mut Value) {
        let text = |key: &str| profile.get(key).and_then(Value::as_str);
        let has_key = profile.get("api_key").is_some_and(|key| !key.is_null());
        if text("provider").unwrap_or(USUAL.name()) != self.provider.name() || has_key {
            return;
        }
        let set = |key: &str| path(&[at, &[key]].concat());
        let signs =
            profile.get("headers").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
        let written = text("endpoint");
        // A key may stand in a header, and goes where config says, too.
        let lent = base_url(self.env, self.provider).filter(|_| written.is_none() && !signs);
        if let Some(url) = lent {
            put(value, &set("endpoint"), url.into());
        }
        let endpoint = written.or(lent).unwrap_or(self.provider.home());
        if let Some(key) = self.key.filter(|_| may_go_to(self.env, self.provider, endpoint)) {
            put(value, &set("api_key"), key.into());
        }
    }
}

fn base_url(env: &Environment, provider: Provider) -> Option<&str> {
    text(env, BASE_URL)
        .filter(|_| provider == Provider::Openai)
        .map(|url| url.trim_end_matches('/'))
}

fn text<'a>(env: &'a Environment, variable: &str) -> Option<&'a str> {
    env.get(variable).map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// Whether a search key is wanted: none is written, and it would reach its own server alone.
fn searches(merged: &Value) -> bool {
    let of = |key: &str| merged.pointer(&format!("/tools/web_search/brave/{key}"));
    of("api_key").is_none_or(Value::is_null)
        && of("base_url")
            .and_then(Value::as_str)
            .is_none_or(|u| u.trim_end_matches('/') == SEARCH.1)
}

/// Whether the section itself is a profile, in the short form.
fn is_profile(llm: &Map<String, Value>) -> bool {
    ["provider", "model"].iter().any(|key| llm.get(*key).is_some_and(|v| !v.is_null()))
}

fn place(path: &[String], merged: &Value, chosen: &Value) -> Place {
    if path.first().is_some_and(|section| section == "tools") {
        return Place::of(SEARCH.0);
    }
    let Some((key, section)) = path.split_last() else { return Place::of(USUAL.key_variable()) };
    if key == "endpoint" {
        return Place::of(BASE_URL);
    }
    let provider = [merged, chosen].into_iter().find_map(|tree| {
        section.iter().try_fold(tree, |v, key| v.get(key))?.get("provider")?.as_str()
    });
    let named = |one: &Provider| Some(one.name()) == provider;
    Place::of(Provider::all().find(named).unwrap_or(USUAL).key_variable())
}
