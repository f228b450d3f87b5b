//! The profiles of the config as people name them, and what the routes of tasks say.

use std::collections::BTreeMap;

use crate::build::filled;
use crate::settings::{ProfileSettings, Provider, Settings};
use crate::stand_in::NAME;
use selkie_domain::choice::Choice;
use selkie_domain::effort::Effort;
use selkie_domain::spelling::nearest;

/// What can be chosen to answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelList {
    /// By the profiles' names.
    pub profiles: BTreeMap<String, ListedModel>,
    /// What answers conversations.
    pub main: ListedRoute,
    /// What answers the heartbeat.
    pub heartbeat: ListedRoute,
}

/// A profile, as people know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedModel {
    /// The model's name at its provider.
    pub model: String,
    /// What answers: `gpt-6 via main`.
    pub name: String,
}

/// A route of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedRoute {
    /// Its profiles, as people know them, in the order in which they are asked.
    pub answers: Vec<String>,
    /// How hard it thinks, where the config says so.
    pub effort: Option<Effort>,
}

impl ListedRoute {
    /// Returns what it chooses besides its own models.
    pub fn choice(&self) -> Choice {
        Choice { effort: self.effort, ..Choice::default() }
    }

    /// Says what answers: `a via x, else b via y`.
    pub fn told(&self) -> String {
        self.answers.join(", else ")
    }
}

impl ModelList {
    /// Returns the profile that a text names: by its name, or by a model that it alone asks.
    ///
    /// # Errors
    /// In words: which there are, and the nearest.
    pub fn named(&self, text: &str) -> Result<String, String> {
        let text = text.trim();
        if self.profiles.contains_key(text) {
            return Ok(text.to_owned());
        }
        let mut asking = self.profiles.iter().filter(|(_, listed)| listed.model == text);
        match (asking.next(), asking.next()) {
            (Some((name, _)), None) => return Ok(name.clone()),
            (Some((one, _)), Some((other, _))) => {
                return Err(format!(
                    "several profiles ask {text:?}: name one of them ({one}, {other} …)"
                ));
            }
            (None, _) => {}
        }
        let known = || self.profiles.keys().map(String::as_str);
        let models = self.profiles.values().map(|listed| listed.model.as_str());
        let near = nearest(text, known().chain(models));
        let hint = near.map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
        let takes = match self.profiles.is_empty() {
            true => "the config has none".to_owned(),
            false => format!("takes {}", known().collect::<Vec<_>>().join(", ")),
        };
        Err(format!("{text:?} is not a model profile of the config ({takes}).{hint}"))
    }

    /// Returns a profile as people know it: its own name, where it has left the config.
    pub fn name_of<'a>(&'a self, profile: &'a str) -> &'a str {
        self.profiles.get(profile).map_or(profile, |listed| &listed.name)
    }
}

/// Lists what the settings have.
pub fn model_list(settings: &Settings) -> ModelList {
    let profiles = profiles(settings);
    let route = |names: &[String], effort: Option<Effort>| ListedRoute {
        answers: names.iter().map(|name| name_of(&profiles, name)).collect(),
        effort,
    };
    let main = settings.main_route();
    let heartbeat = settings.routes.heartbeat.as_ref().map_or(main.as_slice(), |n| n.list());
    ModelList {
        main: route(&main, settings.efforts.main),
        heartbeat: route(heartbeat, settings.efforts.heartbeat),
        profiles,
    }
}

/// Lists the profiles, and the stand-in where a route names it or nothing else is there.
fn profiles(settings: &Settings) -> BTreeMap<String, ListedModel> {
    let all = settings.all_profiles();
    let missing = settings.routed().into_iter().filter(|name| !all.contains_key(name));
    let stand_in = ProfileSettings { provider: Provider::Offline, ..ProfileSettings::default() };
    let stand_ins: Vec<_> = missing.map(|name| (name, stand_in.clone())).collect();
    let listed = |(name, profile): (String, ProfileSettings)| {
        let filled = filled(&name, &profile);
        let shown = match profile.provider {
            Provider::Offline => NAME.to_owned(),
            _ => filled.card.name,
        };
        (name, ListedModel { model: filled.model, name: shown })
    };
    all.into_iter().chain(stand_ins).map(listed).collect()
}

fn name_of(profiles: &BTreeMap<String, ListedModel>, profile: &str) -> String {
    profiles.get(profile).map_or_else(|| profile.to_owned(), |listed| listed.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(yaml: &str) -> ModelList {
        model_list(&serde_saphyr::from_str(yaml).expect("settings"))
    }

    #[test]
    fn a_profile_is_named_by_its_name_or_by_the_model_that_it_alone_asks() {
        let list = list(
            "
            profiles:
              quick: { endpoint: 'http://127.0.0.1:1/v1', model: gpt-6-luna }
              strong: { endpoint: 'http://127.0.0.1:1/v1', model: gpt-6.2-sol }
              spare: { endpoint: 'http://127.0.0.1:2/v1', model: gpt-6.2-sol }
            routes: { main: [quick, spare] }
            efforts: { main: low }",
        );
        assert_eq!(list.named(" strong "), Ok("strong".to_owned()));
        assert_eq!(list.named("gpt-6-luna"), Ok("quick".to_owned()));
        insta::assert_snapshot!(list.named("gpt-6.2-sol").unwrap_err(), @r#"several profiles ask "gpt-6.2-sol": name one of them (spare, strong …)"#);
        insta::assert_snapshot!(list.named("stron").unwrap_err(), @r#""stron" is not a model profile of the config (takes quick, spare, strong). Did you mean strong?"#);
        assert_eq!(list.main.told(), "gpt-6-luna via quick, else gpt-6.2-sol via spare");
        assert_eq!(list.main.choice(), Choice { effort: Some(Effort::Low), ..Choice::default() });
        assert_eq!(list.heartbeat.effort, None);
        assert_eq!(list.name_of("gone"), "gone");
    }

    #[test]
    fn without_a_config_the_stand_in_answers() {
        let list = list("{}");
        assert_eq!(list.main.told(), "built-in stand-in");
        assert_eq!(list.named("offline"), Ok("offline".to_owned()));
    }
}
