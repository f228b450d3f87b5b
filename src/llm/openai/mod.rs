//! The chat completions API, as OpenAI and every compatible server speak it.

mod own;
mod reply;
mod request;

use std::sync::Mutex;

use async_trait::async_trait;
use selkie_channel_core::locked;

use self::reply::Gathered;
use self::request::Habits;
use crate::llm::gather::gather;
use crate::llm::profile::{Profile, too_late};
use crate::llm::refusal::Refused;
use crate::llm::wire::Wire;
use crate::llm::{Card, Failed, Model, OnText, Reply, Request};

/// What is fixed about a profile of this provider.
pub(super) struct OpenAi {
    wire: Wire,
    profile: Profile,
    habits: Mutex<Habits>,
}

impl OpenAi {
    /// Speaks to the server behind `wire`. `native`: it is OpenAI's own.
    pub fn new(wire: Wire, profile: Profile, native: bool) -> Self {
        let habits = Mutex::new(Habits::new(profile.stream, native));
        let profile = profile.asks_at(&wire.url);
        Self { wire, profile, habits }
    }

    /// Asks, giving up one habit after another that the server refuses, and remembers which.
    async fn ask_adapting(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, Refused> {
        loop {
            let habits = *locked(&self.habits);
            let refused = match self.ask_once(request, habits, heard).await {
                Ok(reply) => return Ok(reply),
                Err(refused) => refused,
            };
            let fewer = habits.without(&refused);
            // What is said of pictures is about those in this request.
            let fewer = fewer
                .filter(|fewer| fewer.pictures == habits.pictures || !request.pictures.is_empty());
            let Some(fewer) = fewer else { return Err(refused) };
            tracing::info!(
                profile = self.profile.name,
                "the model server refuses a part of our request ({}): asking without it from now on",
                refused.says
            );
            *locked(&self.habits) = fewer;
        }
    }

    async fn ask_once(
        &self,
        request: &Request,
        habits: Habits,
        heard: &OnText<'_>,
    ) -> Result<Reply, Refused> {
        let most = self.profile.most(request);
        let body = request::body(&self.profile, request, habits, most)
            .map_err(|e| self.wire.refused(400, None, &format!("the tools are not JSON: {e}")))?;
        gather::<Gathered>(&self.wire, &body, &self.profile, request.may_end, heard).await
    }
}

#[async_trait]
impl Model for OpenAi {
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, Failed> {
        let most = self.profile.most(request);
        match tokio::time::timeout(request.deadline, self.ask_adapting(request, heard)).await {
            Ok(asked) => asked.map_err(|refused| refused.class(&self.profile, most)),
            Err(_) => Err(too_late(request.deadline)),
        }
    }

    fn card(&self) -> Card {
        self.profile.card.clone()
    }
}
