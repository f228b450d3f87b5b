//! What is posted in public: the verbs of [`Posts`].

use async_trait::async_trait;

use super::outbox;
use super::posts::{self, Again};
use super::schedules;
use crate::error::Result;
use crate::post::{OnceMore, PostNotice, PostRow, PostedAgain, Posts, ToldPost};
use crate::sql::{Plan, SqlLedger};
use selkie_domain::ids::{OutboundId, ScheduleId};

#[async_trait]
impl Posts for SqlLedger {
    async fn posts(&self, limit: usize) -> Result<Vec<PostRow>> {
        self.read(move |tx| posts::list(tx, limit)).await
    }

    async fn post_of(&self, outbound: OutboundId) -> Result<Option<PostRow>> {
        self.read(move |tx| posts::by_id(tx, outbound)).await
    }

    async fn untold_posts(&self) -> Result<Vec<OutboundId>> {
        let found = self.read(posts::untold).await?;
        Ok(found.into_iter().map(OutboundId).collect())
    }

    async fn post_files(&self) -> Result<Vec<String>> {
        self.read(posts::files).await
    }

    async fn tell_post(
        &self,
        outbound: OutboundId,
        telling: PostNotice,
    ) -> Result<Option<ToldPost>> {
        let PostNotice { draft, pause } = telling;
        let now = self.now();
        let draft = draft.map(outbox::DraftText::new).transpose()?;
        let bytes = draft.as_ref().map_or(0, outbox::DraftText::bytes);
        let plan = Plan::DURABLE.bytes(bytes).after(&outbound.0);
        self.write(plan, move |tx| posts::tell(tx, outbound, draft.as_ref(), pause.as_deref(), now))
            .await
    }

    async fn post_again(&self, outbound: OutboundId, once_more: OnceMore) -> Result<PostedAgain> {
        let again = Again::new(once_more)?;
        let now = self.now();
        let plan = Plan::DURABLE.bytes(again.bytes()).after(&outbound.0);
        self.write(plan, move |tx| posts::again(tx, outbound, &again, now)).await
    }

    async fn post_on_its_way(&self, of: ScheduleId) -> Result<Option<OutboundId>> {
        self.read(move |tx| schedules::on_its_way(tx, of)).await
    }

    async fn withdraw_post(&self, outbound: OutboundId) -> Result<bool> {
        let now = self.now();
        let plan = Plan::DURABLE.after(&outbound.0);
        self.write(plan, move |tx| posts::withdraw(tx, outbound, now)).await
    }
}
