//! An agent of one's own: what a task gets of what the config says of it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::choice::Choice;
use crate::effort::Effort;
use crate::narrowing::Narrowing;

/// The longest name, in characters.
const MAX_NAME: usize = 32;

/// An agent of the config, as a task has it that begins now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnAgent {
    /// Its name.
    pub name: String,
    /// Who it is; nothing: who the bot is.
    pub persona: Option<Arc<str>>,
    /// The profile that answers.
    pub model: Option<String>,
    /// How hard it thinks.
    pub effort: Option<Effort>,
    /// Names of tools and classes that it may use; nothing: all that are there.
    pub tools: Option<Vec<String>>,
    /// The folder that it works in; nothing: the place's.
    pub workspace: Option<PathBuf>,
    /// The memory that it has for itself in each place, by its name; nothing: the place's.
    pub memory: Option<String>,
}

impl OwnAgent {
    /// Returns how its list of tools is told as a reason.
    pub fn reason(name: &str) -> String {
        format!("the agent {name}")
    }

    /// Returns what it leaves of a task's tools; nothing where it leaves all.
    pub fn narrowing(&self) -> Option<Narrowing> {
        let tools = self.tools.clone()?;
        Some(Narrowing { by: Self::reason(&self.name), tools })
    }

    /// Returns the model that it brings.
    pub fn choice(&self) -> Choice {
        Choice { agent: None, model: self.model.clone(), effort: self.effort }
    }

    /// Whether it brings what not everybody may reach.
    pub fn is_closed(&self) -> bool {
        self.workspace.is_some() || self.memory.is_some()
    }
}

/// Whether a text can be the name of an agent, or of its memory.
pub fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.len() <= MAX_NAME && text.bytes().all(is_plain)
}
