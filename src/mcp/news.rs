//! What a server tells unasked: how far a call is, for whoever waits for it, and that its list has changed.

use std::sync::Arc;
use std::time::Duration;

use selkie_tools::ports::Progress;
use serde::Deserialize;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::text::short;

/// The rest between two lines about one call, and the characters of a line.
const REST: Duration = Duration::from_millis(500);
const MAX_LINE: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgressNews {
    pub(crate) progress_token: u64,
    #[serde(default)]
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

/// Passes on how far one call is.
pub(crate) struct ProgressTeller {
    progress: Arc<dyn Progress>,
    told: Option<Instant>,
}

/// Wakes whoever wants to know that the list has changed.
pub(crate) type ListBell = Arc<Notify>;

impl ProgressTeller {
    pub(crate) fn new(progress: &Arc<dyn Progress>) -> Self {
        Self { progress: Arc::clone(progress), told: None }
    }

    /// Tells it, unless something was told a moment ago.
    pub(crate) fn tell(&mut self, news: &ProgressNews) {
        let message = news.message.as_deref().map(|message| short(message, MAX_LINE));
        let share = news.total.map(|total| news.progress / total).filter(|share| share.is_finite());
        let share = share.map(|share| format!("{:.0} %", share.clamp(0.0, 1.0) * 100.0));
        let parts: Vec<String> =
            message.into_iter().chain(share).filter(|it| !it.is_empty()).collect();
        if !parts.is_empty() && self.told.is_none_or(|told| told.elapsed() >= REST) {
            self.told = Some(Instant::now());
            self.progress.doing(&parts.join(", "));
        }
    }
}
