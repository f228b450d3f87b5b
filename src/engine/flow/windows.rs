//! The windows of the models that can be asked, and what was cut to them.

use std::sync::Arc;

use futures_util::future::join_all;

use super::Flow;

impl Flow {
    /// Has the servers of models asked how many tokens they read, where config does not say. Nothing waits for that.
    pub(super) fn ask_windows(&self) {
        let Some(runner) = &self.live.runner else { return };
        let profiles = Arc::clone(&runner.now().agent.profiles);
        let stop = self.context.runtime.stop.receivers.clone();
        self.context.runtime.tracker.spawn(async move {
            let asking = join_all(profiles.values().map(|model| model.ask_window()));
            stop.run_until_cancelled(asking).await;
        });
    }

    /// Says of each model whose server has cut a prompt what an owner does about it.
    pub fn cut_prompts(&self) -> Vec<String> {
        self.live.runner.as_ref().map(|runner| runner.now().cut_prompts()).unwrap_or_default()
    }
}
