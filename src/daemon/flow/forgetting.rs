//! What a person has said is forgotten because the owner says so at the command line.

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;

use crate::daemon::flow::Flow;
use crate::store::{Location, PrivateChat, Since, StoreError};

/// More steps are the janitor's, beside the messages.
const MOST_STEPS: usize = 10_000;

impl Flow {
    /// Lists the chats in which somebody spoke with the bot alone.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn private_chats(&self, people: &[PersonId]) -> Result<Vec<PrivateChat>, StoreError> {
        self.outbox.storage.ledger.private_chats(people).await
    }

    /// Forgets a chat, as `/forget` in it does, without a word there.
    ///
    /// # Errors
    /// In words: what is still there.
    pub async fn forget_chat(&self, chat: &PrivateChat) -> Result<(), String> {
        let here = Location {
            conversation: chat.conversation.clone(),
            place: chat.place.clone(),
            title: String::new(),
        };
        self.intake.commands.forget_by_hand(here).await
    }

    /// Forgets what somebody is called whose chats are forgotten.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn forget_names(
        &self,
        people: &[PersonId],
        chats: &[PrivateChat],
    ) -> Result<(), StoreError> {
        self.outbox.storage.ledger.forget_names(people, chats).await
    }

    /// Takes away what is marked to be forgotten; `false` when something of it waits for a task that has to end first.
    ///
    /// # Errors
    /// When the store cannot be written: the next start goes on.
    pub async fn forget_now(&self) -> Result<bool, StoreError> {
        let ledger = &self.outbox.storage.ledger;
        let never = DateTime::<Utc>::MIN_UTC;
        let since =
            Since { transcripts: never, inbox: never, outbox: never, keys: never, cache: never };
        for _ in 0..MOST_STEPS {
            if ledger.forget_old(since).await? == 0 {
                break;
            }
        }
        Ok(!ledger.is_forgetting().await?)
    }
}
