//! The small records of a conversation, as tools see them, over the ledger: its mode, and the todo list of
//! its place, the same for every thread of a channel.

use std::sync::Arc;

use async_trait::async_trait;
use selkie_channel_core::{ConversationId, PersonId, PlaceId, UnpromptedCost};

use crate::delivery::accounts::Accounts;
use crate::delivery::storage::Storage;
use crate::work::acquaintances::Acquaintances;
use crate::work::rights;
use selkie_domain::facts::Mode;
use selkie_domain::owners::Owners;
use selkie_domain::parent::is_agent;
use selkie_memory::Places;
use selkie_people::addressees::Reach;
use selkie_people::update::Conversations;
use selkie_store::{Location, SeenPerson, StoreError};
use selkie_tools::ToolError;
use selkie_tools::ports::{Modes, Todos};

/// Records in the ledger.
pub struct Records {
    pub(crate) storage: Arc<Storage>,
    pub(crate) accounts: Arc<Accounts>,
    pub(crate) acquaintances: Arc<Acquaintances>,
    pub(crate) owners: Owners,
}

impl Records {
    /// Whose list it is: the conversation that the place itself is.
    fn owner(&self, conversation: &ConversationId) -> ConversationId {
        let place = self.place(conversation);
        ConversationId::new(place.account().clone(), place.key())
    }

    /// Whose todo list a task writes: an agent has one of its own.
    fn list_of(&self, conversation: &ConversationId) -> ConversationId {
        match is_agent(conversation) {
            true => conversation.clone(),
            false => self.owner(conversation),
        }
    }

    fn failed(&self, error: &StoreError) -> ToolError {
        self.storage.trouble(error);
        ToolError::Abort(error.to_string())
    }
}

#[async_trait]
impl Todos for Records {
    async fn read(&self, conversation: &ConversationId) -> Result<Option<String>, ToolError> {
        let owner = self.list_of(conversation);
        self.storage.ledger.todos(&owner).await.map_err(|e| self.failed(&e))
    }

    async fn write(&self, conversation: &ConversationId, json: String) -> Result<(), ToolError> {
        let owner = self.list_of(conversation);
        self.storage.ledger.set_todos(&owner, json).await.map_err(|e| self.failed(&e))
    }
}

#[async_trait]
impl Conversations for Records {
    fn chat(&self, conversation: &ConversationId) -> String {
        self.owner(conversation).key().to_owned()
    }

    async fn met(
        &self,
        conversation: &ConversationId,
        sees_all: bool,
    ) -> Result<Vec<SeenPerson>, ToolError> {
        let met = self.acquaintances.met_by(&self.place(conversation), sees_all).await;
        met.map_err(|error| self.failed(&error))
    }
}

impl Places for Records {
    fn place(&self, conversation: &ConversationId) -> PlaceId {
        self.accounts.place(conversation)
    }
}

#[async_trait]
impl Reach for Records {
    fn conversation(&self, id: &str) -> Option<ConversationId> {
        self.accounts.parse(id)
    }

    fn posts_by(&self, conversation: &ConversationId) -> Option<&'static str> {
        self.accounts.of(conversation)?.posts_by()
    }

    async fn met_beside(
        &self,
        conversation: &ConversationId,
        person: &PersonId,
    ) -> Result<Vec<SeenPerson>, ToolError> {
        let beside = self.acquaintances.met_beside(conversation.account(), person).await;
        beside.map_err(|error| self.failed(&error))
    }

    async fn knows(&self, conversation: &ConversationId) -> Result<bool, ToolError> {
        let place = self.place(conversation);
        let to = Location { conversation: conversation.clone(), place, title: String::new() };
        if rights::is_listed(&self.owners, &self.accounts, &to) {
            return Ok(true);
        }
        let met = self.acquaintances.met_by(&to.place, false).await;
        met.map(|met| !met.is_empty()).map_err(|error| self.failed(&error))
    }

    async fn unasked(&self, conversation: &ConversationId) -> UnpromptedCost {
        match self.accounts.of(conversation) {
            Some(account) => account.unasked(conversation).await,
            None => UnpromptedCost::Free,
        }
    }
}

#[async_trait]
impl Modes for Records {
    async fn change(&self, conversation: &ConversationId, mode: Mode) -> Result<(), ToolError> {
        self.storage.ledger.set_mode(conversation, mode).await.map_err(|e| self.failed(&e))
    }
}
