//! What tools reach when they are called by hand: nobody is spoken to, and no conversation is left in a mode.

use std::fs::File;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use selkie_channel_core::{Body, ConversationId, locked};

use selkie_domain::facts::Mode;
use selkie_store::Ledger;
use selkie_tools::ToolError;
use selkie_tools::ports::{Modes, RelayOutcome, RelayRequest, Reply, SayOutcome, Todos};

/// Why a call by hand says and posts nothing.
pub const SPEAKS_NOWHERE: &str = "a call by hand sends nothing to a platform: `selkie say --to CONVERSATION TEXT` sends or \
    posts your own words; or ask the bot for it in a conversation";
/// Nobody listens to a call by hand: no platform is spoken to.
pub struct Nobody;

#[async_trait]
impl Reply for Nobody {
    async fn say(&self, _: &str, _: Body) -> Result<SayOutcome, ToolError> {
        Err(ToolError::tell(SPEAKS_NOWHERE))
    }

    async fn post(&self, call: &str, _: &str, body: Body) -> Result<SayOutcome, ToolError> {
        self.say(call, body).await
    }

    async fn pass(&self, _: RelayRequest) -> Result<RelayOutcome, ToolError> {
        Err(ToolError::tell(SPEAKS_NOWHERE))
    }

    async fn send(&self, call: &str, body: Body, _: File) -> Result<SayOutcome, ToolError> {
        self.say(call, body).await
    }

    fn is_here(&self, _: &str) -> Option<bool> {
        None
    }
}

/// Plan mode by hand ends with its calls: no conversation is left in it.
pub struct OfThisRun(pub Mutex<Mode>);

impl OfThisRun {
    /// Returns the mode of now.
    pub fn now(&self) -> Mode {
        *locked(&self.0)
    }
}

#[async_trait]
impl Modes for OfThisRun {
    async fn change(&self, _: &ConversationId, mode: Mode) -> Result<(), ToolError> {
        *locked(&self.0) = mode;
        Ok(())
    }
}

/// The ledger's todo lists.
pub struct LedgerTodos(pub Arc<dyn Ledger>);

#[async_trait]
impl Todos for LedgerTodos {
    async fn read(&self, conversation: &ConversationId) -> Result<Option<String>, ToolError> {
        self.0.todos(conversation).await.map_err(|e| ToolError::Abort(e.to_string()))
    }

    async fn write(&self, conversation: &ConversationId, json: String) -> Result<(), ToolError> {
        let written = self.0.set_todos(conversation, json).await;
        written.map_err(|e| ToolError::Abort(e.to_string()))
    }
}
