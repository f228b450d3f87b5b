//! What a server says unasked, and is of no call.

use std::sync::Arc;

use tokio::sync::Notify;

/// What a server says unasked.
#[derive(Clone, Default)]
pub(crate) struct News {
    /// Its list of tools has changed.
    pub(crate) list_changed: Arc<Notify>,
}

impl News {
    /// Takes a notice that is of no call.
    pub(crate) fn take(&self, method: &str) {
        match method {
            "notifications/tools/list_changed" => self.list_changed.notify_one(),
            other => tracing::trace!(other, "an MCP server tells what nobody wants to know"),
        }
    }
}
