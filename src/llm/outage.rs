//! Whether the model is away: noticed where it is asked, told by whoever asks here.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::locked;

use crate::{AskError, Card, Model, ModelError, OnText, Reason, Reply, Request};
use selkie_domain::clock::SharedClock;

/// The model is away, as far as is known; all clones tell the same.
#[derive(Clone, Debug, Default)]
pub struct Outage(Arc<Mutex<Option<Away>>>);

/// Since when, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Away {
    /// When it did not answer first.
    pub since: DateTime<Utc>,
    /// In words for an owner; holds no secret.
    pub why: String,
}

impl Outage {
    /// Tells whether it is away.
    pub fn now(&self) -> Option<Away> {
        locked(&self.0).clone()
    }

    fn there(&self, why: &str, now: DateTime<Utc>) {
        let away = || Away { since: now, why: why.to_owned() };
        locked(&self.0).get_or_insert_with(away);
    }

    fn over(&self) {
        locked(&self.0).take();
    }
}

/// A model whose outages are noticed: of all that it is asked with, after all tries.
pub struct WatchedModel {
    /// Who is asked.
    pub inner: Arc<dyn Model>,
    /// Where it is noted.
    pub outage: Outage,
    /// The time.
    pub clock: SharedClock,
}

#[async_trait]
impl Model for WatchedModel {
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, AskError> {
        let asked = self.inner.ask(request, heard).await;
        match &asked {
            // It answers, if with more than is taken.
            Ok(_)
            | Err(AskError {
                error: ModelError::Transient { reason: Reason::TooMuch, .. }, ..
            }) => self.outage.over(),
            Err(AskError {
                error: ModelError::Transient { why, .. } | ModelError::Unusable { why, .. },
                ..
            }) => self.outage.there(why, self.clock.now()),
            // It answers, and takes this request not.
            Err(_) => {}
        }
        asked
    }

    fn card(&self) -> Card {
        self.inner.card()
    }

    fn inner(&self) -> Option<&dyn Model> {
        Some(&*self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scripted::{Scripted, rejected, request, transient, unusable};
    use selkie_domain::clock::ManualClock;

    #[tokio::test]
    async fn what_helps_nobody_is_an_outage_until_something_is_answered() {
        let reason = Reason::TooMuch;
        let why = "an answer with more than 128 calls".to_owned();
        let much = ModelError::Transient { why, reason, retry_after: None };
        let errors = vec![much, rejected("no"), transient("busy", None), unusable("the key")];
        let inner = Arc::new(Scripted::failing(errors));
        let outage = Outage::default();
        let clock = Arc::new(ManualClock::at(DateTime::UNIX_EPOCH));
        let model = WatchedModel { inner, outage: outage.clone(), clock };
        for why in [None, None, Some("busy"), Some("busy")] {
            assert!(model.ask(&request(9), &|_| {}).await.is_err());
            assert_eq!(outage.now().map(|away| away.why).as_deref(), why, "the first is told");
        }
        assert!(model.ask(&request(9), &|_| {}).await.is_ok());
        assert_eq!(outage.now(), None);
    }
}
