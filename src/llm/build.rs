//! Makes models of settings: one per profile, shared by the routes that name it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use secrecy::{ExposeSecret, SecretString};
use selkie_channel_core::{Problem, Redactor};

use crate::adapter::{Adapter, Dialect, Door};
use crate::anthropic::Messages;
use crate::context_window::{Questions, Window};
use crate::doors::Doors;
use crate::fallback::Fallback;
use crate::habits::Habits;
use crate::openai::Chat;
use crate::priced::{PricedModel, price_of};
use crate::profile::Profile;
use crate::responses::Responses;
use crate::retry::Retry;
use crate::settings::{
    Api, DEFAULT, Names, OFFLINE, Price, ProfileSettings, Provider, Settings, is_cloud,
    read_endpoint,
};
use crate::stand_in::{StandIn, StandInModel};
use crate::text_calls::TextCalls;
use crate::thinking::Thinking;
use crate::wire::Wire;
use crate::{Card, ContextWindow, Model, WindowSource};
use selkie_domain::chance::Chance;
use selkie_domain::clock::SharedClock;

/// Makes the HTTP client: called once, and only when a profile needs the network. The error is in words.
pub type HttpFactory = dyn Fn() -> Result<Client, String> + Send + Sync;

/// Who does what.
#[derive(Clone)]
pub struct Routes {
    /// Conversations.
    pub main: Arc<dyn Model>,
    /// Small work.
    pub small: Arc<dyn Model>,
    /// Yes or no questions.
    pub decision: Arc<dyn Model>,
    /// The heartbeat.
    pub heartbeat: Arc<dyn Model>,
    /// Every profile by its name, routed or not.
    pub profiles: Arc<Profiles>,
}

/// Models by the names of their profiles.
pub type Profiles = BTreeMap<String, Arc<dyn Model>>;

/// Builds what the settings say. Keys, passwords in addresses and secret headers are learned by
/// `redactor`.
///
/// # Errors
/// Everything that is wrong with the settings; keys are inside the section `llm`.
pub fn build(
    settings: &Settings,
    stand_in: StandIn,
    http: &HttpFactory,
    redactor: &Redactor,
    clock: &SharedClock,
    chance: &Arc<dyn Chance>,
) -> Result<Routes, Vec<Problem>> {
    let problems = settings.problems();
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut builder = Builder::new(settings, stand_in, http, redactor, clock, chance);
    let mut made = BTreeMap::new();
    let mut route = |names: &[String]| builder.route(names, &mut made).map_err(|p| vec![p]);
    let main = route(&settings.main_route())?;
    let efforts = &settings.efforts;
    let mut or_main = |names: &Option<Names>, effort| match names {
        Some(names) => route(names.list()).map(|model| Thinking::at(model, effort)),
        None => Ok(Thinking::at(Arc::clone(&main), effort)),
    };
    let small = or_main(&settings.routes.small, efforts.small)?;
    let decision = or_main(&settings.routes.decision, efforts.decision)?;
    let heartbeat = or_main(&settings.routes.heartbeat, efforts.heartbeat)?;
    let main = Thinking::at(main, efforts.main);
    for name in settings.all_profiles().into_keys() {
        builder.route(&[name], &mut made).map_err(|p| vec![p])?;
    }
    Ok(Routes { main, small, decision, heartbeat, profiles: Arc::new(made) })
}

/// Lists models whose calls no limit in dollars holds: nobody knows their price.
pub fn unpriced(settings: &Settings) -> Vec<String> {
    let note = |(name, profile): (&String, &ProfileSettings)| {
        let Profile { model, .. } = filled(name, profile);
        let unknown =
            profile.provider != Provider::Offline && price_of(&model, &settings.prices).is_none();
        unknown.then(|| {
            format!(
                "llm.prices has no price for {model}: its calls count as $0, and no limit in dollars holds them"
            )
        })
    };
    let notes: BTreeSet<String> = settings.all_profiles().iter().filter_map(note).collect();
    notes.into_iter().collect()
}

/// Lists every profile with its price, and which of them is asked first.
pub fn price_list(settings: &Settings) -> PriceList {
    let of = |(name, profile): (&String, &ProfileSettings)| {
        let price = price_of(&filled(name, profile).model, &settings.prices);
        // The stand-in costs nothing, which is a price, too.
        let free = || Price { input: 0.0, cached: None, output: 0.0 };
        let price = price.or_else(|| (profile.provider == Provider::Offline).then(free));
        (name.clone(), price)
    };
    let profiles: BTreeMap<_, _> = settings.all_profiles().iter().map(of).collect();
    let main = settings.main_route().into_iter().next().unwrap_or_default();
    PriceList { profiles, main }
}

/// What the models cost, as far as that is known.
#[derive(Clone, Debug, Default)]
pub struct PriceList {
    /// Profiles by their names.
    pub profiles: BTreeMap<String, Option<Price>>,
    /// The profile that is asked when none is named.
    pub main: String,
}

/// Builds one profile after the other, with one client for all.
pub(super) struct Builder<'a> {
    settings: &'a Settings,
    stand_in: StandIn,
    profiles: BTreeMap<String, ProfileSettings>,
    http: &'a HttpFactory,
    client: Option<Client>,
    redactor: &'a Redactor,
    clock: &'a SharedClock,
    chance: &'a Arc<dyn Chance>,
}

impl<'a> Builder<'a> {
    /// Takes settings without problems; `redactor` learns their secrets.
    pub fn new(
        settings: &'a Settings,
        stand_in: StandIn,
        http: &'a HttpFactory,
        redactor: &'a Redactor,
        clock: &'a SharedClock,
        chance: &'a Arc<dyn Chance>,
    ) -> Self {
        let profiles = settings.all_profiles();
        profiles.values().for_each(|p| learn(p, redactor));
        Self { settings, stand_in, profiles, http, client: None, redactor, clock, chance }
    }

    fn route(&mut self, names: &[String], made: &mut Profiles) -> Result<Arc<dyn Model>, Problem> {
        let mut models = Vec::new();
        for name in names {
            let model = match made.get(name) {
                Some(model) => Arc::clone(model),
                None => self.profile(name)?,
            };
            made.insert(name.clone(), Arc::clone(&model));
            models.push(model);
        }
        let mut models = models.into_iter();
        match (models.next(), models.len()) {
            (Some(only), 0) => Ok(only),
            (Some(first), _) => Ok(Arc::new(Fallback::new(first, models.collect()))),
            (None, _) => Ok(self.stand_in(OFFLINE)),
        }
    }

    fn stand_in(&self, profile: &str) -> Arc<dyn Model> {
        Arc::new(StandInModel { profile: profile.to_owned(), stand_in: self.stand_in })
    }

    /// A profile with its retries and its price.
    fn profile(&mut self, name: &str) -> Result<Arc<dyn Model>, Problem> {
        let Some(profile) = self.profiles.get(name).cloned() else {
            return Ok(self.stand_in(OFFLINE));
        };
        let is_short = name == DEFAULT && !self.settings.profiles.contains_key(name);
        let at = if is_short { "llm".to_owned() } else { format!("llm.profiles.{name}") };
        let filled = Profile { at, ..filled(name, &profile) };
        let model = filled.model.clone();
        let bare = self
            .adapter(&profile, filled)
            .map_err(|message| Problem { key: format!("profiles.{name}"), message })?;
        if profile.provider == Provider::Offline {
            return Ok(bare);
        }
        let retried: Arc<dyn Model> = {
            let chance = Arc::clone(self.chance);
            let clock = Arc::clone(self.clock);
            Arc::new(Retry::new(Arc::new(TextCalls::new(bare)), chance, clock))
        };
        Ok(PricedModel::around(retried, &model, &self.settings.prices))
    }

    /// A profile's adapter alone. The error is in words.
    fn adapter(
        &mut self,
        profile: &ProfileSettings,
        filled: Profile,
    ) -> Result<Arc<dyn Model>, String> {
        if profile.provider.api().is_none() {
            return Ok(self.stand_in(&filled.name));
        }
        let (first, other) = profile.apis();
        let other = other.map(|api| self.door(profile, filled.clone(), api)).transpose()?;
        let window = self.window(profile, &filled)?;
        Ok(Arc::new(Doors::new(self.door(profile, filled, first)?, other, window)))
    }

    /// A profile's window: its server is asked for it where config is silent and the address does not say.
    fn window(&mut self, profile: &ProfileSettings, filled: &Profile) -> Result<Window, String> {
        let wire = self.wire(profile, "")?;
        let source = match profile.context {
            Some(_) => WindowSource::Config,
            None if is_cloud(&wire.url) => WindowSource::Provider,
            None => WindowSource::Unknown,
        };
        let asks = source == WindowSource::Unknown;
        let questions = asks.then(|| Questions::new(wire, &filled.model, profile.provider));
        let known = ContextWindow { tokens: filled.card.context, source };
        Ok(Window::new(&filled.name, known, questions))
    }

    fn door(
        &mut self,
        profile: &ProfileSettings,
        filled: Profile,
        api: Api,
    ) -> Result<Box<dyn Door>, String> {
        let stream = profile.stream;
        Ok(match api {
            Api::Responses => {
                let habits = Habits::responses(stream);
                Box::new(self.speaking::<Responses>(profile, filled, habits)?)
            }
            Api::Messages => {
                let habits = Habits::messages(stream);
                Box::new(self.speaking::<Messages>(profile, filled, habits)?)
            }
            Api::Chat | Api::Auto => {
                let habits = Habits::chat(stream, profile.is_openai()).of_model(&filled.model);
                Box::new(self.speaking::<Chat>(profile, filled, habits)?)
            }
        })
    }

    fn speaking<D: Dialect>(
        &mut self,
        profile: &ProfileSettings,
        filled: Profile,
        habits: Habits,
    ) -> Result<Adapter<D>, String> {
        let mut wire = self.wire(profile, D::PATH)?;
        if D::PATH == Messages::PATH && !wire.headers.contains_key(VERSION) {
            wire.headers.insert(VERSION, HeaderValue::from_static("2023-06-01"));
        }
        Ok(Adapter::new(wire, filled, habits))
    }

    fn wire(&mut self, profile: &ProfileSettings, path: &str) -> Result<Wire, String> {
        let home = profile.provider.home();
        let mut url = read_endpoint(profile.endpoint.as_deref().unwrap_or(home))?;
        let whole = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&whole);
        let client = match &self.client {
            Some(client) => client.clone(),
            None => self.client.insert((self.http)()?).clone(),
        };
        Ok(Wire {
            http: client,
            url,
            headers: headers(profile)?,
            silence: profile.request_timeout.0,
            redactor: self.redactor.clone(),
            clock: Arc::clone(self.clock),
        })
    }
}

/// A profile with all defaults filled in, but for what names its address.
pub(super) fn filled(name: &str, profile: &ProfileSettings) -> Profile {
    let model = profile.model.clone().unwrap_or_else(|| profile.provider.usual_model().to_owned());
    let usual = profile.provider.usual_context();
    // The short form's profile has a name that nobody gave it.
    let by = if name == DEFAULT { profile.provider.name() } else { name };
    Profile {
        card: Card {
            name: format!("{model} via {by}"),
            context: profile.context.unwrap_or(usual),
            sees_images: profile.sees(),
        },
        name: name.to_owned(),
        at: String::new(),
        origin: Arc::default(),
        model,
        effort: profile.effort,
        max_output: profile.max_output,
    }
}

/// The header in which Messages wants its version.
const VERSION: &str = "anthropic-version";

/// The key in the provider's own header, and the profile's headers over it.
fn headers(profile: &ProfileSettings) -> Result<HeaderMap, String> {
    let mut all = HeaderMap::new();
    let key = profile.api_key.as_ref().map(|k| k.expose_secret().trim()).filter(|k| !k.is_empty());
    let (name, value) = match profile.provider.api() {
        Some(Api::Messages) => (HeaderName::from_static("x-api-key"), key.map(str::to_owned)),
        _ => (AUTHORIZATION, key.map(|k| format!("Bearer {k}"))),
    };
    if let Some(value) = value {
        all.insert(name, secret(&value)?);
    }
    for (name, value) in &profile.headers {
        let name = HeaderName::try_from(name.as_str()).map_err(|e| e.to_string())?;
        all.insert(name, secret(value.expose_secret())?);
    }
    Ok(all)
}

fn secret(value: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(value).map_err(|e| e.to_string())?;
    value.set_sensitive(true);
    Ok(value)
}

fn learn(profile: &ProfileSettings, redactor: &Redactor) {
    if let Some(key) = &profile.api_key {
        redactor.learn(key.expose_secret());
    }
    let url = profile.endpoint.as_deref().and_then(|e| Url::parse(e).ok());
    if let Some(password) = url.as_ref().and_then(Url::password) {
        redactor.learn(password);
    }
    let named = |name: &str, words: &[&str]| words.iter().any(|w| name.to_lowercase().contains(w));
    for (name, value) in &profile.headers {
        if named(name, &["auth", "key", "token", "secret", "cookie"]) {
            learn_header(value, redactor);
        }
    }
    for (name, value) in url.iter().flat_map(Url::query_pairs) {
        if named(&name, &["auth", "key", "token", "secret"]) {
            redactor.learn(&value);
        }
    }
}

/// `Bearer abc`: the word alone is the secret too.
fn learn_header(value: &SecretString, redactor: &Redactor) {
    let value = value.expose_secret();
    redactor.learn(value);
    value.split_whitespace().skip(1).for_each(|part| redactor.learn(part));
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    impl Builder<'_> {
        /// The only profile's adapter without retries, so that a test sees the first error.
        pub fn only_adapter(&mut self) -> Arc<dyn Model> {
            let (name, profile) = self.profiles.clone().pop_first().expect("a profile");
            let filled = filled(&name, &profile);
            self.adapter(&profile, filled).expect("an adapter")
        }
    }
}
