//! The bot's own user id, as LINE tells it to the access token.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How long the first webhooks wait for LINE to tell it.
const TIMEOUT: Duration = Duration::from_millis(500);

/// The bot's own user id. Clones share it.
#[derive(Clone, Debug)]
pub struct OwnId(watch::Sender<OwnIds>);

/// What LINE has told.
#[derive(Clone, Debug, Default)]
struct OwnIds {
    id: Option<String>,
    /// LINE was asked, with or without success.
    is_asked: bool,
}

impl Default for OwnId {
    fn default() -> Self {
        Self(watch::Sender::new(OwnIds::default()))
    }
}

impl OwnId {
    /// Notes it.
    pub fn learn(&self, id: &str) {
        self.0.send_replace(OwnIds { id: Some(id.to_owned()), is_asked: true });
    }

    /// Notes that LINE was asked in vain; what it told before still holds.
    pub fn miss(&self) {
        self.0.send_modify(|told| told.is_asked = true);
    }

    /// Returns it, waiting a little for the first answer; `None` when LINE has not told it.
    pub async fn get(&self) -> Option<String> {
        let mut told = self.0.subscribe();
        // Whoever stops waiting goes on without.
        timeout(TIMEOUT, told.wait_for(|told| told.is_asked)).await.ok();
        let told = told.borrow();
        told.id.clone()
    }
}
