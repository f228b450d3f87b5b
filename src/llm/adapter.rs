//! One API at one address: writes requests in its form, and learns what the server takes of them.

use std::marker::PhantomData;
use std::sync::Mutex;

use async_trait::async_trait;
use selkie_channel_core::locked;
use serde::Serialize;

use crate::cut_prompt::CutPrompts;
use crate::gather::{Gather, gather};
use crate::habits::{Habits, Part};
use crate::profile::Profile;
use crate::refusal::ProviderRefusal;
use crate::wire::Wire;
use crate::{CutPrompt, OnText, Reply, Request};
use selkie_domain::effort::Effort;

/// One API: how requests are written and answers are read.
pub(super) trait Dialect: Send + Sync + 'static {
    /// A request.
    type Body<'a>: Serialize + Send + Sync;
    /// An answer.
    type ReplyReader: Gather + Send;
    /// The end of its address: `/responses`.
    const PATH: &'static str;

    /// Writes a request.
    ///
    /// # Errors
    /// When a tool's schema cannot be written.
    fn body<'a>(
        profile: &'a Profile,
        request: &'a Request,
        habits: Habits,
    ) -> serde_json::Result<Self::Body<'a>>;

    /// The unfinished feature that a request asks for, as a header names it.
    fn beta(_: Habits) -> Option<&'static str> {
        None
    }

    /// Whether the server says that such requests are to be asked at another address of its.
    fn leads_elsewhere(_: &ProviderRefusal) -> bool {
        false
    }
}

/// A way to ask a model.
#[async_trait]
pub(super) trait Door: Send + Sync {
    /// Asks, and again without what the server refuses; what that was is remembered. `may_lead`: a refusal that leads
    /// elsewhere is one at once.
    async fn ask(
        &self,
        request: &Request,
        may_lead: bool,
        heard: &OnText<'_>,
    ) -> Result<Reply, ProviderRefusal>;

    /// The profile it serves.
    fn profile(&self) -> &Profile;

    /// The end of its address.
    fn path(&self) -> &'static str;

    /// The first prompt that its server has cut.
    fn cut(&self) -> Option<CutPrompt>;

    /// See [`Dialect::leads_elsewhere`].
    fn leads_elsewhere(&self, refused: &ProviderRefusal) -> bool;
}

/// A profile by one API.
pub(super) struct Adapter<D> {
    wire: Wire,
    profile: Profile,
    habits: Mutex<Habits>,
    cut: CutPrompts,
    dialect: PhantomData<D>,
}

impl<D: Dialect> Adapter<D> {
    /// Speaks to the server behind `wire`, whose headers carry key and version.
    pub fn new(wire: Wire, profile: Profile, habits: Habits) -> Self {
        let profile = profile.asks_at(&wire.url);
        let habits = Mutex::new(habits);
        Self { wire, profile, habits, cut: CutPrompts::default(), dialect: PhantomData }
    }

    async fn once(
        &self,
        request: &Request,
        habits: Habits,
        heard: &OnText<'_>,
    ) -> Result<Reply, ProviderRefusal> {
        let body = D::body(&self.profile, request, habits)
            .map_err(|e| self.wire.refused(400, None, &format!("the tools are not JSON: {e}")))?;
        let beta = D::beta(habits).map(|beta| self.wire.with_beta(beta));
        let wire = beta.as_ref().unwrap_or(&self.wire);
        gather::<D::ReplyReader>(wire, &body, &self.profile, request.may_end, heard).await
    }

    /// How to ask from now on, if `refused` is about that, or if another request has learnt something meanwhile.
    fn learn(
        &self,
        request: &Request,
        habits: Habits,
        refused: &ProviderRefusal,
    ) -> Option<Habits> {
        let mut known = locked(&self.habits);
        if *known != habits {
            return Some(*known);
        }
        let wanted = self.profile.effort(request);
        let has_tools = !request.tools.specs().is_empty();
        let sent = habits.effort(wanted, has_tools);
        let learnt = habits.without(refused, sent)?;
        // What is said of pictures is about those in this request.
        if habits.has(Part::Pictures) != learnt.has(Part::Pictures) && request.pictures.is_empty() {
            return None;
        }
        let next = learnt.effort(wanted, has_tools);
        let profile = &self.profile.name;
        let message = &refused.message;
        let shown = |effort: Option<Effort>| effort.map_or("unset", Effort::as_str);
        if sent == next {
            tracing::info!(
                profile,
                "the model server refuses a part of our request ({message}): asking without it from now on"
            );
        } else {
            tracing::info!(
                profile,
                refused = shown(sent),
                effort = shown(next),
                "the model server refuses an effort ({message}): asking with the nearest that it takes from now on"
            );
        }
        *known = learnt;
        Some(learnt)
    }
}

#[async_trait]
impl<D: Dialect> Door for Adapter<D> {
    async fn ask(
        &self,
        request: &Request,
        may_lead: bool,
        heard: &OnText<'_>,
    ) -> Result<Reply, ProviderRefusal> {
        let mut habits = *locked(&self.habits);
        loop {
            let refused = match self.once(request, habits, heard).await {
                Ok(reply) => {
                    self.cut.check(&self.profile.name, request, reply.usage);
                    return Ok(reply);
                }
                Err(refused) if may_lead && D::leads_elsewhere(&refused) => return Err(refused),
                Err(refused) => refused,
            };
            let Some(learnt) = self.learn(request, habits, &refused) else { return Err(refused) };
            habits = learnt;
        }
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn path(&self) -> &'static str {
        D::PATH
    }

    fn cut(&self) -> Option<CutPrompt> {
        self.cut.first()
    }

    fn leads_elsewhere(&self, refused: &ProviderRefusal) -> bool {
        D::leads_elsewhere(refused)
    }
}
