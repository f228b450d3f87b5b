//! The conversations that there are, for tools that are called by hand.

use std::sync::Arc;

use crate::flow::Flow;
use selkie_tools::ports::Sessions;

impl Flow {
    /// Returns what tools know of conversations.
    pub fn sessions(&self) -> Arc<dyn Sessions> {
        Arc::clone(&self.intake.commands.sessions) as _
    }
}
