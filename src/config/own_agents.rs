//! What is wrong with `agents`, and with places that name one.

use std::path::Path;

use crate::problem::{Wrong, one_of};
use crate::settings::Settings;
use crate::source::path;
use selkie_domain::own_agent::is_name;
use selkie_domain::spelling::nearest;
use selkie_engine::intake::settings::AgentSettings;
use selkie_engine::work::agents::is_persona_file;
use selkie_llm as llm;
use selkie_schedule::book::unknown_model;

/// Words of `/agent` that are no agent's name.
const TAKEN: [&str; 2] = ["off", "default"];
/// The longest persona in the config, in bytes: no more of a file is read, either.
const MAX_PERSONA: usize = 16 * 1024;
/// The longest line about an agent, in characters.
const MAX_ABOUT: usize = 200;

/// Lists what is wrong; `judge` says it of a word that is to name a tool or a class.
pub fn problems(settings: &Settings, judge: &dyn Fn(&str) -> Option<String>) -> Vec<Wrong> {
    let prices = llm::price_list(&settings.llm);
    let mut wrong = Vec::new();
    for (name, agent) in &settings.agents {
        let mut add = |keys: &[&str], message: Option<String>| {
            let keys: Vec<&str> = ["agents", name.as_str()].iter().chain(keys).copied().collect();
            wrong.extend(message.map(|message| (path(&keys), message)));
        };
        add(&[], name_fault(name));
        add(&["about"], about_fault(&agent.about));
        add(&["persona"], persona_fault(agent));
        add(&["model"], agent.model.as_deref().and_then(|model| unknown_model(model, &prices)));
        for (index, word) in agent.tools.iter().flatten().enumerate() {
            add(&["tools", &index.to_string()], judge(word));
        }
        add(&["workspace"], agent.workspace.as_deref().and_then(workspace_fault));
        let memory = agent.memory.as_deref().filter(|memory| !is_name(memory));
        add(
            &["memory"],
            memory.map(|memory| format!("takes own, or a name of {NAME}, not {memory:?}")),
        );
    }
    for (key, places) in [("places", &settings.places), ("groups", &settings.groups)] {
        for (place, here) in places {
            let unknown = here.agent.as_deref().and_then(|name| unknown_agent(settings, name));
            wrong.extend(unknown.map(|message| (path(&[key, place, "agent"]), message)));
        }
    }
    wrong
}

/// What a name is made of.
const NAME: &str = "1 to 32 small letters, digits and hyphens";

fn name_fault(name: &str) -> Option<String> {
    if TAKEN.contains(&name) {
        return Some(format!("is a word of /agent: call the agent something other than {name}"));
    }
    (!is_name(name)).then(|| format!("takes a name of {NAME}"))
}

fn about_fault(about: &str) -> Option<String> {
    let is_long = about.chars().count() > MAX_ABOUT;
    (is_long || about.contains('\n'))
        .then(|| format!("takes one line of at most {MAX_ABOUT} characters"))
}

fn persona_fault(agent: &AgentSettings) -> Option<String> {
    let words = agent.persona.as_deref()?;
    match agent.persona_file() {
        Some(file) if is_persona_file(file) => None,
        Some(file) => {
            Some(format!("takes words, or persona/NAME.md in the state folder, not {file:?}"))
        }
        None if words.trim().is_empty() => Some(
            "takes words, or persona/NAME.md in the state folder: write some, or take the key out"
                .to_owned(),
        ),
        None if words.len() > MAX_PERSONA => {
            Some(format!("takes at most {MAX_PERSONA} bytes, and has {}", words.len()))
        }
        None => None,
    }
}

fn workspace_fault(folder: &Path) -> Option<String> {
    let shown = folder.display();
    (!folder.is_absolute())
        .then(|| format!("takes a whole path, such as /srv/project, not \"{shown}\""))
}

fn unknown_agent(settings: &Settings, name: &str) -> Option<String> {
    if settings.agents.contains_key(name) {
        return None;
    }
    let names: Vec<String> =
        settings.agents.keys().filter(|name| name_fault(name).is_none()).cloned().collect();
    if names.is_empty() {
        return Some(format!("is {name:?}, and the config has no agents: add it to `agents`"));
    }
    let near = nearest(name, names.iter().map(String::as_str));
    let hint = near.map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
    Some(format!("takes the name of an agent ({}), not {name:?}{hint}", one_of(&names)))
}
