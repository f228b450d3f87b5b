//! What is remembered, beside the messages: followed, embedded, and added to by what rests.

use std::sync::Arc;

use selkie_channel_core::locked;
use tokio_util::task::TaskTracker;

use super::Flow;
use crate::work::embedding::embed_lines;

impl Flow {
    /// Follows the files, and does what nobody waits for.
    pub(super) fn start_memory(&self, tracker: &TaskTracker) {
        let memory = Arc::clone(&self.memory);
        tracker.spawn(async move { memory.follow().await });
        if let Some(summaries) = locked(&self.summaries).take() {
            tracker.spawn(summaries.run());
        }
        if let Some(vectors) = self.memory.vectors() {
            tracker.spawn(embed_lines(Arc::clone(vectors), Arc::clone(&self.context.runtime)));
        }
    }
}
