//! What conversations know beyond their histories, for who looks at them: by the same rules as in their chats.

use async_trait::async_trait;
use selkie_channel_core::ConversationId;

use crate::console::{Knowledge, Looked, Sees, Unreadable};
use crate::daemon::flow::Flow;
use crate::memory::remembered::Remembered;
use crate::people::book::KnownList;
use crate::people::circle::Circle;
use crate::people::update::{SeenTodos, seen};
use crate::store::StoreError;
use crate::work::rights::is_read_by_an_owner_alone;

#[async_trait]
impl Knowledge for Flow {
    async fn contacts(&self, of: &ConversationId) -> Looked<KnownList> {
        let is_whole = self.is_whole(of).await.map_err(unreadable)?;
        let place = self.outbox.accounts.place(of);
        let met = self.acquaintances.met_by(&place, is_whole).await.map_err(unreadable)?;
        let circle = Circle { is_whole, chat: place.key().to_owned(), met };
        let what = self.acquaintances.book().known(circle).await.map_err(unreadable)?;
        Ok(Sees { is_whole, what })
    }

    async fn todos(&self, of: &ConversationId) -> Looked<SeenTodos> {
        let is_whole = self.is_whole(of).await.map_err(unreadable)?;
        let chat = self.outbox.accounts.place(of).key().to_owned();
        let what = seen(&self.acquaintances.files, chat, is_whole).await.map_err(unreadable)?;
        Ok(Sees { is_whole, what })
    }

    async fn memory(&self, of: &ConversationId) -> Looked<Vec<Remembered>> {
        let is_whole = self.is_whole(of).await.map_err(unreadable)?;
        let what = self.memory.remembered(of, is_whole).await.map_err(unreadable)?;
        Ok(Sees { is_whole, what })
    }
}

impl Flow {
    /// Whether a conversation sees all that an owner sees.
    async fn is_whole(&self, of: &ConversationId) -> Result<bool, StoreError> {
        let (owners, accounts) = (&self.timetable.owners, &self.outbox.accounts);
        let ledger = &*self.outbox.storage.ledger;
        is_read_by_an_owner_alone(owners, accounts, ledger, of).await
    }
}

fn unreadable(why: impl std::fmt::Display) -> Unreadable {
    Unreadable(why.to_string())
}
