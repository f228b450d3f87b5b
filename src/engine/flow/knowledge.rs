//! What conversations know beyond their histories, for who looks at them: by the same rules as in their chats.

use async_trait::async_trait;
use selkie_channel_core::ConversationId;

use crate::flow::Flow;
use crate::work::rights::is_read_by_an_owner_alone;
use crate::work::todo_list::{Reader, TodoList, TodoLists};
use selkie_memory::remembered::MemoryEntry;
use selkie_people::book::KnownList;
use selkie_people::visibility::Visibility;
use selkie_store::StoreError;
use selkie_tools::conversation::todo;
pub use selkie_tools::conversation::todo::ChatItem;

/// What conversations know beyond their histories, each as far as it may.
#[async_trait]
pub trait Knowledge: Send + Sync {
    /// Lists whom a conversation may hear of, the latest met first.
    ///
    /// # Errors
    /// When the ledger or a file cannot be read.
    async fn contacts(&self, of: &ConversationId) -> KnowledgeResult<KnownList>;

    /// Lists what it sees of what is to be done, and what was done.
    ///
    /// # Errors
    /// As [`Knowledge::contacts`].
    async fn todos(&self, of: &ConversationId) -> KnowledgeResult<TodoList>;

    /// Lists the chat's own list, which `note:` writes; every thread of a channel has the same.
    ///
    /// # Errors
    /// As [`Knowledge::contacts`].
    async fn list(&self, of: &ConversationId) -> KnowledgeResult<Vec<ChatItem>>;

    /// Lists what it remembers, its own first, in the order of its files.
    ///
    /// # Errors
    /// As [`Knowledge::contacts`].
    async fn memory(&self, of: &ConversationId) -> KnowledgeResult<Vec<MemoryEntry>>;
}

/// What a conversation sees, or why that cannot be told.
pub type KnowledgeResult<T> = std::result::Result<KnowledgeView<T>, Unreadable>;

/// What a conversation sees, and how far.
#[derive(Clone, Debug, Default)]
pub struct KnowledgeView<T> {
    /// All there is: an owner alone reads what is told there.
    pub is_whole: bool,
    /// What it sees.
    pub what: T,
}

/// Why it cannot be told what a conversation knows.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

#[async_trait]
impl Knowledge for Flow {
    async fn contacts(&self, of: &ConversationId) -> KnowledgeResult<KnownList> {
        let is_whole = self.is_whole(of).await.map_err(unreadable)?;
        let place = self.context.accounts.place(of);
        let met = self.acquaintances.met_by(&place, is_whole).await.map_err(unreadable)?;
        let circle = Visibility { is_whole, chat: place.key().to_owned(), met };
        let mut what = self.acquaintances.book().known(circle).await.map_err(unreadable)?;
        if is_whole {
            let last = self.acquaintances.last_spoke().await.map_err(unreadable)?;
            last.tell(&mut what.known);
        }
        Ok(KnowledgeView { is_whole, what })
    }

    async fn todos(&self, of: &ConversationId) -> KnowledgeResult<TodoList> {
        let is_whole = self.is_whole(of).await.map_err(unreadable)?;
        let chat = self.context.accounts.place(of).key().to_owned();
        let reader = Reader { chat, is_whole, person: None };
        let what = self.todo_lists().seen(&reader).await.map_err(unreadable)?;
        Ok(KnowledgeView { is_whole, what })
    }

    async fn list(&self, of: &ConversationId) -> KnowledgeResult<Vec<ChatItem>> {
        let place = self.context.accounts.place(of);
        let place = ConversationId::new(place.account().clone(), place.key());
        let stored = self.context.storage.ledger.todos(&place).await.map_err(unreadable)?;
        let what = stored.as_deref().map_or(Ok(Vec::new()), todo::items).map_err(unreadable)?;
        Ok(KnowledgeView { is_whole: false, what })
    }

    async fn memory(&self, of: &ConversationId) -> KnowledgeResult<Vec<MemoryEntry>> {
        let is_whole = self.is_whole(of).await.map_err(unreadable)?;
        let what = self.memory.remembered(of, is_whole).await.map_err(unreadable)?;
        Ok(KnowledgeView { is_whole, what })
    }
}

impl Flow {
    /// Returns the list of what people want done, as people read it.
    pub fn todo_lists(&self) -> &TodoLists {
        &self.intake.commands.contacts.todos
    }

    /// Whether a conversation sees all that an owner sees.
    async fn is_whole(&self, of: &ConversationId) -> Result<bool, StoreError> {
        let (owners, accounts) = (&self.timetable.owners, &self.context.accounts);
        let ledger = &*self.context.storage.ledger;
        is_read_by_an_owner_alone(owners, accounts, ledger, of).await
    }
}

fn unreadable(why: impl std::fmt::Display) -> Unreadable {
    Unreadable(why.to_string())
}
