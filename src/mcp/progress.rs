//! What a server tells of how far a call is → one line for whoever waits, not too often.

use std::sync::Arc;
use std::time::Duration;

use selkie_tools::ports::Progress;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::text::short;

/// The rest between two lines.
const REST: Duration = Duration::from_millis(500);
/// Characters of a line.
const MAX_LINE: usize = 200;
/// Bytes of news that are looked at.
const MAX_NEWS: usize = 16 * 1024;

/// Passes on what is told of one call.
pub(crate) struct ProgressTeller {
    progress: Arc<dyn Progress>,
    told: Option<Instant>,
}

/// News of a call.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgressNews {
    /// The call's.
    pub(crate) progress_token: u64,
    #[serde(default)]
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl ProgressNews {
    /// Reads them; `None` for what is of no call of ours.
    pub(crate) fn read(params: Option<&RawValue>) -> Option<Self> {
        let params = params.filter(|params| params.get().len() <= MAX_NEWS)?;
        serde_json::from_str(params.get()).ok()
    }

    fn line(&self) -> String {
        let share = self.total.filter(|total| *total > 0.0).map(|total| self.progress / total);
        let share = share.map(|share| format!("{:.0} %", share.clamp(0.0, 1.0) * 100.0));
        let message = self.message.as_deref().map(|message| short(message, MAX_LINE));
        match (message.filter(|message| !message.is_empty()), share) {
            (Some(message), Some(share)) => format!("{message} ({share})"),
            (Some(message), None) => message,
            (None, Some(share)) => share,
            (None, None) => String::new(),
        }
    }
}

impl ProgressTeller {
    /// Tells it there.
    pub(crate) fn new(progress: &Arc<dyn Progress>) -> Self {
        Self { progress: Arc::clone(progress), told: None }
    }

    /// Tells it, unless something was told a moment ago.
    pub(crate) fn tell(&mut self, news: &ProgressNews) {
        if self.told.is_some_and(|told| told.elapsed() < REST) {
            return;
        }
        let line = news.line();
        if !line.is_empty() {
            self.told = Some(Instant::now());
            self.progress.doing(&line);
        }
    }
}
