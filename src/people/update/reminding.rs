//! Items with a time become reminders: what the list asks of whoever keeps them.

use async_trait::async_trait;
use tokio::sync::OwnedMutexGuard;

use crate::todo::Entry;
use selkie_tools::ports::TodoAsker;

/// Keeps reminders of items.
#[async_trait]
pub trait ReminderStore: Send + Sync {
    /// Holds off whoever follows the file: an item and its reminder change together.
    async fn hold(&self) -> OwnedMutexGuard<()>;

    /// Has an item said at its time, where it belongs; returns what to tell of it, nothing of an item without a time.
    async fn put(&self, by: &TodoAsker, entry: &Entry) -> Option<String>;

    /// Withdraws the reminders of items that are done or gone.
    async fn take(&self, entries: &[Entry]);
}
