//! The way from those who speak to the delivery worker of the account.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use selkie_channel_core::AccountId;
use tokio::sync::mpsc;

use selkie_store::QueuedOutbound;

/// Hands stored parts to delivery workers.
pub struct PartQueues(RwLock<HashMap<AccountId, Way>>);

/// The way to one delivery worker.
struct Way {
    sender: mpsc::UnboundedSender<QueuedOutbound>,
    /// How much is on it, and not yet among what the delivery worker knows to wait.
    underway: Arc<AtomicUsize>,
}

/// What one delivery worker gets. The rows are stored: this holds no more than what is due anyway.
pub struct PartQueue {
    parts: mpsc::UnboundedReceiver<QueuedOutbound>,
    underway: Arc<AtomicUsize>,
    /// What was given out last: whoever asks for more has taken it in.
    given: usize,
}

impl PartQueue {
    /// Waits for the next parts; may be given up at any time.
    pub async fn recv(&mut self) -> Option<QueuedOutbound> {
        self.taken_in();
        let queued = self.parts.recv().await;
        self.given += usize::from(queued.is_some());
        queued
    }

    /// Returns the next parts if they are there.
    pub fn next_part(&mut self) -> Option<QueuedOutbound> {
        self.taken_in();
        let queued = self.parts.try_recv().ok();
        self.given += usize::from(queued.is_some());
        queued
    }

    fn taken_in(&mut self) {
        let given = std::mem::take(&mut self.given);
        self.underway.fetch_sub(given, Ordering::SeqCst);
    }
}

fn way() -> (Way, PartQueue) {
    let (sender, parts) = mpsc::unbounded_channel();
    let underway = Arc::<AtomicUsize>::default();
    let queue = PartQueue { parts, underway: Arc::clone(&underway), given: 0 };
    (Way { sender, underway }, queue)
}

impl PartQueues {
    /// Opens a queue for each account.
    pub fn for_accounts(
        accounts: impl Iterator<Item = AccountId>,
    ) -> (Self, HashMap<AccountId, PartQueue>) {
        let mut ways = HashMap::new();
        let mut boxes = HashMap::new();
        for account in accounts {
            let (way, queue) = way();
            ways.insert(account.clone(), way);
            boxes.insert(account, queue);
        }
        (Self(RwLock::new(ways)), boxes)
    }

    /// Opens a queue for an account; from now on nothing more comes to the one before.
    pub fn open(&self, account: AccountId) -> PartQueue {
        let (way, queue) = way();
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(account, way);
        queue
    }

    /// Closes the queue of an account: its parts stay in the ledger.
    pub fn close(&self, account: &AccountId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(account);
    }

    /// Whether something is on its way to the delivery worker of an account.
    pub fn has_underway(&self, account: &AccountId) -> bool {
        let ways = self.0.read().unwrap_or_else(PoisonError::into_inner);
        ways.get(account).is_some_and(|way| way.underway.load(Ordering::SeqCst) > 0)
    }

    /// Hands parts over. Parts of an account without a delivery worker stay in the ledger.
    pub fn send(&self, queued: QueuedOutbound) {
        let Some(first) = queued.parts.first() else { return };
        let account = first.part.conversation.account().clone();
        match self.0.read().unwrap_or_else(PoisonError::into_inner).get(&account) {
            // A delivery worker that has ended does so with the daemon; the rows are due at the next start.
            Some(way) => {
                way.underway.fetch_add(1, Ordering::SeqCst);
                drop(way.sender.send(queued));
            }
            None => tracing::warn!(%account, "no channel carries this account: its parts wait"),
        }
    }
}
