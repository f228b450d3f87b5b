//! What operators ask of a running flow: at the control socket, by a signal, or by the config.

use std::sync::Arc;

use selkie_channel_core::{AccountId, PersonId};

use super::Flow;
use crate::delivery::accounts::Accounts;
use crate::delivery::again::again;
use crate::delivery::post_files::PostFiles;
use crate::delivery::posts;
use crate::delivery::say::{SayOutcome, say};
use crate::intake::pairing::approve;
use crate::terminal::ask::Counter;
use crate::work::agent_book::AgentBook;
use crate::work::forgotten_files;
use crate::work::sessions::SessionBook;
use crate::work::studio::Studio;
use selkie_domain::approval::Verdict;
use selkie_domain::chance::Chance;
use selkie_domain::ids::OutboundId;
use selkie_schedule::book::BookError;
use selkie_store::{ApprovalRow, Ledger, Location, PairingOutcome, PostRow, StoreError};
use selkie_tools::paths::Ours;

impl Flow {
    /// Returns the ledger.
    pub fn ledger(&self) -> &Arc<dyn Ledger> {
        &self.context.storage.ledger
    }

    /// Says why the ledger takes no writes, while that is so.
    pub fn store_trouble(&self) -> Option<String> {
        self.context.storage.why()
    }

    /// Returns the accounts that are served.
    pub fn accounts(&self) -> &Accounts {
        &self.context.accounts
    }

    /// Answers somebody no more whom only a pairing had let in.
    pub fn shut_out(&self, person: &PersonId) {
        self.accounts().shut_out(person);
        self.intake.unlisted.forget_hints();
    }

    /// Returns chance.
    pub fn chance(&self) -> &dyn Chance {
        &*self.context.runtime.chance
    }

    /// Returns where what is asked at the terminal goes.
    pub fn counter(&self) -> &Arc<Counter> {
        &self.counter
    }

    /// Returns copies of the files of posts.
    pub fn post_files(&self) -> &Arc<PostFiles> {
        &self.post_files
    }

    /// Returns what makes recordings and pictures.
    pub fn studio(&self) -> &Arc<Studio> {
        &self.live.studio
    }

    /// Returns who works for conversations.
    pub fn agents(&self) -> &Arc<AgentBook> {
        &self.intake.commands.agents
    }

    /// Returns the conversations that there are.
    pub fn sessions(&self) -> &Arc<SessionBook> {
        &self.intake.commands.sessions
    }

    /// Returns what is closed to every tool, by the config of now.
    pub fn own_paths(&self) -> Ours {
        self.live.workspaces.now().ours.clone()
    }

    /// Whether the daemon ends: nothing is begun any more.
    pub fn is_draining(&self) -> bool {
        self.context.runtime.is_draining()
    }

    /// Carries work to its end, whatever becomes of who asked for it.
    pub async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        self.context.runtime.to_the_end(work).await
    }

    /// Says `markdown` in the conversation that `to` names, and waits for what becomes of it.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn say(&self, to: &str, markdown: &str) -> Result<SayOutcome, StoreError> {
        say(&self.outbox, to, markdown).await
    }

    /// Tells the first owner who can be reached through no account of `silent`, once for ever under `key`; `false` when
    /// that could not be stored.
    pub async fn alert(&self, key: &str, text: &str, silent: &[AccountId]) -> bool {
        self.outbox.alert(key, text, silent).await
    }

    /// Tries once more what of a post has not arrived.
    ///
    /// # Errors
    /// When there is nothing to try, or the store does not answer.
    pub async fn post_again(&self, outbound: OutboundId) -> Result<(), BookError> {
        let outbox = Arc::clone(&self.outbox);
        self.to_the_end(async move { again(&outbox, outbound).await }).await
    }

    /// Whether a post waits for its account to be served again.
    pub fn waits_for_login(&self, row: &PostRow) -> bool {
        posts::waits_for_login(&self.outbox, row)
    }

    /// Decides an approval in the name of the machine's owner; returns what came of it.
    pub async fn decide(&self, row: ApprovalRow, verdict: Verdict) -> String {
        let intake = Arc::clone(&self.intake);
        let decided =
            async move { intake.commands.buttons.decisions.at_machine(row, verdict).await };
        self.to_the_end(decided).await
    }

    /// Lets in whose request has this code, and tells them.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn approve_pairing(&self, code: &str) -> Result<PairingOutcome, StoreError> {
        approve(&self.context, &self.outbox, code).await
    }

    /// Forgets a place as `/forget` in it does, without a word there.
    ///
    /// # Errors
    /// Why it cannot be done.
    pub async fn forget_place(&self, here: Location) -> Result<(), String> {
        self.intake.commands.forget_by_hand(here).await
    }

    /// Removes the files of what was forgotten, or taken back.
    ///
    /// # Errors
    /// When the store does not answer, or they cannot be removed.
    pub async fn remove_forgotten_files(&self) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        forgotten_files::remove(storage, &self.cache_dir).await?;
        forgotten_files::remove_unsent(storage, &self.cache_dir).await?;
        Ok(())
    }
}
