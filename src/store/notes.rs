//! The conversation's own small records: todos, where its place works, what it is in.

use async_trait::async_trait;
use selkie_channel_core::{AccountId, ConversationId, PersonId, PlaceId};

use crate::error::Result;
use selkie_domain::choice::Choice;
use selkie_domain::facts::{Mode, Trust};
use selkie_domain::taint::Taint;

/// Where a conversation's place works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workplace {
    /// The place's row, by which its own folders are named; absent while nobody has spoken there.
    pub row: Option<i64>,
    /// The folder that an owner has set for it.
    pub set: Option<String>,
}

/// What an owner has chosen for a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChosenThere {
    /// In itself.
    pub own: Choice,
    /// In the chat whose thread it is; nothing where it is no thread.
    pub chat: Choice,
}

/// Who has set a zone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Whose {
    /// A person, wherever they write.
    Person(PersonId),
    /// A place, for everybody in it.
    Place(PlaceId),
}

/// The time zone that somebody has set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneOf {
    /// Who.
    pub whose: Whose,
    /// Its name; empty: it is taken back.
    pub zone: String,
}

/// The conversation's own small records.
#[async_trait]
pub trait Notes: Send + Sync {
    /// Returns the todo list (JSON) of a conversation; `None` when it was never written.
    async fn todos(&self, conversation: &ConversationId) -> Result<Option<String>>;

    /// Returns where a conversation's place works.
    async fn workspace(&self, conversation: &ConversationId) -> Result<Workplace>;

    /// Replaces the todo list of a conversation. Durable. `/reset` clears it.
    async fn set_todos(&self, conversation: &ConversationId, json: String) -> Result<()>;

    /// Returns what a conversation is in.
    async fn mode(&self, conversation: &ConversationId) -> Result<Mode>;

    /// Returns what its owner has chosen for a conversation; for a thread also what is chosen for its chat.
    async fn chosen(&self, conversation: &ConversationId) -> Result<ChosenThere>;

    /// Returns the level of what a task for somebody of this trust that begins now would read of the
    /// conversation's history.
    async fn level(&self, conversation: &ConversationId, trust: Trust) -> Result<Taint>;

    /// Returns where a person last spoke in private with one of these accounts, as far back as the newest messages go.
    async fn last_private(
        &self,
        person: &PersonId,
        accounts: &[AccountId],
    ) -> Result<Option<ConversationId>>;

    /// Lists every time zone that somebody has set.
    async fn zones(&self) -> Result<Vec<ZoneOf>>;

    /// Changes what a conversation is in. Durable. `/reset` makes it normal.
    async fn set_mode(&self, conversation: &ConversationId, mode: Mode) -> Result<()>;
}
