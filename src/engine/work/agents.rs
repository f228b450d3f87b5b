//! Agents of one's own: what the config says of each, who may have which, and what a task gets of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::work::persona::Persona;
use selkie_domain::effort::Effort;
use selkie_domain::facts::Trust;
use selkie_domain::own_agent::OwnAgent;
use selkie_domain::spelling::nearest;

/// The folder of persona files, in the state folder.
const FOLDER: &str = "persona/";
/// Stands for a memory that is called as its agent is.
const OWN_MEMORY: &str = "own";

/// `agents.<name>`: an agent of one's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSettings {
    /// What it is for, in one line.
    pub about: String,
    /// Who it is: words, or a file of the state folder (`persona/NAME.md`). Default: who the bot is.
    pub persona: Option<String>,
    /// The profile that answers. Default: that of the place, or of the route `main`.
    pub model: Option<String>,
    /// How hard it thinks. Default: what the place or the route says.
    pub effort: Option<Effort>,
    /// The tools and classes of tools that it may use. It takes away the others and opens none. Default: all that
    /// are there.
    pub tools: Option<Vec<String>>,
    /// The folder that it works in. Default: that of the place.
    pub workspace: Option<PathBuf>,
    /// The name of a memory that it has for itself in each place; `own`: its own name. Default: the place's.
    pub memory: Option<String>,
}

impl AgentSettings {
    /// Returns the file that the persona names, in the state folder; nothing where it is words.
    pub fn persona_file(&self) -> Option<&str> {
        let text = self.persona.as_deref()?.trim();
        (text.ends_with(".md") && !text.contains(char::is_whitespace)).then_some(text)
    }
}

/// Whether a path is that of a persona, which no tool writes.
pub fn is_persona_file(path: &str) -> bool {
    path.strip_prefix(FOLDER).is_some_and(|name| !name.starts_with('.') && !name.contains('/'))
}

/// The agents of a config.
#[derive(Default)]
pub struct Agents(BTreeMap<String, Entry>);

struct Entry {
    settings: AgentSettings,
    /// Where its persona is a file.
    file: Option<Persona>,
}

/// Who would have an agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentAsker<'a> {
    /// How far they are trusted.
    pub trust: Trust,
    /// The agent that the config binds to their place (`places.<id>.agent`).
    pub bound: Option<&'a str>,
}

/// Why nobody gets an agent.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// There is none of that name: which there are, and the nearest.
    #[error("{0:?} is not an agent of the config ({1}).{2}")]
    Unknown(String, String, String),
    /// It has a workspace or a memory of its own.
    #[error(
        "the agent {0} has a workspace or a memory of its own: only owners may choose it, and places to which the \
         config binds it (places.<id>.agent)."
    )]
    Closed(String),
}

impl Agents {
    /// Takes those of a config; files of personas lie below the state folder.
    pub fn of(settings: &BTreeMap<String, AgentSettings>, state_dir: &Path) -> Self {
        let entry = |(name, settings): (&String, &AgentSettings)| {
            let file = settings.persona_file().filter(|path| is_persona_file(path));
            let file = file.map(|path| Persona::of_files(state_dir, vec![path.to_owned()]));
            (name.clone(), Entry { settings: settings.clone(), file })
        };
        Self(settings.iter().map(entry).collect())
    }

    /// Returns an agent for whoever asks, as a task has it that begins now.
    ///
    /// # Errors
    /// There is none of that name, or it is not for them.
    pub fn given(&self, name: &str, asker: AgentAsker<'_>) -> Result<OwnAgent, AgentError> {
        let Some(agent) = self.get(name) else { return Err(self.unknown(name)) };
        let is_theirs = asker.trust == Trust::Owner || asker.bound == Some(name);
        match agent.is_closed() && !is_theirs {
            true => Err(AgentError::Closed(name.to_owned())),
            false => Ok(agent),
        }
    }

    /// Returns an agent that somebody has chosen who may; nothing where it has left the config.
    pub fn get(&self, name: &str) -> Option<OwnAgent> {
        let Entry { settings, file } = self.0.get(name)?;
        let AgentSettings { persona, model, effort, tools, workspace, memory, .. } = settings;
        let words = match file {
            Some(file) => Some(file.now()),
            None => persona.as_deref().map(|words| Arc::from(words.trim())),
        };
        let own_name = |memory: String| if memory == OWN_MEMORY { name.to_owned() } else { memory };
        Some(OwnAgent {
            name: name.to_owned(),
            persona: words.filter(|words| !words.is_empty()),
            model: model.clone(),
            effort: *effort,
            tools: tools.clone(),
            workspace: workspace.clone(),
            memory: memory.clone().map(own_name),
        })
    }

    /// Lists them: each with what it is for.
    pub fn list(&self) -> impl ExactSizeIterator<Item = ListedAgent<'_>> {
        self.0.iter().map(|(name, entry)| ListedAgent { name, about: &entry.settings.about })
    }

    fn unknown(&self, name: &str) -> AgentError {
        let names = || self.0.keys().map(String::as_str);
        let takes = match self.0.is_empty() {
            true => "it has none: see agents in config.example.yaml".to_owned(),
            false => format!("takes {}", names().collect::<Vec<_>>().join(", ")),
        };
        let near = nearest(name, names());
        let hint = near.map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
        AgentError::Unknown(name.to_owned(), takes, hint)
    }
}

/// An agent, as people are shown it.
#[derive(Clone, Copy, Debug)]
pub struct ListedAgent<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is for.
    pub about: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents(state: &Path) -> Agents {
        let settings = serde_json::json!({
            "reader": { "about": "reads", "persona": " Read. ", "tools": ["read"] },
            "coder": { "workspace": "/srv/code", "model": "strong", "effort": "high", "memory": "own" },
            "filed": { "persona": "persona/filed.md", "memory": "shared" },
            "plain": {},
        });
        Agents::of(&serde_json::from_value(settings).unwrap(), state)
    }

    #[test]
    fn what_is_its_own_is_for_owners_and_for_places_bound_to_it() {
        let agents = agents(Path::new("/nowhere"));
        let given = |name: &str, trust, bound| {
            agents.given(name, AgentAsker { trust, bound }).map_err(|why| why.to_string())
        };
        let reader = given("reader", Trust::Stranger, None).unwrap();
        assert_eq!(reader.persona.as_deref(), Some("Read."));
        assert_eq!(reader.narrowing().unwrap().by, "the agent reader");
        let coder = given("coder", Trust::Owner, None).unwrap();
        assert_eq!((coder.memory.as_deref(), coder.narrowing()), (Some("coder"), None));
        assert_eq!(given("coder", Trust::Allowed, Some("coder")), Ok(coder));
        let refused = given("coder", Trust::Allowed, Some("reader")).unwrap_err();
        assert!(refused.contains("only owners may choose it"), "{refused}");
        let unknown = given("reeder", Trust::Owner, None).unwrap_err();
        insta::assert_snapshot!(unknown, @r#""reeder" is not an agent of the config (takes coder, filed, plain, reader). Did you mean reader?"#);
        let plain = given("plain", Trust::Stranger, None).unwrap();
        assert_eq!(plain, OwnAgent { name: "plain".to_owned(), ..OwnAgent::default() });
    }

    #[test]
    fn a_file_says_who_it_is_as_it_stands_now() {
        let state = tempfile::tempdir().unwrap();
        let agents = agents(state.path());
        let persona = || agents.get("filed").unwrap().persona;
        assert_eq!(persona(), None);
        std::fs::create_dir(state.path().join("persona")).unwrap();
        let file = state.path().join("persona/filed.md");
        std::fs::write(&file, "---\nstatus: ready\n---\nFile things.").unwrap();
        assert_eq!(persona().as_deref(), Some("File things."));
        assert_eq!(agents.get("filed").unwrap().memory.as_deref(), Some("shared"));
        for path in ["persona/../x.md", "persona/.x.md", "x.md", "/persona/x.md"] {
            assert!(!is_persona_file(path), "{path}");
        }
    }
}
