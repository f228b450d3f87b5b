//! Anthropic's Messages API.

mod reply;
mod request;

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;

use self::reply::Gathered;
use crate::llm::gather::gather;
use crate::llm::profile::{Profile, too_late};
use crate::llm::refusal::Refused;
use crate::llm::wire::Wire;
use crate::llm::{Card, Failed, Model, OnText, Reply, Request};

/// A profile of this provider.
pub(super) struct Anthropic {
    wire: Wire,
    profile: Profile,
    /// The server has not refused to stream.
    streams: AtomicBool,
}

impl Anthropic {
    /// Speaks to the server behind `wire`, whose headers carry key and version.
    pub fn new(wire: Wire, profile: Profile) -> Self {
        let streams = AtomicBool::new(profile.stream);
        let profile = profile.asks_at(&wire.url);
        Self { wire, profile, streams }
    }

    /// Asks; a server that refuses to stream is asked without from then on.
    async fn ask_adapting(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, Refused> {
        let streams = self.streams.load(Ordering::Relaxed);
        let refused = match self.ask_once(request, streams, heard).await {
            Err(refused) if streams && refused.names("stream") => refused,
            done => return done,
        };
        tracing::info!(
            profile = self.profile.name,
            "the model server refuses to stream ({}): asking without from now on",
            refused.says
        );
        self.streams.store(false, Ordering::Relaxed);
        self.ask_once(request, false, heard).await
    }

    async fn ask_once(
        &self,
        request: &Request,
        stream: bool,
        heard: &OnText<'_>,
    ) -> Result<Reply, Refused> {
        let body = request::body(&self.profile, request, stream)
            .map_err(|e| self.wire.refused(400, None, &format!("the tools are not JSON: {e}")))?;
        gather::<Gathered>(&self.wire, &body, &self.profile, request.may_end, heard).await
    }
}

#[async_trait]
impl Model for Anthropic {
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
