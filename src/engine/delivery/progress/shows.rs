//! What a task shows of itself while it works.

use std::sync::Arc;

use super::TaskProgress;
use crate::delivery::streamed::StreamedAnswer;
use selkie_domain::plan::Plan;
use selkie_domain::written::TextProgress;
use selkie_tools::ports::Progress;

/// What a task shows of itself: how far it is, and its answer while it is written.
pub struct Shows {
    pub(crate) progress: Arc<TaskProgress>,
    pub(crate) answer: Arc<StreamedAnswer>,
}

impl Progress for Shows {
    fn plan(&self, plan: &Plan) {
        self.progress.plan(plan);
    }

    fn doing(&self, line: &str) {
        self.progress.doing(line);
    }

    fn tool(&self, words: Option<&str>) {
        self.progress.tool(words);
    }

    fn waiting(&self, waits: bool) {
        self.progress.waiting(waits);
    }

    fn wrote(&self, written: TextProgress<'_>) {
        self.answer.wrote(written);
    }
}
