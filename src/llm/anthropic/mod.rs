//! Anthropic's Messages API.

mod reply;
mod request;

use async_trait::async_trait;

use self::reply::Gathered;
use crate::llm::profile::{Profile, too_late};
use crate::llm::refusal::Refused;
use crate::llm::wire::{Answered, Events, Wire};
use crate::llm::{Card, Heard, Model, ModelError, Reply, Request};

/// A profile of this provider.
pub(super) struct Anthropic {
    wire: Wire,
    profile: Profile,
}

impl Anthropic {
    /// Speaks to the server behind `wire`, whose headers carry key and version.
    pub fn new(wire: Wire, profile: Profile) -> Self {
        Self { wire, profile }
    }

    async fn ask_once(&self, request: &Request, heard: &Heard<'_>) -> Result<Reply, Refused> {
        let body = request::body(&self.profile, request)
            .map_err(|e| self.wire.refused(400, None, &format!("the tools are no JSON: {e}")))?;
        let mut gathered = Gathered::default();
        match self.wire.post(&body).await? {
            Answered::Whole(answer) => {
                if reply::has_error(&answer) {
                    return Err(self.wire.refused_inside(&answer));
                }
                gathered.take_whole(&answer, heard);
            }
            Answered::Events(events) => self.listen(events, &mut gathered, heard).await?,
        }
        let by = format!("{}/{}", self.profile.name, self.profile.model);
        gathered.finish(by).map_err(|(status, why)| self.wire.refused(status, None, &why))
    }

    async fn listen(
        &self,
        mut events: Events,
        gathered: &mut Gathered,
        heard: &Heard<'_>,
    ) -> Result<(), Refused> {
        while let Some(event) = events.next().await.map_err(|e| self.wire.refused(0, None, &e))? {
            let Ok(said) = serde_json::from_str(&event.data) else { continue };
            if reply::has_error(&said) {
                return Err(self.wire.refused_inside(&said));
            }
            gathered.take_event(&said, heard);
            if gathered.ended() {
                events.drain().await;
                return Ok(());
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Model for Anthropic {
    async fn ask(&self, request: &Request, heard: &Heard<'_>) -> Result<Reply, ModelError> {
        match tokio::time::timeout(request.deadline, self.ask_once(request, heard)).await {
            Ok(asked) => asked.map_err(|refused| refused.class(&self.profile.name)),
            Err(_) => Err(too_late(request.deadline)),
        }
    }

    fn card(&self) -> Card {
        self.profile.card.clone()
    }
}
