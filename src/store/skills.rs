//! Which skills are in force in a conversation.

use async_trait::async_trait;
use selkie_channel_core::ConversationId;

use crate::error::Result;

/// Skills in force at most: of more, the last loaded.
pub const MAX_SKILLS: usize = 16;

/// Which skills are in force in conversations.
#[async_trait]
pub trait LoadedSkills: Send + Sync {
    /// Lists the names of those in a conversation, in the order in which they were loaded.
    async fn skills(&self, conversation: &ConversationId) -> Result<Vec<String>>;

    /// Adds one. Durable. `/reset` takes all of them away.
    async fn add_skill(&self, conversation: &ConversationId, name: &str) -> Result<()>;
}
