//! YAML, environment and flags to settings; all problems at once, each with its place.
//!
//! Layers, the weakest first: the customary variables of other programs, the file, systemd's credentials,
//! `SELKIE__…` variables, flags. First the shape is checked ([`read()`]), then what is meant: the caller
//! lets channels and models look at their sections and adds their problems ([`RawConfig::add`]), and only
//! then there are settings ([`RawConfig::finish`]).

mod acp;
pub mod alerts;
pub mod env;
pub mod paths;
pub mod places;
pub mod problem;
pub mod settings;
pub mod show;
pub mod source;
pub mod telemetry;

mod auth_profiles;
mod blank;
mod bounds;
mod commands;
mod conventional_env;
pub mod cron_file;
mod cross_checks;
mod database;
mod effective;
mod exposed;
pub mod fixed;
mod home;
mod key_aliases;
mod layer;
mod layers;
mod lines;
mod mcp;
mod named;
mod node;
mod own_agents;
mod place_settings;
mod reach;
mod read;
mod rows;
mod sandboxed;
mod schema;
mod secrets;
mod skills;
mod sources;
pub mod state_folder;
mod tool_places;
mod type_errors;
mod unprompted;
mod urls;
mod valid_subset;
mod webhooks;
mod written;
mod yaml;

use std::path::PathBuf;

use selkie_channel_core::ChannelKit;
use serde_json::{Map, Value};

use crate::layer::Tree;
use crate::layers::Layers;
use crate::lines::Lines;
use crate::paths::FolderPaths;
use crate::problem::{Place, Problem, Problems, belongs};
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::source::{Environment, at, key, split};
use crate::written::file_twin;
use crate::yaml::DuplicateKey;
use selkie_domain::schema::{Fault, FaultKind, check};

pub use conventional_env::{BASE_URL, may_go_to};
pub use cross_checks::crash_at;
pub use effective::{Effective, written};
pub use source::Flag;
pub use sources::Sources;

/// The config that comes with every checkout: every key with its default, commented.
pub const EXAMPLE: &str = include_str!("../../config.example.yaml");

/// Config that was read and whose shape was checked.
pub struct RawConfig {
    value: Value,
    /// The same without what is wrong, for everything that is checked afterwards.
    sound: Value,
    schema: Value,
    secrets: Secrets,
    tree: Tree,
    file: Option<(String, Lines)>,
    /// The files that keys like `bot_token_file` name.
    pub files: Vec<PathBuf>,
    /// What is wrong so far, in the order it was found.
    pub problems: Vec<Problem>,
    /// What is right and still may not be what its writer wants, a sentence each.
    pub notes: Vec<String>,
    settings: Option<Settings>,
    env: Environment,
    here: PathBuf,
}

/// Returns the JSON Schema of the whole config.
pub fn whole_schema(kits: &[ChannelKit]) -> Value {
    schema::compose(kits, &Secrets::of(kits))
}

/// Whether a dotted key holds a secret.
pub fn is_secret(kits: &[ChannelKit], key: &str) -> bool {
    Secrets::of(kits).hides(&split(key))
}

/// Reads and checks the shape of everything.
///
/// # Errors
/// When a file cannot be read at all; every other problem is kept in the reading.
pub fn read(sources: &Sources, kits: &[ChannelKit]) -> Result<RawConfig, Problems> {
    let secrets = Secrets::of(kits);
    let schema = schema::compose(kits, &secrets);
    let Layers { tree, file, repeated, files, problems, exposed } =
        Layers::read(sources, kits, &schema, &secrets)?;
    let mut value = tree.json().clone();
    schema::settle_nulls(&schema, "", &mut value);
    let mut reading = RawConfig {
        sound: Value::Null,
        tree,
        file,
        files,
        problems,
        notes: [env::empty(&sources.env), exposed].concat(),
        settings: None,
        env: sources.env.clone(),
        here: sources.here.clone(),
        value,
        schema,
        secrets,
    };
    reading.problems.extend(env::nearly(&sources.env, &reading.schema));
    reading.problems.extend(env::unreadable(&sources.env));
    reading.check_shape(kits, repeated);
    reading.check_meaning(kits);
    for path in reading.secrets.unexpanded(&reading.value) {
        let message =
            format!("is the name of a variable, whose value is not put there{}", elsewhere(&path));
        reading.also_wrong(&path, message);
    }
    Ok(reading)
}

impl RawConfig {
    /// Returns the settings when nothing is wrong.
    ///
    /// # Errors
    /// Every problem, by place.
    pub fn finish(self) -> Result<Settings, Problems> {
        match self.finish_sound() {
            (Some(settings), problems) if problems.0.is_empty() => Ok(settings),
            (_, problems) => Err(problems),
        }
    }

    /// Returns the settings without what is wrong, where that leaves any, and every problem by place.
    pub fn finish_sound(mut self) -> (Option<Settings>, Problems) {
        self.problems.sort();
        self.problems.dedup();
        (self.settings, Problems(self.problems))
    }

    /// Returns a channel's section without what is known to be wrong in it; `None` when there is none.
    pub fn section(&self, name: &str) -> Option<&Value> {
        self.sound.get(name)
    }

    /// Returns the settings without what is known to be wrong, for sections that check themselves.
    pub fn settings(&self) -> Option<&Settings> {
        self.settings.as_ref()
    }

    /// Adds what a section found wrong with itself; `key` is a dotted path inside it. The section "" is the whole.
    pub fn add(&mut self, section: &str, found: Vec<selkie_channel_core::Problem>) {
        for selkie_channel_core::Problem { key: inner, message } in found {
            let path: Vec<String> = std::iter::once(section)
                .chain(inner.split('.'))
                .filter(|k| !k.is_empty())
                .map(str::to_owned)
                .collect();
            self.also_wrong(&path, message);
        }
    }

    /// Adds what is wrong with a value that a variable of the system's gave, unless its key has been told.
    pub fn add_of_variable(&mut self, variable: &str, key: &str, message: String) {
        if !self.problems.iter().any(|p| p.key == key) {
            let place = Place::of(variable);
            self.problems.push(Problem { place, key: key.to_owned(), message });
        }
    }

    /// Finds the folders, as far as the settings can be read.
    pub fn folders(&self) -> Option<FolderPaths> {
        self.settings.as_ref().map(|settings| FolderPaths::choose(settings, &self.env, &self.here))
    }

    /// Lists the secrets that stand in the config, for the redactor.
    pub fn secrets(&self) -> Vec<String> {
        self.secrets.values(&self.value)
    }

    /// Returns what it comes to, to be compared with another.
    pub fn effective(&self) -> Effective {
        Effective::of(self.value.clone())
    }

    /// Lists the keys whose secret may stand in any text as a word.
    pub fn weak_secrets(&self) -> Vec<String> {
        self.secrets.weak(&self.value)
    }

    fn check_shape(&mut self, kits: &[ChannelKit], repeated: Vec<DuplicateKey>) {
        // Which of the two was meant is known of a key alone that something stronger than the file says.
        let mut faulty: Vec<Vec<String>> = repeated.into_iter().map(|one| one.path).collect();
        faulty.retain(|path| self.is_of_the_file(path));
        for fault in check(&self.schema, &self.value) {
            faulty.push(fault.path.clone());
            let Fault { path, .. } = &fault;
            // A secret whose file is wrong has been told already.
            let told = self.problems.iter().any(|p| p.key == key(&file_twin(path)));
            if told && fault.kind == FaultKind::Missing {
                continue;
            }
            let mut message = problem::words(&fault, self.secrets.hides(path));
            if fault.kind == FaultKind::Missing && self.secrets.hides(path) {
                message.push_str(&elsewhere(path));
            }
            if let FaultKind::Type { takes, got } = &fault.kind {
                let value = at(&self.value, path);
                let hint = named::owners_hint(path, value, kits);
                let list = (!self.secrets.hides(path)).then(|| problem::as_list(takes, got));
                let hint = hint.or_else(|| list.flatten());
                message.extend(hint.map(|hint| format!(": write {hint}")));
            }
            self.wrong(path, message);
        }
        for (path, message) in schema::bad_spans(&self.schema, &self.value) {
            self.wrong(&path, message);
            faulty.push(path);
        }
        self.sound = valid_subset::sound(&self.schema, self.value.clone(), &faulty);
    }

    fn check_meaning(&mut self, kits: &[ChannelKit]) {
        let mut own = self.sound.clone();
        if let Some(map) = own.as_object_mut() {
            map.retain(|key, _| !kits.iter().any(|k| k.name == key));
        }
        let settings = serde_json::from_value::<Settings>(own.clone()).or_else(|error| {
            let faulty = self.typed_problems(&own, &error.to_string());
            serde_json::from_value(valid_subset::sound(&self.schema, own, &faulty))
        });
        // Types that refuse even what is left have been told above.
        let Ok(settings) = settings else { return };
        let has_section = |name: &str| self.value.get(name).is_some();
        for (path, message) in cross_checks::contradictions(&settings, kits, &has_section) {
            // A row whose lists could not be read says what they were to say.
            let within = format!("{}.", key(&path));
            let is_row = path.len() == 3 && within.starts_with("approvals.policy[");
            if is_row && self.problems.iter().any(|p| p.key.starts_with(&within)) {
                continue;
            }
            self.also_wrong(&path, message);
        }
        for (path, message) in blank::problems(&self.sound) {
            self.also_wrong(&path, message);
        }
        for (path, message) in reach::listeners(&settings, kits, &|path| self.in_effect(path)) {
            self.also_wrong(&path, message);
        }
        let nothing = Value::Object(Map::new());
        let told = |kit: &ChannelKit| self.problems.iter().any(|p| belongs(&p.key, kit.name));
        let is_empty = |kit: &&ChannelKit| self.value.get(kit.name) == Some(&nothing) && !told(kit);
        for kit in kits.iter().filter(is_empty).collect::<Vec<_>>() {
            let message =
                "is empty: write the channel's keys (selkie config example), or remove the section";
            self.wrong(&[kit.name.to_owned()], message.to_owned());
        }
        self.settings = Some(settings);
    }

    /// The text that a key of a section takes effect as, when there is that section.
    fn in_effect(&self, path: &[String]) -> Option<String> {
        let section = self.sound.get(path.first()?)?;
        let written = path[1..].iter().try_fold(section, |value, key| value.get(key));
        let default = || self.schema.pointer(&schema::find(&self.schema, path)?)?.get("default");
        written.or_else(default)?.as_str().map(str::to_owned)
    }

    /// What only the types know (the schema took it): every value is tried alone to find its key. Gives the
    /// paths of those that cannot be taken.
    fn typed_problems(&mut self, own: &Value, whole: &str) -> Vec<Vec<String>> {
        let mut found = type_errors::refused(own);
        if found.is_empty() {
            found.push((Vec::new(), whole.to_owned()));
        }
        let faulty = found.iter().map(|(path, _)| path.clone()).collect();
        for (path, message) in found {
            let message =
                if self.secrets.hides(&path) { "is not accepted".to_owned() } else { message };
            self.wrong(&path, message);
        }
        faulty
    }

    /// Adds a problem of a key of which nothing has been told yet: a value that was taken out for another
    /// reason is no second mistake.
    fn also_wrong(&mut self, path: &[String], message: String) {
        let own = key(path);
        let twin = key(&file_twin(path));
        let told = |p: &Problem| p.key == own || p.key == twin;
        if !self.problems.iter().any(told) {
            self.wrong(path, message);
        }
    }

    fn wrong(&mut self, path: &[String], message: String) {
        let place = self.place(path);
        self.problems.push(Problem { place, key: key(path), message });
    }

    fn is_of_the_file(&self, path: &[String]) -> bool {
        self.file.as_ref().is_some_and(|(name, _)| self.place(path).name == *name)
    }

    fn place(&self, path: &[String]) -> Place {
        self.tree.place(path, &|section| {
            let (name, lines) = self.file.as_ref()?;
            let line = lines.of_path(section);
            (section.is_empty() || line.is_some()).then(|| Place { name: name.clone(), line })
        })
    }
}

/// Says where else a missing secret may come from.
fn elsewhere(path: &[String]) -> String {
    let variable = path.join("__").to_uppercase();
    let file = path.last().map(|k| format!("{k}_file")).unwrap_or_default();
    format!(": write it, name a file in {file}, or set SELKIE__{variable}")
}

#[cfg(test)]
mod tests;
