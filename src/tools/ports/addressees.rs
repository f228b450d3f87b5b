//! People and places elsewhere to whom a task may speak: whom a name or an id means, and how they are reached.

use async_trait::async_trait;
use selkie_channel_core::{ConversationId, PersonId};

use crate::ToolError;
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;

/// Knows whom a task may speak to.
#[async_trait]
pub trait Addressees: Send + Sync {
    /// Finds who is meant. Of somebody whom the asking conversation has not met the same is said as of nobody.
    ///
    /// # Errors
    /// In words: nobody is meant, or several are, or they cannot be reached, or it is the asking conversation itself.
    async fn find(&self, by: &Sender, wanted: &AddresseeQuery) -> Result<Addressee, ToolError>;
}

/// Whose task wants to speak, and from where.
#[derive(Clone, Debug)]
pub struct Sender {
    /// Where it speaks.
    pub conversation: ConversationId,
    /// Who asked; nobody where nobody has.
    pub person: Option<PersonId>,
    /// The least trust in play.
    pub trust: Trust,
    /// Whether an owner alone reads what is told.
    pub sees_all: bool,
}

/// Who is meant, as a model wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddresseeQuery {
    /// A contact by its id, and in which chat.
    Contact {
        /// Its id in the contact files.
        id: String,
        /// The chat, when one is named.
        chat: Option<String>,
    },
    /// A chat by its id, or somebody by their name.
    Anybody(String),
}

/// Who is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addressee {
    /// Where they are reached.
    pub conversation: ConversationId,
    /// Their id in the contact files; empty for a chat that is named by its own id.
    pub contact: String,
    /// What people call them; empty where nobody knows.
    pub name: String,
    /// Whoever asks shares a conversation with them.
    pub is_shared: bool,
    /// As how many messages of a paid month the platform counts each.
    pub costs: Option<u64>,
    /// The level of the names.
    pub level: Taint,
}
