//! The todo list of a conversation, as tools see it, over the ledger.

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
    fn failed(&self, error: &StoreError) -> ToolError {
        self.0.trouble(error);
        ToolError::Abort(error.to_string())
    }
}

#[async_trait]
impl Todos for LedgerTodos {
    async fn read(&self, conversation: &ConversationId) -> Result<Option<String>, ToolError> {
        self.0.ledger.todos(conversation).await.map_err(|e| self.failed(&e))
    }

    async fn write(&self, conversation: &ConversationId, json: String) -> Result<(), ToolError> {
        self.0.ledger.set_todos(conversation, json).await.map_err(|e| self.failed(&e))
    }
}
