//! What this crate needs of the house.

/// Hears what servers say unasked.
pub trait ListWatcher: Send + Sync {
    /// A server says that its list of tools has changed: what is known of it may be out of date. Called at most once a
    /// second for each server, and not to be kept waiting.
    fn list_changed(&self, server: &str);
}

impl ListWatcher for () {
    fn list_changed(&self, _: &str) {}
}
