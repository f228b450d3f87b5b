//! The way from those who speak to the courier of the account.

use std::collections::HashMap;

use selkie_channel_core::AccountId;
use tokio::sync::mpsc;

use crate::store::Queued;

/// Hands stored parts to couriers.
pub(super) struct Post(HashMap<AccountId, mpsc::UnboundedSender<Queued>>);

/// What one courier gets. The rows are stored: this holds no more than what is due anyway.
pub(super) type Letterbox = mpsc::UnboundedReceiver<Queued>;

impl Post {
    /// Opens a letterbox for each account.
    pub(super) fn for_accounts(
        accounts: impl Iterator<Item = AccountId>,
    ) -> (Self, HashMap<AccountId, Letterbox>) {
        let mut senders = HashMap::new();
        let mut boxes = HashMap::new();
        for account in accounts {
            let (sender, letterbox) = mpsc::unbounded_channel();
            senders.insert(account.clone(), sender);
            boxes.insert(account, letterbox);
        }
        (Self(senders), boxes)
    }

    /// Hands parts over. Parts of an account without a courier stay in the ledger.
    pub(super) fn send(&self, queued: Queued) {
        let Some(first) = queued.parts.first() else { return };
        let account = first.part.conversation.account().clone();
        match self.0.get(&account) {
            // A courier that has ended does so with the daemon; the rows are due at the next start.
            Some(sender) => drop(sender.send(queued)),
            None => tracing::warn!(%account, "no channel carries this account: its parts wait"),
        }
    }
}
