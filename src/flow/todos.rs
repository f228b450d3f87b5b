//! The todo list of a place, as tools see it, over the ledger: every thread of a channel sees the same.

use std::sync::Arc;

use async_trait::async_trait;
use selkie_channel_core::ConversationId;

use crate::flow::desk::Desk;
use crate::store::StoreError;
use crate::tools::ToolError;
use crate::tools::ports::Todos;

/// Todos in the ledger.
pub(super) struct LedgerTodos(pub(super) Arc<Desk>);

impl LedgerTodos {
    /// Whose list it is: the conversation that the place itself is.
    fn owner(&self, conversation: &ConversationId) -> ConversationId {
        let Some(account) = self.0.account(conversation) else { return conversation.clone() };
        let place = account.channel.address.place(conversation);
        ConversationId::new(place.account().clone(), place.key())
    }

    fn failed(&self, error: &StoreError) -> ToolError {
        self.0.trouble(error);
        ToolError::Abort(error.to_string())
    }
}

#[async_trait]
impl Todos for LedgerTodos {
    async fn read(&self, conversation: &ConversationId) -> Result<Option<String>, ToolError> {
        let owner = self.owner(conversation);
        self.0.ledger.todos(&owner).await.map_err(|e| self.failed(&e))
    }

    async fn write(&self, conversation: &ConversationId, json: String) -> Result<(), ToolError> {
        let owner = self.owner(conversation);
        self.0.ledger.set_todos(&owner, json).await.map_err(|e| self.failed(&e))
    }
}
