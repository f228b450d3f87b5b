//! The small records of a conversation, as tools see them, over the ledger: its mode, and the todo list of
//! its place, the same for every thread of a channel.

use std::sync::Arc;

use async_trait::async_trait;
use selkie_channel_core::ConversationId;

use crate::delivery::accounts::Accounts;
use crate::delivery::storage::Storage;
use crate::domain::facts::Mode;
use crate::people::update::Conversations;
use crate::store::StoreError;
use crate::tools::ToolError;
use crate::tools::ports::{Modes, Todos};

/// Records in the ledger.
pub(crate) struct Records {
    pub(crate) storage: Arc<Storage>,
    pub(crate) accounts: Arc<Accounts>,
}

impl Records {
    /// Whose list it is: the conversation that the place itself is.
    fn owner(&self, conversation: &ConversationId) -> ConversationId {
        let Some(account) = self.accounts.of(conversation) else { return conversation.clone() };
        let place = account.channel.address.place(conversation);
        ConversationId::new(place.account().clone(), place.key())
    }

    fn failed(&self, error: &StoreError) -> ToolError {
        self.storage.trouble(error);
        ToolError::Abort(error.to_string())
    }
}

#[async_trait]
impl Todos for Records {
    async fn read(&self, conversation: &ConversationId) -> Result<Option<String>, ToolError> {
        let owner = self.owner(conversation);
        self.storage.ledger.todos(&owner).await.map_err(|e| self.failed(&e))
    }

    async fn write(&self, conversation: &ConversationId, json: String) -> Result<(), ToolError> {
        let owner = self.owner(conversation);
        self.storage.ledger.set_todos(&owner, json).await.map_err(|e| self.failed(&e))
    }
}

impl Conversations for Records {
    fn chat(&self, conversation: &ConversationId) -> String {
        self.owner(conversation).key().to_owned()
    }
}

#[async_trait]
impl Modes for Records {
    async fn change(&self, conversation: &ConversationId, mode: Mode) -> Result<(), ToolError> {
        self.storage.ledger.set_mode(conversation, mode).await.map_err(|e| self.failed(&e))
    }
}
