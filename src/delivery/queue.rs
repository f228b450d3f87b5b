//! The way from those who speak to the delivery worker of the account.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use selkie_channel_core::AccountId;
use tokio::sync::mpsc;

use crate::store::Queued;

/// Hands stored parts to delivery workers.
pub(crate) struct PartQueues(RwLock<HashMap<AccountId, mpsc::UnboundedSender<Queued>>>);

/// What one delivery worker gets. The rows are stored: this holds no more than what is due anyway.
pub(crate) type PartQueue = mpsc::UnboundedReceiver<Queued>;

impl PartQueues {
    /// Opens a queue for each account.
    pub(crate) fn for_accounts(
        accounts: impl Iterator<Item = AccountId>,
    ) -> (Self, HashMap<AccountId, PartQueue>) {
        let mut senders = HashMap::new();
        let mut boxes = HashMap::new();
        for account in accounts {
            let (sender, queue) = mpsc::unbounded_channel();
            senders.insert(account.clone(), sender);
            boxes.insert(account, queue);
        }
        (Self(RwLock::new(senders)), boxes)
    }

    /// Opens a queue for an account; from now on nothing more comes to the one before.
    pub(crate) fn open(&self, account: AccountId) -> PartQueue {
        let (sender, queue) = mpsc::unbounded_channel();
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(account, sender);
        queue
    }

    /// Closes the queue of an account: its parts stay in the ledger.
    pub(crate) fn close(&self, account: &AccountId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(account);
    }

    /// Hands parts over. Parts of an account without a delivery worker stay in the ledger.
    pub(crate) fn send(&self, queued: Queued) {
        let Some(first) = queued.parts.first() else { return };
        let account = first.part.conversation.account().clone();
        match self.0.read().unwrap_or_else(PoisonError::into_inner).get(&account) {
            // A delivery worker that has ended does so with the daemon; the rows are due at the next start.
            Some(sender) => drop(sender.send(queued)),
            None => tracing::warn!(%account, "no channel carries this account: its parts wait"),
        }
    }
}
