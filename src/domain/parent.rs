//! The task that an agent works for.

use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, ConversationId};
use serde::{Deserialize, Serialize};

use crate::ids::TaskId;

/// What an agent's conversation is called before the conversation it belongs to.
const AGENT: &str = "agent:";

/// The task that another one works for, as its agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Parent {
    /// Which.
    pub task: TaskId,
    /// Its conversation: what the agent does and says is done there.
    pub key: String,
    /// The agent's name.
    pub name: String,
    /// When the agent ends at the latest.
    pub until: DateTime<Utc>,
    /// The JSON Schema that its answer has to fit, where it has to fit one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
}

impl Parent {
    /// Returns the parent's conversation: agents are of the same account.
    pub fn conversation(&self, account: &AccountId) -> ConversationId {
        ConversationId::new(account.clone(), self.key.as_str())
    }
}

/// Returns the conversation of an agent of this name.
pub fn agent_conversation(parent: &ConversationId, name: &str) -> ConversationId {
    ConversationId::new(parent.account().clone(), format!("{AGENT}{}/{name}", parent.key()))
}

/// Returns an agent's name, from the key of its conversation; `None` for any other conversation.
pub fn agent_name(key: &str) -> Option<&str> {
    let (_, name) = key.strip_prefix(AGENT)?.rsplit_once('/')?;
    Some(name)
}

/// Whether a conversation is an agent's.
pub fn is_agent(conversation: &ConversationId) -> bool {
    agent_name(conversation.key()).is_some()
}
