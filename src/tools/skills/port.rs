//! What `load_skill` needs of the house: one port.

use async_trait::async_trait;
use selkie_channel_core::ConversationId;

use crate::ToolError;

/// The skills that there are.
#[async_trait]
pub trait Skills: Send + Sync {
    /// Returns what a skill says, which is in force in the conversation from then on; for a word that names none, those
    /// that fit it.
    ///
    /// # Errors
    /// In words: there is none, nobody has reviewed it, it cannot be read.
    async fn load(&self, by: &SkillReader, name: &str) -> Result<LoadedSkill, ToolError>;

    /// Lists the auth profiles that reviewed skills name which are in force in a conversation.
    ///
    /// # Errors
    /// The store does not answer.
    async fn auth_profiles(
        &self,
        _conversation: &ConversationId,
    ) -> Result<Vec<String>, ToolError> {
        Ok(Vec::new())
    }
}

/// The task that loads a skill.
#[derive(Clone, Debug)]
pub struct SkillReader {
    /// Where it speaks.
    pub conversation: ConversationId,
    /// The skill is in force there afterwards: not what an agent loads, for itself.
    pub keeps: bool,
    /// What an owner has typed that the task answers; nothing where somebody else asks.
    pub typed: Option<String>,
}

impl SkillReader {
    /// Whether an owner names a skill in their own words.
    pub fn names(&self, skill: &str) -> bool {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let typed = self.typed.as_deref().unwrap_or_default();
        let mut words = typed.split(|c| !is_of_name(c));
        words.any(|word| word.eq_ignore_ascii_case(skill))
    }
}

/// What a skill says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedSkill {
    /// For the model.
    pub text: String,
    /// An owner has seen these very words: they count as the owner's.
    pub is_reviewed: bool,
}
