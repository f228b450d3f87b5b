//! What a person has said is forgotten because the owner says so at the command line.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;

use crate::flow::Flow;
use selkie_domain::ids::ScheduleId;
use selkie_store::{Location, PrivateChat, Since, States, StoreError, Which};
use crate::work::forgotten_files;

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

    /// Lists the schedules and reminders that somebody has made, or that speak in one of these chats: they go on.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn schedules_about(
        &self,
        people: &[PersonId],
        chats: &[PrivateChat],
    ) -> Result<BTreeSet<ScheduleId>, StoreError> {
        let all = Which { states: States::OPEN, limit: usize::MAX, ..Which::default() };
        let theirs = people.iter().map(|one| Which { person: Some(one.clone()), ..all.clone() });
        let there = chats
            .iter()
            .map(|chat| Which { conversation: Some(chat.conversation.clone()), ..all.clone() });
        let mut found = BTreeSet::new();
        for which in theirs.chain(there) {
            let rows = self.outbox.storage.ledger.schedules(&which).await?;
            found.extend(rows.iter().map(|row| row.id()));
        }
        Ok(found)
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
        forgotten_files::remove(&self.outbox.storage, &self.cache_dir).await?;
        forgotten_files::remove_unsent(&self.outbox.storage, &self.cache_dir).await?;
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
