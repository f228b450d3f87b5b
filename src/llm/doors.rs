//! A profile as a model: by one API, or by two, of which the server says itself which it wants.

use std::pin::pin;
use std::sync::OnceLock;

use async_trait::async_trait;
use tokio::time::timeout;

use crate::adapter::Door;
use crate::context_window::Window;
use crate::profile::{Profile, too_late};
use crate::refusal::ProviderRefusal;
use crate::{AskError, Card, Learnt, Model, OnText, Reply, Request};

/// One profile.
pub(super) struct Doors {
    first: Box<dyn Door>,
    other: Option<Box<dyn Door>>,
    /// The server has said which: the other one?
    settled: OnceLock<bool>,
    window: Window,
}

impl Doors {
    /// Asks by `first`. When the server leads elsewhere, asks by `other` from then on, if that is there.
    pub fn new(first: Box<dyn Door>, other: Option<Box<dyn Door>>, window: Window) -> Self {
        Self { first, other, settled: OnceLock::new(), window }
    }

    fn profile(&self) -> &Profile {
        self.first.profile()
    }

    async fn ask_either(
        &self,
        request: &Request,
        heard: &OnText<'_>,
    ) -> Result<Reply, ProviderRefusal> {
        let first = &*self.first;
        let Some(other) = self.other.as_deref() else {
            return first.ask(request, false, heard).await;
        };
        match self.settled.get() {
            Some(true) => return other.ask(request, false, heard).await,
            Some(false) => return first.ask(request, false, heard).await,
            None => {}
        }
        let refused = match first.ask(request, true, heard).await {
            Err(refused) if first.leads_elsewhere(&refused) => refused,
            done => return done,
        };
        match other.ask(request, false, heard).await {
            Err(missing) if missing.is_nowhere() && refused.is_nowhere() => Err(refused),
            Err(missing) if missing.is_nowhere() => {
                self.settle(false, &refused);
                first.ask(request, false, heard).await
            }
            done => {
                self.settle(true, &refused);
                done
            }
        }
    }

    fn settle(&self, is_other: bool, refused: &ProviderRefusal) {
        let taken = if is_other { self.other.as_ref() } else { None };
        let path = taken.unwrap_or(&self.first).path();
        if self.settled.set(is_other).is_ok() {
            let profile = &self.profile().name;
            let message = &refused.message;
            tracing::info!(
                profile,
                "the model server answers such requests elsewhere ({message}): asking at {path} from now on"
            );
        }
    }
}

#[async_trait]
impl Model for Doors {
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, AskError> {
        let most = self.profile().most(request);
        let mut asking = pin!(timeout(request.deadline, self.ask_either(request, heard)));
        // No answer waits for what its server says of itself.
        let asked = tokio::select! {
            asked = &mut asking => asked,
            () = self.window.ask_again() => asking.await,
        };
        let Ok(asked) = asked else { return Err(too_late(request.deadline)) };
        asked.map_err(|refused| {
            let failed = refused.class(self.profile(), most);
            self.window.heed(&failed.error);
            failed
        })
    }

    fn card(&self) -> Card {
        Card { context: self.window.now().tokens, ..self.profile().card.clone() }
    }

    fn learnt(&self) -> Learnt {
        let other = self.other.as_ref().filter(|_| self.settled.get() == Some(&true));
        let cut = self.first.cut().or_else(|| self.other.as_ref()?.cut());
        Learnt { led_to: other.map(|other| other.path()), cut, window: self.window.now() }
    }

    async fn ask_window(&self) {
        self.window.ask().await;
    }
}
