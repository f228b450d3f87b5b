//! The small records of a conversation, as tools see them, over the ledger: its todo list and its mode.

use std::sync::Arc;

use async_trait::async_trait;
use selkie_channel_core::ConversationId;

use crate::domain::facts::Mode;
use crate::flow::desk::Desk;
use crate::store::StoreError;
use crate::tools::ToolError;
use crate::tools::ports::{Modes, Todos};

/// Records in the ledger.
pub(super) struct Records(pub(super) Arc<Desk>);

impl Records {
    fn failed(&self, error: &StoreError) -> ToolError {
        self.0.trouble(error);
        ToolError::Abort(error.to_string())
    }
}

#[async_trait]
impl Todos for Records {
    async fn read(&self, conversation: &ConversationId) -> Result<Option<String>, ToolError> {
        self.0.ledger.todos(conversation).await.map_err(|e| self.failed(&e))
    }

    async fn write(&self, conversation: &ConversationId, json: String) -> Result<(), ToolError> {
        self.0.ledger.set_todos(conversation, json).await.map_err(|e| self.failed(&e))
    }
}

#[async_trait]
impl Modes for Records {
    async fn change(&self, conversation: &ConversationId, mode: Mode) -> Result<(), ToolError> {
        self.0.ledger.set_mode(conversation, mode).await.map_err(|e| self.failed(&e))
    }
}
